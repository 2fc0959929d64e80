//! `robosieve lists`: compiles filter lists into one file, and looks URLs up in them.

use crate::figures::counts::{counted, grouped};
use crate::figures::escape::escape;
use crate::figures::table::Columns;
use crate::help_text::{COMMON, INPUT, LISTS_EXAMPLES, LISTS_SHORT};
use crate::list_texts::{
    ANY_WORDS, CompiledTexts, ListSource, ListTextArgs, NamedList, is_compiled,
};
use crate::option_guard::OptionGuard;
use crate::output::{OutputTarget, create_file, print, print_with};
use crate::stats_json::{RunRecord, StatsArgs};
use crate::stderr::print_line;
use anyhow::bail;
use clap::Args;
use robosieve::Origin;
use robosieve::filter_lists::{FilterLists, ListMatch, ListMetadata, ListReport};
use robosieve::output::{OutputFormat, is_standard_stream};
use serde::Serialize;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Instant;

#[derive(Debug, Args)]
#[command(
    after_help = LISTS_SHORT,
    after_long_help = LISTS_EXAMPLES,
    mut_arg("allow", |arg| arg.help_heading(INPUT)),
    mut_arg("allow_suffixes", |arg| arg.help_heading(INPUT)),
    mut_arg("strict_lists", |arg| arg.help_heading(INPUT)),
    mut_arg("block_words", |arg| arg.help_heading(INPUT).hide_short_help(false)),
    mut_arg("soft_words", |arg| arg.help_heading(INPUT).hide_short_help(false)),
    mut_arg("soft_threshold", |arg| arg.help_heading(INPUT)),
    mut_arg("block_substrings", |arg| arg.help_heading(INPUT).hide_short_help(false)),
    mut_arg("words_in", |arg| arg.help_heading(INPUT)),
    override_usage = "robosieve lists [OPTIONS] -o FILE <[NAME=]LIST|COMPILED>...\n       \
                      robosieve lists [OPTIONS] --find URL <[NAME=]LIST|COMPILED>..."
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
    /// Verify the whole structure of a compiled file first, not only the checksums
    ///
    /// This also finds a forged file, whose checksums are right and whose content contradicts itself.
    #[arg(long, help_heading = COMMON)]
    pub verify: bool,
    #[command(flatten)]
    pub texts: ListTextArgs,
    #[command(flatten)]
    pub stats: StatsArgs,
    /// Lists of domains, hosts and URL prefixes (`-`: standard input), or compiled files
    ///
    /// A list is plain, gzip or zstd. NAME is the reason for the URLs that it names; without it, the
    /// name of the file up to its first dot. Of equal entries, the list named first counts. A compiled
    /// file adds its lists with their names; alone, it is described.
    #[arg(
        required_unless_present = ANY_WORDS,
        value_name = "[NAME=]LIST",
        value_parser = clap::value_parser!(OsString)
    )]
    pub lists: Vec<OsString>,
}

/// The counts of a compilation for `--stats-json`.
#[derive(Serialize)]
struct CompiledCounts<'r> {
    hosts: u64,
    paths: u64,
    words: u64,
    bytes_out: Option<u64>,
    lists: Vec<ListCounts<'r>>,
}

#[derive(Serialize)]
struct ListCounts<'r> {
    name: &'r str,
    path: String,
    /// That of a text, or `compiled`.
    kind: &'static str,
    entries: u64,
    exceptions: u64,
    #[serde(flatten)]
    text: Option<TextCounts>,
}

/// What else was in a text.
#[derive(Serialize)]
struct TextCounts {
    lines: u64,
    blank_lines: u64,
    /// The rules with `$badfilter`.
    cancellations: u64,
    skipped_names: u64,
    /// The lines that are not entries, by reason.
    not_entries: BTreeMap<String, u64>,
}

