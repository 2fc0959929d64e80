//! Imports go one way: the table of who may use whom, held against the sources.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Each module and the modules it may use; every one stands on those above it. What compiles never uses what
/// filters, and the other way round: they meet in the snapshot.
///
/// Within the library a module is named in full (`crate::error::Error`), not by what `lib.rs` shows to users.
const LAYERS: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("profile", &[]),
    ("atomic", &["error"]),
    ("output", &["error", "atomic"]),
    ("decode", &["error"]),
    ("agent", &["error"]),
    ("known", &["error", "agent"]),
    ("words", &[]),
    ("simd", &["words"]),
    ("url", &["profile", "agent", "simd"]),
    ("robots", &["profile", "agent", "simd", "words", "url"]),
    ("preferences", &["profile", "agent", "url", "robots"]),
    ("snapshot", &["error", "profile", "agent", "simd", "words", "url", "robots"]),
    ("source", &["error", "decode", "agent", "url", "robots", "snapshot"]),
    ("compile", &["error", "profile", "atomic", "decode", "url", "robots", "snapshot", "source"]),
    ("matcher", &["error", "profile", "agent", "simd", "words", "url", "robots", "snapshot"]),
    ("census", &["error", "profile", "agent", "robots", "snapshot", "matcher"]),
    ("diff", &["error", "profile", "agent", "robots", "snapshot", "matcher", "census"]),
    ("records", &["error", "agent"]),
    (
        "filter",
        &[
            "error",
            "profile",
            "atomic",
            "decode",
            "agent",
            "simd",
            "url",
            "robots",
            "preferences",
            "snapshot",
            "matcher",
            "records",
        ],
    ),
    ("report", &["error", "profile", "robots", "snapshot", "matcher", "records", "filter"]),
    ("synthetic", &[]),
];

fn rust_files(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// The names that follow `crate::` in the code of a file, comments and documentation left out.
fn crate_names(text: &str) -> BTreeSet<&str> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let after = code.flat_map(|line| line.split("crate::").skip(1));
    after.map(|rest| &rest[..rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len())]).collect()
}

#[test]
fn imports_go_one_way() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    for file in rust_files(&src) {
        let name = file.strip_prefix(&src).unwrap().with_extension("").display().to_string();
        let module = name.split('/').next().unwrap();
        if matches!(module, "lib" | "main") {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        if module == "cli" {
            // The binary stands on the library's public interface alone; `crate::` there would be the binary itself.
            wrong.extend(crate_names(&text).into_iter().map(|used| format!("{name} uses crate::{used}")));
            continue;
        }
        let row = LAYERS.iter().find(|(layer, _)| *layer == module);
        let (_, allowed) = row.unwrap_or_else(|| panic!("{name}: its module has no row in the table"));
        for used in crate_names(&text) {
            if used != module && !allowed.contains(&used) {
                wrong.push(format!("{name} uses {used}"));
            }
        }
    }
    assert!(wrong.is_empty(), "against the table of layers:\n{}", wrong.join("\n"));
}

#[test]
fn the_table_has_no_circle() {
    for (place, (module, allowed)) in LAYERS.iter().enumerate() {
        for used in *allowed {
            let below = LAYERS.iter().position(|(layer, _)| layer == used);
            assert!(below.is_some_and(|below| below < place), "{module} may use {used}, which does not stand above it");
        }
    }
}

#[test]
fn unsafe_code_stays_where_it_is_fenced() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let fenced: Vec<String> = rust_files(&src)
        .into_iter()
        .filter(|file| std::fs::read_to_string(file).unwrap().contains("unsafe {"))
        .map(|file| file.strip_prefix(&src).unwrap().display().to_string())
        .collect();
    assert_eq!(fenced, ["simd/avx2.rs", "simd/mod.rs", "snapshot/map.rs"]);
}
