//! The engine knows nothing of file formats, statistics and findings, and unsafe code is in few files.
//!
//! Imports are found in the text of the sources, as `crate::NAME`, without comments and unit tests.
//! The command is a package of its own, so the compiler confines it to the public interface.

use crate::command::{checkout, rust_files};
use std::path::Path;

/// Modules, and those that they do not use. Compiling and judging share the snapshot only.
const FORBIDDEN: [(&str, &str); 4] = [
    (
        "error named_value profile digest read_at time_span time_text atomic spool threads pipe file_format \
         decode bytes agent simd url robots crawlers matcher preferences explain snapshot records judge \
         file_pass filter_lists",
        "archive compile pipeline container lists parquet warc job analysis lint audit capi",
    ),
    (
        "archive compile",
        "judge file_pass pipeline container lists parquet warc job analysis lint audit capi",
    ),
    (
        "pipeline container lists parquet warc job",
        "compile analysis lint audit capi",
    ),
    ("analysis lint audit", "compile lists warc capi"),
];

/// The files with unsafe code: `docs/dev/DESIGN.md` says what each does.
const UNSAFE: [&str; 6] = [
    "cli/src/main.rs",
    "cli/src/signals.rs",
    "src/atomic/output_path.rs",
    "src/capi/",
    "src/simd/",
    "src/snapshot/map.rs",
];

/// The code of a file, without comments and unit tests.
fn code_of(file: &Path) -> String {
    let text = std::fs::read_to_string(file).unwrap();
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    code.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| [line, "\n"])
        .collect()
}

/// The modules that code imports.
fn imports(code: &str) -> impl Iterator<Item = &str> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    code.split("crate::")
        .skip(1)
        .map(move |rest| rest.split(|c| !is_word(c)).next().unwrap())
}

#[test]
fn the_engine_imports_no_file_format_and_no_product() {
    let mut seen = 0;
    for (modules, forbidden) in FORBIDDEN {
        for module in modules.split_whitespace() {
            let folder = checkout().join("src").join(module);
            let file = folder.with_extension("rs");
            let files = if file.exists() {
                vec![file]
            } else {
                rust_files(&folder)
            };
            assert!(!files.is_empty(), "there is no module {module}");
            for file in files {
                for used in imports(&code_of(&file)).map(str::to_owned) {
                    seen += 1;
                    assert!(
                        !forbidden.split_whitespace().any(|name| name == used),
                        "{} may not use {used}",
                        file.display()
                    );
                }
            }
        }
    }
    assert!(seen > 500, "the test sees only {seen} imports");
}

#[test]
fn unsafe_code_is_confined() {
    let root = checkout();
    let folders = [root.join("src"), root.join("cli/src")];
    for file in folders.iter().flat_map(|folder| rust_files(folder)) {
        let name = file.strip_prefix(root).unwrap().display().to_string();
        let is_listed = UNSAFE.iter().any(|listed| name.starts_with(listed));
        assert!(
            is_listed || !std::fs::read_to_string(&file).unwrap().contains("unsafe {"),
            "{name} has unsafe code"
        );
    }
}