pub(crate) fn run(args: &ListsArgs, quiet: bool) -> anyhow::Result<()> {
    if let Some(path) = compiled_path(args)? {
        let lists = FilterLists::open(&path)?;
        match args.verify {
            true => lists.verify()?,
            false => lists.verify_checksums()?,
        }
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
    let sources = args.texts.sources(Vec::new(), &args.lists)?;
    refuse_outputs(args, &sources)?;
    if args.output.is_none() && args.find.is_empty() {
        let paths: Vec<String> = sources
            .iter()
            .map(|source| source.path().display().to_string())
            .collect();
        bail!(
            "nothing to do with {}: write the compiled lists with -o FILE, or look a URL up with \
             --find URL",
            paths.join(", ")
        );
    }
    let mut output = args.output.as_deref().map(create_file).transpose()?;
    let mut stats = args.stats.open()?;
    let CompiledTexts { compiled, reports } = args.texts.compile(&sources)?;
    let bytes_out = match &mut output {
        Some(output) => Some(compiled.write_into(output)?),
        None => None,
    };
    let counts = CompiledCounts {
        hosts: compiled.hosts(),
        paths: compiled.paths(),
        words: compiled.words(),
        bytes_out,
        lists: list_counts(&sources, &reports),
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

/// The counts of each list, given the reports on those that are texts.
fn list_counts<'r>(sources: &'r [ListSource], reports: &[ListReport]) -> Vec<ListCounts<'r>> {
    let mut reports = reports.iter();
    let mut counts = Vec::new();
    for source in sources {
        match source {
            ListSource::Text(list) => counts.extend(
                reports
                    .next()
                    .map(|report| ListCounts::of_text(list, report)),
            ),
            ListSource::Compiled { path, lists } => {
                let lists = lists.metadata().lists.iter();
                counts.extend(lists.map(|list| ListCounts::of_compiled(list, path)));
            }
        }
    }
    counts
}

impl<'r> ListCounts<'r> {
    fn of_text(list: &'r NamedList, report: &ListReport) -> Self {
        let by_reason = report.not_entries.iter();
        Self {
            name: &list.name,
            path: list.path.display().to_string(),
            kind: list.kind.name(),
            entries: report.entries,
            exceptions: report.exceptions,
            text: Some(TextCounts {
                lines: report.lines,
                blank_lines: report.blank_lines,
                cancellations: report.cancellations,
                skipped_names: report.skipped_names,
                not_entries: by_reason
                    .map(|(reason, lines)| (reason.to_string(), *lines))
                    .collect(),
            }),
        }
    }

    fn of_compiled(list: &'r ListMetadata, path: &Path) -> Self {
        Self {
            name: &list.name,
            path: path.display().to_string(),
            kind: "compiled",
            entries: list.entries,
            exceptions: list.exceptions,
            text: None,
        }
    }
}

/// The compiled file that is described, or in which URLs are looked up: the only list, if it is one.
fn compiled_path(args: &ListsArgs) -> anyhow::Result<Option<PathBuf>> {
    let [only] = &args.lists[..] else {
        return Ok(None);
    };
    let path = Path::new(only);
    let compiles =
        args.output.is_some() || args.stats.stats_json.is_some() || args.texts.is_any_given();
    let is_alone = !compiles && is_compiled(path)?;
    Ok(is_alone.then(|| path.to_owned()))
}

/// Refuses outputs that would overwrite an input or each other.
fn refuse_outputs(args: &ListsArgs, sources: &[ListSource]) -> anyhow::Result<()> {
    let paths = sources.iter().map(ListSource::path);
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

/// The entries that decide about URLs, a line for each.
fn found_entries(lists: &FilterLists, urls: &[String]) -> anyhow::Result<String> {
    let mut out = String::new();
    for url in urls {
        let found = lists.find(url.as_bytes())?;
        let columns = match &found {
            Some(found) => match_columns(found)?,
            None if Origin::of(url.as_bytes()).is_none() => "invalid\t-\t-".to_owned(),
            None => "-\t-\t-".to_owned(),
        };
        out += &format!("{columns}\t{}\n", escape(url));
    }
    Ok(out)
}

/// The columns of an entry that was found: what it does, its lists, and the entry.
pub(crate) fn match_columns(found: &ListMatch<'_>) -> robosieve::Result<String> {
    let word = if found.is_exception() {
        "exception"
    } else {
        "listed"
    };
    let names: Vec<&str> = found.lists().collect();
    let names = names.join(",");
    Ok(format!(
        "{word}\t{}\t{}",
        escape(&names),
        escape(&found.entry()?)
    ))
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
        add_number(name, number, &mut out);
    }
    if let Some(words) = &metadata.words {
        for (name, number) in [
            ("words", words.words),
            ("soft words", words.soft_words),
            ("soft words that list", words.soft_threshold.into()),
            ("substrings", words.substrings),
        ] {
            add_number(name, number, &mut out);
        }
        let row = COLUMNS.row("words in", [words.part.to_string(), String::new()]);
        out += &format!("{}\n", row.trim_end());
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

/// Adds a line with a number.
fn add_number(name: &str, number: u64, out: &mut String) {
    let row = COLUMNS.row(name, [grouped(number), String::new()]);
    *out += &format!("{}\n", row.trim_end());
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
        ("words", Some(counts.words).filter(|words| *words > 0)),
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
