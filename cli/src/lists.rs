//! `robosieve lists`: compiles filter lists into one file, and looks URLs up in them.

use crate::figures::counts::{counted, grouped};
use crate::figures::escape::escape;
use crate::figures::table::Columns;
use crate::help_text::{COMMON, INPUT, LISTS_EXAMPLES, LISTS_SHORT, OUTPUT};
use crate::inputs::refuse_remote;
use crate::option_guard::OptionGuard;
use crate::output::{OutputTarget, create_file, print, print_with};
use crate::stats_json::{RunRecord, StatsArgs};
use crate::stderr::print_line;
use anyhow::{Context, bail};
use clap::Args;
use robosieve::Origin;
use robosieve::filter_lists::{FilterLists, ListCompiler, ListKind, ListReport, is_list_name};
use robosieve::output::{OutputFormat, is_standard_stream};
use serde::Serialize;
use std::collections::{BTreeMap, HashMap};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(Debug, Args)]
#[command(
    after_help = LISTS_SHORT,
    after_long_help = LISTS_EXAMPLES,
    override_usage = "robosieve lists [OPTIONS] -o FILE [NAME=]LIST...\n       \
                      robosieve lists [OPTIONS] --find URL <[NAME=]LIST...|COMPILED>"
)]
pub(crate) struct ListsArgs {
    /// The compiled file to write; an existing one is replaced
    #[arg(short, long, value_name = "FILE", help_heading = COMMON)]
    pub output: Option<PathBuf>,
    /// Print the entry that decides about a URL, and the lists that have it
    ///
    /// The columns are `listed`, `exception`, `-` for a URL without an entry, or `invalid` for text
    /// that is not a URL; then the names of the lists, the entry, and the URL. The option may be
    /// repeated.
    #[arg(long, value_name = "URL", help_heading = COMMON)]
    pub find: Vec<String>,
    /// A list whose entries are exceptions; repeat the option for more
    ///
    /// An exception wins against an entry that is no more specific: of a host with as many labels or
    /// fewer, and there of a path that is as long or shorter.
    #[arg(long, value_name = "[NAME=]LIST", value_parser = clap::value_parser!(OsString), help_heading = INPUT)]
    pub allow: Vec<OsString>,
    /// Accept public suffixes such as `com` and `co.uk` as domains
    ///
    /// A line that lists one is nearly always a mistake, so it is skipped with a warning.
    #[arg(long, help_heading = INPUT)]
    pub allow_suffixes: bool,
    /// Fail if a line is not an entry
    ///
    /// Without this option, such lines are skipped and counted, and the first ones are named.
    #[arg(long, help_heading = INPUT)]
    pub strict_lists: bool,
    /// Verify the whole structure of a compiled file first, not only the checksums
    ///
    /// This also finds a forged file, whose checksums are right and whose content contradicts itself.
    #[arg(long, help_heading = COMMON)]
    pub verify: bool,
    #[command(flatten, next_help_heading = OUTPUT)]
    pub stats: StatsArgs,
    /// Lists of domains, hosts and URL prefixes (`-`: standard input), or one compiled file
    ///
    /// A list is plain, gzip or zstd. NAME is the reason for the URLs that it names; without it, the
    /// name of the file up to its first dot. Of equal entries, the list named first counts.
    #[arg(required = true, value_name = "[NAME=]LIST", value_parser = clap::value_parser!(OsString))]
    pub lists: Vec<OsString>,
}

/// A list on the command line.
struct NamedList {
    name: String,
    path: PathBuf,
    kind: ListKind,
}

/// The counts of a compilation for `--stats-json`.
#[derive(Serialize)]
struct CompiledCounts<'r> {
    hosts: u64,
    paths: u64,
    bytes_out: Option<u64>,
    lists: Vec<ListCounts<'r>>,
}

#[derive(Serialize)]
struct ListCounts<'r> {
    name: &'r str,
    path: String,
    kind: &'static str,
    lines: u64,
    blank_lines: u64,
    entries: u64,
    exceptions: u64,
    skipped_names: u64,
    /// The lines that are not entries, by reason.
    not_entries: BTreeMap<String, u64>,
}

