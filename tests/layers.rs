//! Imports between modules and files go one way: no module and no file takes part in an import
//! cycle, and no verb of the command imports another.
//!
//! Four rules hold, all on the text of the sources:
//!
//! 1. A module imports only from the modules that [`LAYERS`] grants it. All of them are earlier
//!    rows of that table.
//! 2. The graph of files is acyclic, in the library and in the command. Its nodes are the files of
//!    `src` and of `cli/src`, every `mod.rs` included. File A imports file B if the code of A names
//!    an item that B defines, in a `use` or in an expression.
//! 3. Only the files of a verb import the files of that verb (`cli/src/VERB.rs`, or the directory
//!    `cli/src/VERB`). The exceptions are the parser of the command line and the dispatch. What
//!    several verbs need has a file of its own: formats of output are in `cli/src/figures`.
//! 4. The products, `analysis`, `lint` and `audit`, see the engine through three interfaces: `job`,
//!    `pipeline`, and `file_pass`. [`ENGINE`] has the modules behind
//!    these. [`WALL`] lists the items of these modules that products may import nevertheless.
//!
//! The command is a package of its own, so the compiler confines it to the public interface of the
//! library.
//!
//! For rules 2 to 4, a re-exported name belongs to the file that defines it, and a `mod` or `pub
//! use` declaration is not an import. For rule 2, a child may use what its parent's `mod.rs`
//! defines as long as `mod.rs` only declares and re-exports its children. Once the code of `mod.rs`
//! calls a child, that child may no longer import from `mod.rs`: the shared item has to move to a
//! file of its own.

use crate::command::{VERBS, checkout};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Each module, and the modules that it may use. Compiling and judging never use each other: they
/// share the snapshot.
///
/// Within the library, code names a module in full (`crate::error::Error`), not by the exports of
/// `lib.rs`.
const LAYERS: &[(&str, &[&str])] = &[
    ("error", &[]),
    ("named_value", &["error"]),
    ("profile", &["named_value"]),
    ("digest", &[]),
    ("read_at", &[]),
    ("time_span", &[]),
    ("atomic", &["error"]),
    ("spool", &["error", "atomic", "read_at"]),
    ("threads", &["error"]),
    ("file_format", &[]),
    ("decode", &["error", "file_format"]),
    ("bytes", &["error"]),
    ("agent", &["error", "named_value", "bytes"]),
    ("crawlers", &["error", "agent"]),
    ("simd", &["bytes"]),
    ("url", &["profile", "bytes", "simd"]),
    (
        "robots",
        &["profile", "file_format", "bytes", "agent", "url"],
    ),
    ("matcher", &["error", "profile", "bytes", "simd", "robots"]),
    (
        "preferences",
        &["profile", "bytes", "agent", "url", "robots", "matcher"],
    ),
    (
        "explain",
        &["profile", "agent", "url", "robots", "preferences"],
    ),
    (
        "snapshot",
        &[
            "error",
            "named_value",
            "profile",
            "digest",
            "time_span",
            "spool",
            "file_format",
            "agent",
            "bytes",
            "simd",
            "url",
            "robots",
            "matcher",
        ],
    ),
    (
        "archive",
        &[
            "error",
            "digest",
            "time_span",
            "file_format",
            "bytes",
            "decode",
            "url",
            "robots",
        ],
    ),
    (
        "compile",
        &[
            "error",
            "profile",
            "digest",
            "time_span",
            "spool",
            "threads",
            "file_format",
            "atomic",
            "bytes",
            "decode",
            "url",
            "robots",
            "matcher",
            "snapshot",
            "archive",
        ],
    ),
    ("records", &["error", "named_value", "file_format", "bytes"]),
    (
        "judge",
        &[
            "error",
            "named_value",
            "profile",
            "threads",
            "agent",
            "simd",
            "url",
            "robots",
            "preferences",
            "explain",
            "snapshot",
            "matcher",
            "records",
        ],
    ),
    (
        "file_pass",
        &[
            "error", "profile", "agent", "simd", "robots", "matcher", "snapshot", "judge",
        ],
    ),
    (
        "pipeline",
        &[
            "error",
            "threads",
            "read_at",
            "file_format",
            "decode",
            "judge",
            "records",
        ],
    ),
    (
        "container",
        &[
            "error",
            "named_value",
            "file_format",
            "atomic",
            "decode",
            "agent",
            "profile",
            "url",
            "preferences",
            "judge",
            "records",
            "pipeline",
        ],
    ),
    (
        "lists",
        &["error", "judge", "records", "pipeline", "container"],
    ),
    (
        "parquet",
        &[
            "error",
            "threads",
            "read_at",
            "file_format",
            "atomic",
            "agent",
            "url",
            "judge",
            "records",
            "pipeline",
            "container",
        ],
    ),
    (
        "warc",
        &[
            "error",
            "file_format",
            "bytes",
            "atomic",
            "decode",
            "url",
            "archive",
            "preferences",
            "judge",
            "records",
            "pipeline",
            "container",
        ],
    ),
    (
        "job",
        &[
            "error",
            "judge",
            "records",
            "pipeline",
            "container",
            "lists",
            "parquet",
            "warc",
        ],
    ),
    (
        "analysis",
        &[
            "error",
            "named_value",
            "atomic",
            "url",
            "profile",
            "agent",
            "crawlers",
            "robots",
            "preferences",
            "snapshot",
            "judge",
            "file_pass",
            "records",
            "pipeline",
            "container",
            "parquet",
            "job",
        ],
    ),
    (
        "lint",
        &[
            "error",
            "named_value",
            "profile",
            "file_format",
            "bytes",
            "agent",
            "crawlers",
            "robots",
            "preferences",
            "snapshot",
            "file_pass",
            "archive",
        ],
    ),
    (
        "audit",
        &[
            "error",
            "profile",
            "file_format",
            "bytes",
            "agent",
            "crawlers",
            "simd",
            "url",
            "snapshot",
            "judge",
            "records",
            "pipeline",
            "container",
            "job",
        ],
    ),
    ("synthetic", &["named_value"]),
    (
        "capi",
        &[
            "error", "agent", "crawlers", "profile", "robots", "compile", "snapshot", "judge",
        ],
    ),
];

