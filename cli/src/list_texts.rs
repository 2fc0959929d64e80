//! Filter lists as texts, named on the command line as `NAME=LIST`, and their compilation.

use crate::figures::counts::grouped;
use crate::figures::escape::escape;
use crate::help_text::COMMON;
use crate::inputs::refuse_remote;
use crate::stderr::print_line;
use anyhow::{Context, bail};
use clap::Args;
use robosieve::filter_lists::{CompiledLists, ListCompiler, ListKind, ListReport, is_list_name};
use robosieve::output::is_standard_stream;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

// Shared by the verbs that compile lists.
#[derive(Debug, Args)]
pub(crate) struct ListTextArgs {
    /// A list whose entries are exceptions; repeat the option for more
    ///
    /// An exception wins against an entry that is no more specific: of a host with as many labels or
    /// fewer, and there of a path that is as long or shorter.
    #[arg(long, value_name = "[NAME=]LIST", value_parser = clap::value_parser!(OsString), help_heading = COMMON)]
    pub allow: Vec<OsString>,
    /// Accept public suffixes such as `com` and `co.uk` as domains
    ///
    /// A line that lists one is nearly always a mistake, so it is skipped with a warning.
    #[arg(long, hide_short_help = true, help_heading = COMMON)]
    pub allow_suffixes: bool,
    /// Fail if a line is not an entry
    ///
    /// Without this option, such lines are skipped and counted, and the first ones are named.
    #[arg(long, hide_short_help = true, help_heading = COMMON)]
    pub strict_lists: bool,
}

/// A list on the command line.
pub(crate) struct NamedList {
    pub name: String,
    pub path: PathBuf,
    pub kind: ListKind,
}

/// Compiled lists, and a report on each.
pub(crate) struct CompiledTexts {
    pub compiled: CompiledLists,
    pub reports: Vec<ListReport>,
}

impl ListTextArgs {
    /// Whether any of these options is given.
    pub(crate) fn is_any_given(&self) -> bool {
        !self.allow.is_empty() || self.allow_suffixes || self.strict_lists
    }

    /// These lists and those of `--allow` with their names. Exceptions are last.
    pub(crate) fn with_names(&self, blocks: &[OsString]) -> anyhow::Result<Vec<NamedList>> {
        let blocks = blocks.iter().map(|list| (list, ListKind::Block));
        let allows = self.allow.iter().map(|list| (list, ListKind::Allow));
        let mut named: Vec<NamedList> = Vec::new();
        let mut numbers: HashMap<String, usize> = HashMap::new();
        for (argument, kind) in blocks.chain(allows) {
            let list = NamedList::of(argument, kind)?;
            let number = named.len();
            let earlier = numbers.insert(list.name.clone(), number);
            if let Some(other) = earlier.and_then(|other| named.get(other)) {
                bail!(
                    "{} and {} have the name {}; give each its own with NAME=LIST",
                    other.path.display(),
                    list.path.display(),
                    list.name
                );
            }
            named.push(list);
        }
        let standard_inputs = named.iter().filter(|list| is_standard_stream(&list.path));
        if standard_inputs.count() > 1 {
            bail!("standard input is named twice; write one of the lists to a file");
        }
        Ok(named)
    }

    /// Compiles lists. Warns of lines that are not entries, or fails because of them.
    pub(crate) fn compile(&self, lists: &[NamedList]) -> anyhow::Result<CompiledTexts> {
        let mut compiler = ListCompiler::new().allow_suffixes(self.allow_suffixes);
        let mut reports = Vec::new();
        for list in lists {
            let report = compiler.add_path(&list.name, list.kind, &list.path)?;
            report_defects(list, &report, self.strict_lists)?;
            reports.push(report);
        }
        Ok(CompiledTexts {
            compiled: compiler.finish()?,
            reports,
        })
    }
}

impl NamedList {
    /// The list of an argument `NAME=LIST` or `LIST`.
    fn of(argument: &OsStr, kind: ListKind) -> anyhow::Result<Self> {
        let text = argument.to_string_lossy();
        // A file may have `=` in its name.
        let whole = PathBuf::from(argument);
        if !whole.exists()
            && let Some((name, path)) = text.split_once('=')
            && is_list_name(name)
        {
            if argument.to_str().is_none() {
                bail!("{text}: the path is not UTF-8; rename the file, or give it without a name");
            }
            return Self::at(name, path.into(), kind);
        }
        let path = whole;
        let stem = path.file_name().map(|name| name.to_string_lossy());
        // The name ends at its first dot: `ads.txt.gz` is `ads`.
        let stem = stem.as_deref().and_then(|name| name.split('.').next());
        let name = stem.filter(|name| is_list_name(name)).map(str::to_owned);
        match name {
            Some(name) if !is_standard_stream(&path) => Self::at(&name, path, kind),
            _ => bail!("{text}: give the list a name of letters, digits, -, _ and .: NAME={text}"),
        }
    }

    fn at(name: &str, path: PathBuf, kind: ListKind) -> anyhow::Result<Self> {
        refuse_remote(&path)?;
        if path.is_dir() {
            bail!("{}: a directory; name the files in it", path.display());
        }
        Ok(Self {
            name: name.to_owned(),
            path,
            kind,
        })
    }
}

/// Whether a regular file begins as compiled lists do. Reading a pipe would take its bytes.
pub(crate) fn is_compiled(path: &Path) -> anyhow::Result<bool> {
    if is_standard_stream(path) || !path.is_file() {
        return Ok(false);
    }
    let shown = || path.display().to_string();
    let mut start = Vec::new();
    let file = File::open(path).with_context(shown)?;
    file.take(8).read_to_end(&mut start).with_context(shown)?;
    Ok(start == b"RSLIST\x1a\n")
}

/// Warns of lines that are not entries, or fails because of them.
fn report_defects(list: &NamedList, report: &ListReport, is_strict: bool) -> anyhow::Result<()> {
    let lines: u64 = report.not_entries.values().sum();
    let shown = list.path.display();
    if lines == 0 {
        if report.entries == 0 {
            print_line(format_args!(
                "robosieve: warning: {}: the list has no entry",
                escape(&shown.to_string())
            ));
        }
        return Ok(());
    }
    let examples = report.examples.iter().map(|example| {
        format!(
            "line {} is `{}` ({})",
            example.line, example.text, example.reason
        )
    });
    let examples = examples.collect::<Vec<_>>().join(", ");
    let what = match lines {
        1 => "1 line is not an entry".to_owned(),
        lines => format!("{} lines are not entries", grouped(lines)),
    };
    if is_strict {
        bail!("{shown}: {what}: {examples}; correct the list, or leave --strict-lists out");
    }
    let message = format!("{shown}: {what}, and skipped: {examples}");
    print_line(format_args!("robosieve: warning: {}", escape(&message)));
    Ok(())
}