pub(crate) fn run(args: &ListsArgs, quiet: bool) -> anyhow::Result<()> {
    if let Some(path) = compiled_path(args)? {
        let lists = FilterLists::open(&path)?;
        let verified = match args.verify {
            true => lists.verify(),
            false => lists.verify_checksums(),
        };
        verified.with_context(|| path.display().to_string())?;
        return if args.find.is_empty() {
            print(&description(&lists))
        } else {
            print(&found_entries(&lists, &args.find)?)
        };
    }
    if args.verify {
        bail!("--verify is for a compiled file, alone");
    }
    let started = Instant::now();
    let named = named_lists(args)?;
    refuse_outputs(args, &named)?;
    if args.output.is_none() && args.find.is_empty() {
        bail!(
            "nothing to do: write the compiled lists with -o FILE, or look a URL up with --find URL"
        );
    }
    let mut output = args.output.as_deref().map(create_file).transpose()?;
    let mut stats = args.stats.open()?;
    let mut compiler = ListCompiler::new().allow_suffixes(args.allow_suffixes);
    let mut reports = Vec::new();
    for list in &named {
        let report = compiler.add_path(&list.name, list.kind, &list.path)?;
        report_defects(list, &report, args.strict_lists)?;
        reports.push(report);
    }
    let compiled = compiler.finish()?;
    let bytes_out = match &mut output {
        Some(output) => Some(compiled.write_into(output)?),
        None => None,
    };
    let counts = CompiledCounts {
        hosts: compiled.hosts(),
        paths: compiled.paths(),
        bytes_out,
        lists: named
            .iter()
            .zip(&reports)
            .map(|(list, report)| ListCounts::of(list, report))
            .collect(),
    };
    RunRecord::new().write(&counts, &mut stats)?;
    let outputs = [output.map(|file| OutputTarget::File(Box::new(file))), stats];
    let outputs = outputs.into_iter().flatten();
    if args.find.is_empty() {
        OutputTarget::commit_all(outputs)?;
    } else {
        let lists = FilterLists::new(compiled.to_vec()?)?;
        print_with(&found_entries(&lists, &args.find)?, outputs)?;
    }
    if !quiet {
        print_summary(&counts, started.elapsed().as_secs_f64());
    }
    Ok(())
}

impl<'r> ListCounts<'r> {
    fn of(list: &'r NamedList, report: &ListReport) -> Self {
        let by_reason = report.not_entries.iter();
        Self {
            name: &list.name,
            path: list.path.display().to_string(),
            kind: match list.kind {
                ListKind::Block => "block",
                ListKind::Allow => "allow",
            },
            lines: report.lines,
            blank_lines: report.blank_lines,
            entries: report.entries,
            exceptions: report.exceptions,
            skipped_names: report.skipped_names,
            not_entries: by_reason
                .map(|(reason, lines)| (reason.to_string(), *lines))
                .collect(),
        }
    }
}

/// The compiled file that is the only list, if it is one.
fn compiled_path(args: &ListsArgs) -> anyhow::Result<Option<PathBuf>> {
    let [only] = &args.lists[..] else {
        return Ok(None);
    };
    let path = Path::new(only);
    if !is_compiled(path)? {
        return Ok(None);
    }
    let shown = path.display();
    let compiles = args.output.is_some()
        || !args.allow.is_empty()
        || args.stats.stats_json.is_some()
        || args.strict_lists
        || args.allow_suffixes;
    if compiles {
        bail!(
            "{shown}: compiled already; give the texts of which it was compiled, or only --find URL"
        );
    }
    Ok(Some(path.to_owned()))
}

/// Whether a regular file begins as compiled lists do. Reading a pipe would take its bytes.
fn is_compiled(path: &Path) -> anyhow::Result<bool> {
    if is_standard_stream(path) || !path.is_file() {
        return Ok(false);
    }
    let shown = || path.display().to_string();
    let mut start = Vec::new();
    let file = File::open(path).with_context(shown)?;
    file.take(8).read_to_end(&mut start).with_context(shown)?;
    Ok(start == b"RSLIST\x1a\n")
}

