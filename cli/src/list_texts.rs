//! Filter lists as texts, named on the command line as `NAME=LIST`, and their compilation.

use crate::figures::counts::grouped;
use crate::figures::escape::escape;
use crate::help_text::COMMON;
use crate::inputs::refuse_remote;
use crate::stderr::print_line;
use crate::value_enums::named;
use anyhow::{Context, bail};
use clap::{ArgGroup, Args};
use robosieve::filter_lists::{
    CompiledLists, ListCompiler, ListKind, ListReport, WordsIn, is_list_name,
};
use robosieve::output::is_standard_stream;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// The group of the options that name lists of words.
pub(crate) const ANY_WORDS: &str = "any-words";

// Shared by the verbs that compile lists.
#[derive(Debug, Args)]
#[command(
    group = ArgGroup::new(ANY_WORDS)
        .args(["block_words", "soft_words", "block_substrings"])
        .multiple(true)
)]
pub(crate) struct ListTextArgs {
    /// A list whose entries are exceptions; repeat the option for more
    ///
    /// An exception wins against an entry that is no more specific: of a host with as many labels
    /// or fewer, and there of a path that is as long or shorter.
    #[arg(
        long,
        value_name = "[NAME=]LIST",
        value_parser = clap::value_parser!(OsString),
        help_heading = COMMON
    )]
    pub allow: Vec<OsString>,
    /// Accept public suffixes such as `com` and `co.uk` as domains
    ///
    /// A line that lists one is nearly always a mistake, so it is skipped with a warning.
    #[arg(long, hide_short_help = true, help_heading = COMMON)]
    pub allow_suffixes: bool,
    /// Fail if a line is not an entry, or if a list has no entry
    ///
    /// Without this option, such lines are skipped and counted, and the first ones are named. A list
    /// without entries, such as an empty file, gets a warning.
    #[arg(long, hide_short_help = true, help_heading = COMMON)]
    pub strict_lists: bool,
    /// A list of words; a URL that has one is listed
    ///
    /// One word of ASCII letters and digits per line. It counts where it stands between other
    /// characters, anywhere after the scheme, in any case and also with percent escapes. Entries for
    /// hosts and paths decide first, so that an exception takes a URL off the words too.
    #[arg(
        long,
        value_name = "[NAME=]LIST",
        value_parser = clap::value_parser!(OsString),
        hide_short_help = true,
        help_heading = COMMON
    )]
    pub block_words: Vec<OsString>,
    /// A list of soft words; a URL that has several is listed
    ///
    /// As --block-words, but a URL needs --soft-threshold different ones.
    #[arg(
        long,
        value_name = "[NAME=]LIST",
        value_parser = clap::value_parser!(OsString),
        hide_short_help = true,
        help_heading = COMMON
    )]
    pub soft_words: Vec<OsString>,
    /// How many different soft words list a URL
    #[arg(
        long,
        value_name = "N",
        default_value_t = 2,
        value_parser = clap::value_parser!(u32).range(1..=i64::from(ListCompiler::MAX_SOFT_THRESHOLD)),
        requires = "soft_words",
        hide_short_help = true,
        help_heading = COMMON
    )]
    pub soft_threshold: u32,
    /// A list of texts; a URL that has one anywhere is listed
    ///
    /// Characters other than ASCII letters and digits are removed from both first: `big win` is in
    /// `/BIG-WIN-2026` and in `/abigwinner`.
    #[arg(
        long,
        value_name = "[NAME=]LIST",
        value_parser = clap::value_parser!(OsString),
        hide_short_help = true,
        help_heading = COMMON
    )]
    pub block_substrings: Vec<OsString>,
    /// The part of URLs in which words and substrings are looked for
    #[arg(
        long,
        value_name = "PART",
        value_parser = named::<WordsIn>(),
        default_value_t = WordsIn::Url,
        requires = ANY_WORDS,
        hide_short_help = true,
        help_heading = COMMON
    )]
    pub words_in: WordsIn,
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
        !self.allow.is_empty() || self.allow_suffixes || self.strict_lists || self.have_words()
    }

    /// Whether a list of words is named.
    pub(crate) fn have_words(&self) -> bool {
        let lists = [&self.block_words, &self.soft_words, &self.block_substrings];
        lists.iter().any(|lists| !lists.is_empty())
    }

    /// These lists, and those of the options, with their names. Exceptions are last.
    pub(crate) fn with_names(&self, blocks: &[OsString]) -> anyhow::Result<Vec<NamedList>> {
        let by_kind = [
            (blocks, ListKind::Block),
            (&self.block_words, ListKind::Words),
            (&self.soft_words, ListKind::SoftWords),
            (&self.block_substrings, ListKind::Substrings),
            (&self.allow, ListKind::Allow),
        ];
        let mut named: Vec<NamedList> = Vec::new();
        let mut numbers: HashMap<String, usize> = HashMap::new();
        let arguments = by_kind.into_iter();
        for (argument, kind) in
            arguments.flat_map(|(lists, kind)| lists.iter().map(move |list| (list, kind)))
        {
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
        let mut compiler = ListCompiler::new()
            .allow_suffixes(self.allow_suffixes)
            .soft_threshold(self.soft_threshold)
            .words_in(self.words_in);
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
        if report.entries + report.cancellations > 0 {
            return Ok(());
        }
        // An empty file is what a failed download leaves.
        if is_strict {
            bail!("{shown}: the list has no entry; remove it, or leave --strict-lists out");
        }
        print_line(format_args!(
            "robosieve: warning: {}: the list has no entry",
            escape(&shown.to_string())
        ));
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
    let verb = if lines == 1 { "is" } else { "are" };
    let message = format!("{shown}: {what} and {verb} skipped: {examples}");
    print_line(format_args!("robosieve: warning: {}", escape(&message)));
    Ok(())
}
