//! Imports go one way: the table of who may use whom, held against the sources.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Each module and the modules it may use; every one stands on those above it. What compiles never uses what
/// filters, and the other way round: they meet in the snapshot.
///
/// Within the library a module is named in full (`crate::error::Error`), not by what `lib.rs` shows to users.
const LAYERS: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("profile", &[]),
    ("threads", &["error"]),
    ("file_format", &[]),
    ("atomic", &["error"]),
    ("decode", &["error", "file_format"]),
    ("bytes", &["error"]),
    ("agent", &["error", "bytes"]),
    ("crawlers", &["error", "agent"]),
    ("simd", &["bytes"]),
    ("url", &["profile", "bytes", "simd"]),
    ("robots", &["profile", "file_format", "bytes", "agent", "url"]),
    ("matcher", &["error", "profile", "bytes", "simd", "robots"]),
    ("preferences", &["profile", "bytes", "agent", "url", "robots", "matcher"]),
    ("snapshot", &["error", "profile", "file_format", "agent", "bytes", "simd", "url", "robots", "matcher"]),
    ("archive", &["error", "file_format", "bytes", "decode", "url", "robots"]),
    (
        "compile",
        &["error", "profile", "threads", "atomic", "decode", "url", "robots", "matcher", "snapshot", "archive"],
    ),
    ("records", &["error", "file_format", "bytes"]),
    ("judge", &["error", "profile", "agent", "simd", "url", "robots", "preferences", "snapshot", "matcher", "records"]),
    ("pipeline", &["error", "threads", "file_format", "decode", "judge", "records"]),
    ("filter", &["error", "file_format", "agent", "preferences", "judge", "records", "pipeline"]),
    ("parquet", &["error", "threads", "file_format", "atomic", "agent", "judge", "records", "pipeline", "filter"]),
    (
        "analysis",
        &[
            "error", "profile", "agent", "crawlers", "simd", "robots", "matcher", "snapshot", "judge", "records",
            "pipeline", "filter", "parquet",
        ],
    ),
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

/// The names that follow `way` in code: one, or those of a list in braces.
fn names_after<'c>(code: &'c str, way: &'c str) -> impl Iterator<Item = &'c str> {
    let word = |text: &'c str| text.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap();
    let places = code.match_indices(way).filter(|(at, _)| !code[..*at].ends_with("super::"));
    let rests = places.map(move |(at, _)| &code[at + way.len()..]);
    rests.flat_map(move |rest| {
        let list = rest.strip_prefix('{').map_or_else(|| word(rest), |list| list.split('}').next().unwrap());
        list.split(',').map(move |name| word(name.trim()))
    })
}

/// The files and folders of a module, and of each the others that its code names, tests left out. What the module's own file says does not
/// count: it puts them together, and holds what all of them share.
fn siblings(module: &Path, src: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let path = module.strip_prefix(src).unwrap().display().to_string().replace('/', "::");
    let mut named = BTreeMap::<String, BTreeSet<String>>::new();
    for file in rust_files(module).into_iter().filter(|file| *file != module.join("mod.rs")) {
        let inside = file.strip_prefix(module).unwrap().with_extension("").display().to_string();
        let steps: Vec<&str> = inside.split('/').collect();
        let up = "super::".repeat(steps.len() - usize::from(file.ends_with("mod.rs")));
        let text = std::fs::read_to_string(&file).unwrap();
        let code = text.split("#[cfg(test)]\nmod tests").next().unwrap();
        let code: String = code.lines().filter(|line| !line.trim_start().starts_with("//")).collect();
        let names = [up, format!("crate::{path}::")].map(|way| names_after(&code, &way).map(str::to_owned).collect());
        let others = names.into_iter().flat_map(|names: Vec<String>| names).filter(|name| name != steps[0]);
        named.entry(steps[0].to_owned()).or_default().extend(others);
    }
    let children: BTreeSet<String> = named.keys().cloned().collect();
    named.values_mut().for_each(|names| names.retain(|name| children.contains(name)));
    named
}

#[test]
fn the_files_of_a_module_import_one_way() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = 0;
    for module in rust_files(&src).iter().filter(|file| file.ends_with("mod.rs")) {
        let mut left = siblings(module.parent().unwrap(), &src);
        found += left.values().map(BTreeSet::len).sum::<usize>();
        // Those that name none that is left stand below the rest.
        while let Some(lowest) = left.iter().find(|(_, named)| named.is_empty()).map(|(child, _)| child.clone()) {
            left.remove(&lowest);
            left.values_mut().for_each(|named| _ = named.remove(&lowest));
        }
        assert!(left.is_empty(), "{}: a circle, among these or below them: {left:?}", module.display());
    }
    assert!(found > 200, "{found} imports");
}

#[test]
fn unsafe_code_stays_where_it_is_fenced() {
    let src = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let fenced: Vec<String> = rust_files(&src)
        .into_iter()
        .filter(|file| std::fs::read_to_string(file).unwrap().contains("unsafe {"))
        .map(|file| file.strip_prefix(&src).unwrap().display().to_string())
        .collect();
    assert_eq!(
        fenced,
        [
            "atomic/place.rs",
            "cli/signals.rs",
            "simd/avx2/mod.rs",
            "simd/avx2/vectors.rs",
            "simd/mod.rs",
            "snapshot/map.rs"
        ]
    );
}