/// The modules above the wall of rule 4.
const PRODUCTS: &[&str] = &["analysis", "lint", "audit"];

/// The modules behind the wall. All other modules below the products are the interfaces of the
/// engine, or know nothing of it, such as `error`, `agent` and `url`.
const ENGINE: &[&str] = &[
    "spool",
    "simd",
    "robots",
    "matcher",
    "preferences",
    "explain",
    "snapshot",
    "archive",
    "compile",
    "judge",
    "warc",
];

/// The gates of the wall: a product, a file of the engine, and the items of it that the product may
/// import. The test fails if one is not needed.
const WALL: &[(&str, &str, &[&str])] = &[
    // An opened snapshot and its origins, as the library exports them.
    ("analysis", "snapshot::read", &["OriginEntry", "Snapshot"]),
    (
        "analysis",
        "snapshot::outcome",
        &["Outcome", "OutcomeClass"],
    ),
    ("lint", "snapshot::read", &["Snapshot"]),
    ("audit", "snapshot::read", &["Snapshot"]),
    // The judge that a report or an export is for, and the words of its answers. `Engine` is the
    // judge inside: it has the agents and the status policy, by which `file_pass` selects rules.
    // `Scratch` is the memory of a thread that judges.
    ("analysis", "judge::owned", &["Judge"]),
    ("analysis", "judge::engine", &["Engine", "Scratch"]),
    ("analysis", "explain::reason", &["Reason"]),
    ("analysis", "explain::verdict", &["Verdict"]),
    // A report explains a sample of refused URLs.
    ("analysis", "explain::explanation", &["explain"]),
    // Examples, exports and counts of preferences show lines of a text, so they parse it.
    (
        "analysis",
        "robots::parse",
        &["AgentLine", "RobotsRef", "Rule", "RuleKind"],
    ),
    ("analysis", "robots::robots_line", &["RobotsLine"]),
    (
        "analysis",
        "preferences::preference_set",
        &["may_have_preferences"],
    ),
    // A report counts licences by the host of their URLs.
    ("analysis", "preferences::license", &["license_url"]),
    // Lint checks source text: it has to see each line as the parser does.
    ("lint", "robots::body", &["BodyFacts", "LooksLike"]),
    ("lint", "robots::crawl_delay", &["parse_seconds"]),
    ("lint", "robots::field", &["RobotsField", MODULE]),
    (
        "lint",
        "robots::line",
        &[
            "MAX_BODY",
            "MAX_LINE",
            "NumberedLines",
            "RawLine",
            "bom_len",
        ],
    ),
    (
        "lint",
        "robots::parse",
        &[
            "AgentLine",
            "Group",
            "OtherField",
            "RobotsRef",
            "Rule",
            "RuleKind",
        ],
    ),
    ("lint", "robots::pattern", &["Pattern"]),
    ("lint", "preferences", &["Preference"]),
    ("lint", "preferences::signal", &["SignalMember", "Signals"]),
    ("lint", "preferences::usage", &["UsageMember", MODULE]),
    // A directory is linted by the names that `compile` gives its files.
    ("lint", "archive::dir", &["files", "origins_of"]),
    // An audit judges each request, in sessions of its own, and finds the line that refuses it.
    ("audit", "judge::owned", &["Judge"]),
    ("audit", "judge::options", &["JudgeOptions"]),
    ("audit", "judge::session", &["JudgeSession"]),
    ("audit", "explain::verdict", &["Verdict"]),
    ("audit", "judge::refusing_line", &["RefusingLines"]),
    // An audit indexes the delimiters of a block of lines.
    ("audit", "simd", &["Kernel"]),
    ("audit", "simd::backend", &["Backend"]),
    ("audit", "simd::detected", &["AnyBackend"]),
    // Times in JSON, in the form of explanations.
    ("audit", "judge::explanation_json", &["rfc3339"]),
];

