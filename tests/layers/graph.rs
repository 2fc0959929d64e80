//! Reads the imports of the sources.

use super::tables::MODULE;
use crate::command::checkout;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The sources of the library.
pub(super) fn src() -> PathBuf {
    checkout().join("src")
}

/// The sources of the command. Here their modules are children of `cli`.
pub(super) fn command_src() -> PathBuf {
    checkout().join("cli/src")
}

/// All Rust files below a directory, sorted.
pub(super) fn rust_files(dir: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}

/// The code of a file, without comments, documentation and unit tests.
pub(super) fn code_of(file: &Path) -> String {
    let text = std::fs::read_to_string(file).unwrap();
    let code = text.split("#[cfg(test)]\nmod tests {").next().unwrap();
    code.lines()
        .filter(|line| !line.trim_start().starts_with("//"))
        .flat_map(|line| [line, "\n"])
        .collect()
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The identifier at the start of a text, which may be empty.
fn first_word(text: &str) -> &str {
    &text[..text.find(|c| !is_word(c)).unwrap_or(text.len())]
}

/// The modules that code names by `crate::`.
pub(super) fn crate_modules(code: &str) -> BTreeSet<&str> {
    code.split("crate::").skip(1).map(first_word).collect()
}

/// The leaves of a `use` tree, or the one path of an expression, at the start of `text`: the
/// segments of each path, and the name that it binds. Returns the length of the tree.
fn parse_tree(text: &str, prefix: &[String], leaves: &mut Vec<(Vec<String>, String)>) -> usize {
    let skip_space = |at: usize| at + text[at..].len() - text[at..].trim_start().len();
    let mut segments = prefix.to_vec();
    let mut at = 0;
    loop {
        if text[at..].starts_with('{') {
            at += 1;
            loop {
                at = skip_space(at);
                if text[at..].starts_with('}') {
                    return at + 1;
                }
                at += parse_tree(&text[at..], &segments, leaves).max(1);
                at = skip_space(at);
                at += usize::from(text[at..].starts_with(','));
            }
        }
        let word = first_word(&text[at..]);
        at += word.len();
        if word.is_empty() {
            // A glob, or the turbofish of an expression: what precedes it is the path.
            at += usize::from(text[at..].starts_with('*'));
            break;
        }
        if word != "self" {
            segments.push(word.to_owned());
        }
        let Some(rest) = text[at..].strip_prefix("::") else {
            break;
        };
        at = text.len() - rest.len();
    }
    let mut name = segments.last().cloned().unwrap_or_default();
    if let Some(alias) = text[at..].strip_prefix(" as ") {
        name = first_word(alias).to_owned();
        at += " as ".len() + name.len();
    }
    leaves.push((segments, name));
    at
}

/// One source file as a node of the import graph. Paths start at the crate root.
#[derive(Default)]
struct Node {
    /// The names that the file imports or re-exports, with the path of each.
    bindings: BTreeMap<String, Vec<String>>,
    /// The paths that its code names. Re-exports do not count.
    paths: Vec<Vec<String>>,
}

/// All files by module path: `judge/mod.rs` is `judge`, `judge/path.rs` is `judge::path`.
pub(super) struct Sources(BTreeMap<Vec<String>, Node>);

/// For each file, the files that it imports, and the items that it takes from each.
pub(super) type Imports = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

impl Sources {
    pub(super) fn read() -> Self {
        let mut files = BTreeMap::new();
        for file in rust_files(&src()) {
            let module = module_path(&src(), &file);
            // `lib.rs` only declares and exports modules.
            if module != ["lib"] {
                files.insert(module, code_of(&file));
            }
        }
        for file in rust_files(&command_src()) {
            let mut module = module_path(&command_src(), &file);
            module.insert(0, "cli".to_owned());
            // `lib.rs` is the dispatch. `main.rs` only calls it.
            module.pop_if(|last| last == "lib");
            if module != ["cli", "main"] {
                files.insert(module, code_of(&file));
            }
        }
        Self::of(files)
    }

    /// The graph of files, from the path and the code of each.
    pub(super) fn of(files: BTreeMap<Vec<String>, String>) -> Self {
        let children = |module: &[String]| {
            let below = files
                .keys()
                .filter(|other| other.len() == module.len() + 1 && other.starts_with(module));
            below
                .map(|child| child[module.len()].clone())
                .collect::<Vec<_>>()
        };
        Self(
            files
                .iter()
                .map(|(module, code)| (module.clone(), node(module, &children(module), code)))
                .collect(),
        )
    }

    /// The module whose file defines the item at a path, and the item. Follows re-exports. `None`
    /// for items of `lib.rs` and of other crates.
    fn definition(&self, path: &[String]) -> Option<(Vec<String>, String)> {
        let mut module = Vec::new();
        for (position, segment) in path.iter().enumerate() {
            module.push(segment.clone());
            if self.0.contains_key(&module) {
                continue;
            }
            module.pop();
            let node = self.0.get(&module)?;
            return match node.bindings.get(segment) {
                Some(bound) => self.definition(&[bound, &path[position + 1..]].concat()),
                None => Some((module, segment.clone())),
            };
        }
        (!module.is_empty()).then_some((module, MODULE.to_owned()))
    }

    pub(super) fn imports(&self) -> Imports {
        let mut imports = Imports::new();
        for (module, node) in &self.0 {
            let used = imports.entry(module.join("::")).or_default();
            for (definer, item) in node.paths.iter().filter_map(|path| self.definition(path)) {
                if definer != *module {
                    used.entry(definer.join("::")).or_default().insert(item);
                }
            }
        }
        imports
    }
}

/// The module of a file below the sources of a package.
fn module_path(sources: &Path, file: &Path) -> Vec<String> {
    let inside = file.strip_prefix(sources).unwrap().with_extension("");
    let mut module: Vec<String> = inside
        .iter()
        .map(|part| part.to_str().unwrap().to_owned())
        .collect();
    module.pop_if(|last| last == "mod");
    module
}

/// Whether the end of a formatted text is inside an inline module, in which `super` means the file.
fn is_in_inline_module(code: &str) -> bool {
    let item = code
        .lines()
        .rev()
        .find(|line| line.starts_with(is_word))
        .unwrap_or_default();
    item.ends_with('{') && item.split(' ').any(|word| word == "mod")
}

/// Collects the paths that start with `crate`, `super`, `self` or the name of a child module.
fn node(module: &[String], children: &[String], code: &str) -> Node {
    let mut node = Node::default();
    let mut at = 0;
    while let Some(colons) = code[at..].find("::").map(|found| at + found) {
        let start = code[..colons]
            .rfind(|c| !is_word(c))
            .map_or(0, |before| before + 1);
        at = colons + 2;
        // Only the start of a path counts. The path of `pub(in crate::judge)` is not an import.
        if code[..start].ends_with("::") || code[..start].ends_with("(in ") {
            continue;
        }
        let mut base = match &code[start..colons] {
            "crate" if module[0] == "cli" => vec!["cli".to_owned()],
            "crate" => Vec::new(),
            "super" if is_in_inline_module(&code[..start]) => module.to_vec(),
            "super" => module[..module.len() - 1].to_vec(),
            "self" => module.to_vec(),
            child if children.iter().any(|name| name == child) => {
                [module, &[child.to_owned()]].concat()
            }
            _ => continue,
        };
        while let Some(rest) = code[at..].strip_prefix("super::") {
            base.pop();
            at = code.len() - rest.len();
        }
        let mut leaves = Vec::new();
        at += parse_tree(&code[at..], &base, &mut leaves);
        let declaration = code[..start].lines().last().unwrap_or_default().trim();
        let is_use = declaration == "use" || declaration.ends_with(" use");
        for (path, name) in leaves {
            if is_use {
                node.bindings.insert(name, path.clone());
            }
            if !(is_use && declaration.starts_with("pub")) {
                node.paths.push(path);
            }
        }
    }
    node
}
