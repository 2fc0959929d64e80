//! Filter lists on the command line, as texts (`NAME=LIST`) or compiled before, and their compilation.

use crate::figures::counts::grouped;
use crate::figures::escape::escape;
use crate::help_text::COMMON;
use crate::inputs::refuse_remote;
use crate::stderr::print_line;
use crate::value_enums::named;
use anyhow::{Context, bail};
use clap::{ArgGroup, Args};
use robosieve::filter_lists::{
    CompiledLists, FilterLists, ListCompiler, ListKind, ListReport, WordsIn, is_list_name,
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
    /// How many different soft words list a URL (default: 2, or as in compiled lists)
    #[arg(
        long,
        value_name = "N",
        value_parser = clap::value_parser!(u32).range(1..=i64::from(ListCompiler::MAX_SOFT_THRESHOLD)),
        requires = "soft_words",
        hide_short_help = true,
        help_heading = COMMON
    )]
    pub soft_threshold: Option<u32>,
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
    /// The part of URLs with words and substrings (default: url, or as in compiled lists)
    #[arg(
        long,
        value_name = "PART",
        value_parser = named::<WordsIn>(),
        requires = ANY_WORDS,
        hide_short_help = true,
        help_heading = COMMON
    )]
    pub words_in: Option<WordsIn>,
}

/// Lists on the command line.
pub(crate) enum ListSource {
    Text(NamedList),
    Compiled {
        path: PathBuf,
        lists: Box<FilterLists>,
    },
}

/// A list as a text.
pub(crate) struct NamedList {
    pub name: String,
    pub path: PathBuf,
    pub kind: ListKind,
}

/// Compiled lists, and a report on each that is a text.
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

    /// These lists, and those of the options. Exceptions are last.
    pub(crate) fn sources(
        &self,
        mut sources: Vec<ListSource>,
        blocks: &[OsString],
    ) -> anyhow::Result<Vec<ListSource>> {
        for block in blocks {
            sources.push(ListSource::of(block)?);
        }
        for (lists, kind) in [
            (&self.block_words, ListKind::Words),
            (&self.soft_words, ListKind::SoftWords),
            (&self.block_substrings, ListKind::Substrings),
            (&self.allow, ListKind::Allow),
        ] {
            for list in lists {
                sources.push(ListSource::Text(NamedList::of(list, kind)?));
            }
        }
        refuse_equal_names(&sources)?;
        let standard_inputs = sources
            .iter()
            .filter(|source| is_standard_stream(source.path()));
        if standard_inputs.count() > 1 {
            bail!("standard input is named twice; write one of the lists to a file");
        }
        Ok(sources)
    }

    /// Compiles lists. Warns of lines that are not entries, or fails because of them.
    pub(crate) fn compile(&self, sources: &[ListSource]) -> anyhow::Result<CompiledTexts> {
        let mut compiler = ListCompiler::new().allow_suffixes(self.allow_suffixes);
        if let Some(threshold) = self.soft_threshold {
            compiler = compiler.soft_threshold(threshold);
        }
        if let Some(part) = self.words_in {
            compiler = compiler.words_in(part);
        }
        let mut reports = Vec::new();
        for source in sources {
            match source {
                ListSource::Text(list) => {
                    let report = compiler.add_path(&list.name, list.kind, &list.path)?;
                    report_defects(list, &report, self.strict_lists)?;
                    reports.push(report);
                }
                ListSource::Compiled { lists, .. } => {
                    compiler.add_compiled(lists)?;
                }
            }
        }
        Ok(CompiledTexts {
            compiled: compiler.finish()?,
            reports,
        })
    }
}

impl ListSource {
    /// The lists of an argument without an option: `NAME=LIST`, `LIST`, or compiled lists.
    fn of(argument: &OsStr) -> anyhow::Result<Self> {
        let path = Path::new(argument);
        if is_compiled(path)? {
            return Self::open(path);
        }
        NamedList::of(argument, ListKind::Block).map(Self::Text)
    }

    /// Opens compiled lists.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        Ok(Self::Compiled {
            path: path.to_owned(),
            lists: Box::new(FilterLists::open(path)?),
        })
    }

    pub(crate) fn path(&self) -> &Path {
        match self {
            Self::Text(list) => &list.path,
            Self::Compiled { path, .. } => path,
        }
    }

    /// The names of its lists.
    fn names(&self) -> Vec<&str> {
        match self {
            Self::Text(list) => vec![&list.name],
            Self::Compiled { lists, .. } => {
                let lists = lists.metadata().lists.iter();
                lists.map(|list| list.name.as_str()).collect()
            }
        }
    }
}

/// Refuses two lists of one name, which no count or column could tell apart.
fn refuse_equal_names(sources: &[ListSource]) -> anyhow::Result<()> {
    let mut seen: HashMap<&str, &ListSource> = HashMap::new();
    for source in sources {
        for name in source.names() {
            let Some(other) = seen.insert(name, source) else {
                continue;
            };
            let remedy = match (other, source) {
                (ListSource::Compiled { .. }, ListSource::Compiled { .. }) => {
                    "compile one of them again, with other names"
                }
                _ => "give each its own with NAME=LIST",
            };
            bail!(
                "{} and {} have the name {}; {remedy}",
                other.path().display(),
                source.path().display(),
                escape(name)
            );
        }
    }
    Ok(())
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