/// The item of an import of a whole module.
const MODULE: &str = "the module itself";

/// Methods of snapshots that return stored bytes or rows of sections. Rule 3 sees only the names of
/// items, so products may not call these.
const STORED_BYTES: &[&str] = &[
    ".view()",
    ".section(",
    ".verify_section(",
    ".frame(",
    ".dictionary()",
    ".unpacker()",
];

/// The exceptions to rule 2: a module, and the items of its `mod.rs` that its children import
/// although `mod.rs` calls these children. To remove one, move the items to their own file, and
/// re-export them from `mod.rs`. The test fails if an exception is no longer needed.
const EXCEPTIONS: &[(&str, &[&str])] = &[
    // Options and results: `mod.rs` is the entry point, the children are its steps.
    (
        "analysis::diff",
        &[
            "AgentChange",
            "Diff",
            "DiffOptions",
            "Origins",
            "OutcomeChange",
            "RuleChange",
            "Transition",
        ],
    ),
    ("preferences", &["Preference"]),
    ("synthetic", &["Order", "Web"]),
    // Types of the vector operations; `mod.rs` has one method that dispatches to a backend.
    (
        "simd",
        &[
            "BucketMatches",
            "Characters",
            "Fingerprints",
            "Lanes",
            "Nibbles",
            "PairTables",
            "TAGS_LEN",
        ],
    ),
    // Arguments and results of a verb, which its output formats read.
    ("cli::agents", &["AgentsArgs"]),
    ("cli::bench", &["BenchArgs", "Subject"]),
    ("cli::check", &["CheckAnswer", "CheckArgs", "RobotsSource"]),
    ("cli::diff", &["DiffOutput"]),
    // Helpers of one line.
    ("analysis::report", &["text"]),
    ("atomic", &["folder_of"]),
];

/// The sources of the library.
fn src() -> PathBuf {
    checkout().join("src")
}

/// The sources of the command. Here their modules are children of `cli`.
fn command_src() -> PathBuf {
    checkout().join("cli/src")
}

