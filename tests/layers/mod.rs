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
//!    `pipeline`, and `file_pass`. [`ENGINE`] has the modules behind these. [`WALL`] lists the items
//!    of these modules that products may import nevertheless.
//!
//! The command is a package of its own, so the compiler confines it to the public interface of the
//! library.
//!
//! For rules 2 to 4, a re-exported name belongs to the file that defines it, and a `mod` or `pub
//! use` declaration is not an import. For rule 2, a child may use what its parent's `mod.rs`
//! defines as long as `mod.rs` only declares and re-exports its children. Once the code of `mod.rs`
//! calls a child, that child may no longer import from `mod.rs`: the shared item has to move to a
//! file of its own.

mod graph;
mod tables;

use crate::command::{VERBS, checkout};
use graph::{Imports, Sources, code_of, command_src, crate_modules, rust_files, src};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use tables::{ENGINE, EXCEPTIONS, LAYERS, PRODUCTS, STORED_BYTES, WALL};

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