/// The lists with their names, those of exceptions last.
fn named_lists(args: &ListsArgs) -> anyhow::Result<Vec<NamedList>> {
    let blocks = args.lists.iter().map(|list| (list, ListKind::Block));
    let allows = args.allow.iter().map(|list| (list, ListKind::Allow));
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

/// Refuses outputs that would overwrite an input or each other.
fn refuse_outputs(args: &ListsArgs, named: &[NamedList]) -> anyhow::Result<()> {
    let paths = named.iter().map(|list| &list.path);
    let mut guard = OptionGuard::default().add_inputs("a list", paths);
    if let Some(output) = &args.output {
        if is_standard_stream(output) {
            bail!("compiled lists cannot be written to standard output: name a file");
        }
        guard.add_output("-o", output)?;
        OutputFormat::FilterLists.check(output)?;
    }
    if !args.find.is_empty() {
        guard = guard.add_stdout()?;
    }
    args.stats.refuse_overwriting(&mut guard)
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

/// The entries that decide about URLs, a line for each.
fn found_entries(lists: &FilterLists, urls: &[String]) -> anyhow::Result<String> {
    let mut out = String::new();
    for url in urls {
        let found = lists.find(url.as_bytes())?;
        let columns = match &found {
            Some(found) => {
                let word = if found.is_exception() {
                    "exception"
                } else {
                    "listed"
                };
                let names: Vec<&str> = found.lists().collect();
                let names = names.join(",");
                format!("{word}\t{}\t{}", escape(&names), escape(&found.entry()?))
            }
            None if Origin::of(url.as_bytes()).is_none() => "invalid\t-\t-".to_owned(),
            None => "-\t-\t-".to_owned(),
        };
        out += &format!("{columns}\t{}\n", escape(url));
    }
    Ok(out)
}

/// The columns of a name and two numbers.
const COLUMNS: Columns<'_> = Columns {
    indent: 2,
    name: 26,
    gap: 0,
    cells: &[14, 14],
};

/// The contents of a compiled file.
fn description(lists: &FilterLists) -> String {
    let metadata = lists.metadata();
    let mut out = format!(
        "filter lists by {}, checksum {:016x}\n",
        escape(&metadata.tool),
        lists.checksum()
    );
    for (name, number) in [
        ("hosts", metadata.hosts),
        ("entries for paths", metadata.paths),
        ("bytes", lists.byte_len()),
    ] {
        out += &format!(
            "{}\n",
            COLUMNS
                .row(name, [grouped(number), String::new()])
                .trim_end()
        );
    }
    out += &format!(
        "{}\n",
        COLUMNS.row("list", ["entries".to_owned(), "exceptions".to_owned()])
    );
    for list in &metadata.lists {
        let cells = [grouped(list.entries), grouped(list.exceptions)];
        out += &format!("{}\n", COLUMNS.row(&escape(&list.name), cells));
    }
    out
}

/// Prints what was compiled to standard error.
fn print_summary(counts: &CompiledCounts<'_>, seconds: f64) {
    print_line(format_args!(
        "compiled {} in {seconds:.2} s",
        counted(counts.lists.len() as u64, "list")
    ));
    let sizes = [
        ("hosts", Some(counts.hosts)),
        ("entries for paths", Some(counts.paths)),
        ("bytes out", counts.bytes_out),
    ];
    for (name, number) in sizes {
        if let Some(number) = number {
            let row = COLUMNS.row(name, [grouped(number), String::new()]);
            print_line(format_args!("{}", row.trim_end()));
        }
    }
    let head = ["entries".to_owned(), "exceptions".to_owned()];
    print_line(format_args!("{}", COLUMNS.row("list", head)));
    for list in &counts.lists {
        let cells = [grouped(list.entries), grouped(list.exceptions)];
        print_line(format_args!("{}", COLUMNS.row(list.name, cells)));
    }
}