/// All Rust files below a directory, sorted.
fn rust_files(dir: &Path) -> Vec<PathBuf> {
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
fn code_of(file: &Path) -> String {
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
fn crate_modules(code: &str) -> BTreeSet<&str> {
    code.split("crate::").skip(1).map(first_word).collect()
}

#[test]
fn modules_import_one_way() {
    let mut violations = Vec::new();
    for file in rust_files(&src()) {
        let name = file
            .strip_prefix(src())
            .unwrap()
            .with_extension("")
            .display()
            .to_string();
        let module = name.split('/').next().unwrap();
        if module == "lib" {
            continue;
        }
        let text = std::fs::read_to_string(&file).unwrap();
        let code: String = text
            .lines()
            .filter(|line| !line.trim_start().starts_with("//"))
            .collect();
        let row = LAYERS.iter().find(|(layer, _)| *layer == module);
        let (_, allowed) =
            row.unwrap_or_else(|| panic!("{name}: add a row for its module to LAYERS"));
        for used in crate_modules(&code) {
            if used != module && !allowed.contains(&used) {
                violations.push(format!("{name} uses {used}"));
            }
        }
    }
    assert!(
        violations.is_empty(),
        "LAYERS does not allow:\n{}",
        violations.join("\n")
    );
}

#[test]
fn layers_have_no_cycle() {
    for (row, (module, allowed)) in LAYERS.iter().enumerate() {
        for used in *allowed {
            let used_row = LAYERS.iter().position(|(layer, _)| layer == used);
            assert!(
                used_row.is_some_and(|used| used < row),
                "{module} may use {used}, which is not an earlier row"
            );
        }
    }
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
struct Sources(BTreeMap<Vec<String>, Node>);

/// For each file, the files that it imports, and the items that it takes from each.
type Imports = BTreeMap<String, BTreeMap<String, BTreeSet<String>>>;

impl Sources {
    fn read() -> Self {
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
    fn of(files: BTreeMap<Vec<String>, String>) -> Self {
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

    fn imports(&self) -> Imports {
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

/// Whether a file imports another, directly or through others.
fn reaches(imports: &Imports, from: &str, to: &str) -> bool {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(file) = open.pop() {
        for used in imports.get(file).into_iter().flat_map(BTreeMap::keys) {
            if used == to {
                return true;
            }
            if seen.insert(used) {
                open.push(used);
            }
        }
    }
    false
}

/// Whether an exception allows a child to import an item of its own module's `mod.rs`.
fn is_exception(child: &str, module: &str, item: &str) -> bool {
    let is_below = child
        .strip_prefix(module)
        .is_some_and(|rest| rest.starts_with("::"));
    is_below
        && EXCEPTIONS
            .iter()
            .any(|(excepted, items)| *excepted == module && items.contains(&item))
}

#[test]
fn files_import_one_way() {
    let all = Sources::read().imports();
    let count: usize = all.values().map(BTreeMap::len).sum();
    assert!(count > 500, "the test sees only {count} imports");
    let mut strict = all.clone();
    for (file, used) in &mut strict {
        used.iter_mut()
            .for_each(|(module, items)| items.retain(|item| !is_exception(file, module, item)));
        used.retain(|_, items| !items.is_empty());
    }
    let mut cycles = Vec::new();
    for (file, used) in &strict {
        let cyclic = used
            .iter()
            .filter(|(other, _)| reaches(&strict, other, file));
        cycles.extend(cyclic.map(|(other, items)| format!("{file} imports {items:?} of {other}")));
    }
    assert!(
        cycles.is_empty(),
        "imports that take part in a cycle:\n{}",
        cycles.join("\n")
    );
    for (module, items) in EXCEPTIONS {
        for item in *items {
            let importers = all.iter().filter(|(file, used)| {
                used.get(*module).is_some_and(|items| items.contains(*item))
                    && is_exception(file, module, item)
            });
            let mut completes_cycle = importers.map(|(file, _)| reaches(&strict, module, file));
            assert!(
                completes_cycle.any(|cycle| cycle),
                "remove the exception of {module}::{item}: it is not needed"
            );
        }
    }
}

/// The files that may import every verb: the dispatch and the parser of the command line.
const IMPORTERS_OF_VERBS: [&str; 2] = ["cli", "cli::args"];

/// The verb that a file belongs to: `audit` for `cli::audit` and `cli::audit::table`.
fn verb_of(file: &str) -> Option<&str> {
    let inside = file.strip_prefix("cli::")?;
    let name = inside.split("::").next()?;
    VERBS.contains(&name).then_some(name)
}

/// The imports of a verb's files by other files.
fn imports_of_verbs(imports: &Imports) -> Vec<String> {
    let mut violations = Vec::new();
    for (file, used) in imports {
        if IMPORTERS_OF_VERBS.contains(&file.as_str()) {
            continue;
        }
        for (other, items) in used {
            if verb_of(other).is_some() && verb_of(other) != verb_of(file) {
                violations.push(format!("{file} imports {items:?} of {other}"));
            }
        }
    }
    violations
}

#[test]
fn verbs_do_not_import_each_other() {
    let imports = Sources::read().imports();
    // The dispatch calls `run` of each verb, so a verb that VERBS lacks is found here.
    let verbs: BTreeSet<&str> = imports["cli"]
        .iter()
        .filter(|(_, items)| items.contains("run"))
        .map(|(file, _)| file.as_str())
        .collect();
    let named: Vec<String> = VERBS.iter().map(|verb| format!("cli::{verb}")).collect();
    assert_eq!(verbs, named.iter().map(String::as_str).collect());
    let violations = imports_of_verbs(&imports);
    assert!(
        violations.is_empty(),
        "only the files of a verb may import it:\n{}",
        violations.join("\n")
    );
}

/// The test above sees direct imports, re-exports, expressions and imports by shared files.
#[test]
fn imports_between_verbs_are_found() {
    let files = [
        ("cli", "mod args;\nfn perform() { audit::run(args) }\n"),
        (
            "cli::args",
            "use super::audit::run;\nuse super::report::ReportArgs;\n",
        ),
        (
            "cli::audit",
            "fn run() { super::report::shares::share(); table::label(); }\n",
        ),
        (
            "cli::audit::table",
            "use super::super::report::{ReportArgs, share};\nfn label() {}\n",
        ),
        (
            "cli::report",
            "mod shares;\npub(crate) use shares::share;\nstruct ReportArgs;\n",
        ),
        (
            "cli::report::shares",
            "use super::super::shared::wrap;\nfn share() {}\n",
        ),
        (
            "cli::shared",
            "use super::audit::table::label;\nfn wrap() {}\n",
        ),
    ];
    let files = files.map(|(module, code)| {
        let module: Vec<String> = module.split("::").map(str::to_owned).collect();
        (module, code.to_owned())
    });
    let imports = Sources::of(BTreeMap::from(files)).imports();
    assert_eq!(
        imports_of_verbs(&imports),
        [
            r#"cli::audit imports {"share"} of cli::report::shares"#,
            r#"cli::audit::table imports {"ReportArgs"} of cli::report"#,
            r#"cli::audit::table imports {"share"} of cli::report::shares"#,
            r#"cli::shared imports {"label"} of cli::audit::table"#,
        ]
    );
}

#[test]
fn products_see_the_engine_through_the_wall() {
    let mut violations = Vec::new();
    let mut needed = BTreeSet::new();
    let imports = Sources::read().imports();
    for (file, definers) in &imports {
        let product = file.split("::").next().unwrap();
        if !PRODUCTS.contains(&product) {
            continue;
        }
        for (definer, items) in definers {
            if !ENGINE.contains(&definer.split("::").next().unwrap()) {
                continue;
            }
            for item in items {
                let is_gate = WALL.iter().any(|(from, to, items)| {
                    *from == product && to == definer && items.contains(&item.as_str())
                });
                if is_gate {
                    needed.insert((product, definer.as_str(), item.as_str()));
                } else {
                    violations.push(format!("{file} imports {item} of {definer}"));
                }
            }
        }
    }
    for product in PRODUCTS {
        for file in rust_files(&src().join(product)) {
            let code = code_of(&file);
            for method in STORED_BYTES {
                if code.contains(method) {
                    violations.push(format!("{} calls {method}", file.display()));
                }
            }
        }
    }
    assert!(
        violations.is_empty(),
        "use `file_pass`, `filter` or `pipeline`, or add a line to WALL with its reason:
{}",
        violations.join(
            "
"
        )
    );
    for (product, definer, items) in WALL {
        for item in *items {
            assert!(
                needed.contains(&(*product, *definer, *item)),
                "remove {definer}::{item} from WALL: {product} does not import it"
            );
        }
    }
}

/// `docs/dev/DESIGN.md` says that each module uses those above it, or to its left.
#[test]
fn design_lists_modules_in_the_order_of_layers() {
    let page = checkout().join("docs/dev/DESIGN.md");
    let text = std::fs::read_to_string(page).unwrap();
    let table = text.split("| module | responsibility |").nth(1).unwrap();
    let rows = table
        .lines()
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    let listed: Vec<&str> = rows
        .filter_map(|row| row.split('|').nth(1))
        .flat_map(|modules| modules.split('`').skip(1).step_by(2))
        .collect();
    for (module, allowed) in LAYERS {
        let position = listed.iter().position(|listed| listed == module);
        let position = position.unwrap_or_else(|| panic!("DESIGN.md does not list {module}"));
        for used in *allowed {
            assert!(
                listed[..position].contains(used),
                "DESIGN.md lists {used} after {module}, which uses it"
            );
        }
    }
}

#[test]
fn unsafe_code_is_confined() {
    let unsafe_files: Vec<String> = [rust_files(&command_src()), rust_files(&src())]
        .concat()
        .into_iter()
        .filter(|file| std::fs::read_to_string(file).unwrap().contains("unsafe {"))
        .map(|file| file.strip_prefix(checkout()).unwrap().display().to_string())
        .collect();
    assert_eq!(
        unsafe_files,
        [
            "cli/src/main.rs",
            "cli/src/signals.rs",
            "src/atomic/output_path.rs",
            "src/capi/judge.rs",
            "src/capi/options.rs",
            "src/capi/pointers.rs",
            "src/capi/robots.rs",
            "src/capi/rows.rs",
            "src/capi/snapshot.rs",
            "src/capi/status.rs",
            "src/simd/avx2/mod.rs",
            "src/simd/avx2/vectors.rs",
            "src/simd/mod.rs",
            "src/simd/neon/mod.rs",
            "src/simd/neon/vectors.rs",
            "src/snapshot/map.rs"
        ]
    );
}

/// Documentation that names a file that was moved leads nowhere.
#[test]
fn source_files_in_the_documentation_exist() {
    let root = checkout();
    let folders = [
        "src",
        "cli/src",
        "tests",
        "benches",
        "examples",
        "fuzz/src",
        "fuzz/tests",
        "python/src",
        "web/src",
    ];
    let files: Vec<PathBuf> = folders
        .iter()
        .flat_map(|dir| rust_files(&root.join(dir)))
        .collect();
    let pages = [
        "README.md",
        "python/README.md",
        "web/README.md",
        "CONTRIBUTING.md",
        "SECURITY.md",
        "benches/README.md",
        "tests/cases/README.md",
    ];
    let docs = ["docs", "docs/dev"]
        .iter()
        .flat_map(|dir| std::fs::read_dir(root.join(dir)).unwrap())
        .map(|entry| entry.unwrap().path());
    let mut named = 0;
    for page in pages
        .iter()
        .map(|page| root.join(page))
        .chain(docs)
        .filter(|page| page.extension() == Some("md".as_ref()))
    {
        let text = std::fs::read_to_string(&page).unwrap();
        for name in text
            .split('`')
            .skip(1)
            .step_by(2)
            .filter(|name| name.ends_with(".rs") && !name.contains("VERB"))
        {
            named += 1;
            assert!(
                files.iter().any(|file| file.ends_with(name)),
                "{}: there is no {name}",
                page.display()
            );
        }
    }
    assert!(named > 50, "{named} names of files found");
}
