//! The options that ask filter lists: next to a snapshot or, in `filter` and `annotate`, alone.

use crate::help_text::COMMON;
use crate::list_texts::{CompiledTexts, ListSource, ListTextArgs, is_compiled};
use crate::option_guard::OptionGuard;
use anyhow::bail;
use clap::{Arg, ArgGroup, Args};
use robosieve::filter_lists::FilterLists;
use robosieve::output::is_standard_stream;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The group of the options that name lists.
pub(crate) const ANY_LIST: &str = "any-list";

/// The options of that group.
const LIST_OPTIONS: [&str; 5] = [
    "lists",
    "block",
    "block_words",
    "soft_words",
    "block_substrings",
];

// Shared by the verbs that judge URLs.
#[derive(Debug, Args)]
#[command(group = ArgGroup::new(ANY_LIST).args(LIST_OPTIONS).multiple(true))]
pub(crate) struct ListArgs {
    /// Own lists, compiled by `robosieve lists`
    ///
    /// `filter` keeps no URL that a list names, whatever its robots.txt says. `annotate` and
    /// `check` show the lists and the entry that name a URL. The lists join a snapshot; `filter`
    /// and `annotate` also work with lists alone. Repeat the option for each further file. Several
    /// files, or one with --block, --allow or words, are compiled together for this run, which takes
    /// seconds for millions of entries; `robosieve lists` does it once.
    #[arg(
        long,
        value_name = "FILE",
        help_heading = COMMON
    )]
    pub lists: Vec<PathBuf>,
    /// Own list as a text: domains, hosts and URL prefixes
    ///
    /// `robosieve lists --help` has the forms of its lines. It is compiled for this run; compile a
    /// list of millions once, for --lists. NAME is the name of the list in counts and values.
    /// Repeat the option for each further list.
    #[arg(
        long,
        value_name = "[NAME=]LIST",
        value_parser = clap::value_parser!(OsString),
        help_heading = COMMON
    )]
    pub block: Vec<OsString>,
    #[command(flatten)]
    pub texts: ListTextArgs,
}

/// Opened lists, and the files that they come from.
pub(crate) struct OwnLists {
    pub lists: FilterLists,
    paths: Vec<PathBuf>,
}

impl ListArgs {
    /// Whether any list is named.
    pub(crate) fn are_named(&self) -> bool {
        !self.lists.is_empty() || !self.block.is_empty() || self.texts.have_words()
    }

    /// Opens or compiles the lists; `None` if none is named. Standard input may be taken by another
    /// file.
    pub(crate) fn open(
        &self,
        is_verified: bool,
        is_standard_input_taken: bool,
    ) -> anyhow::Result<Option<OwnLists>> {
        if self.lists.iter().any(is_standard_stream) {
            bail!("--lists -: compiled lists are mapped into memory; write them to a file first");
        }
        if let [path] = &self.lists[..]
            && self.block.is_empty()
            && !self.texts.is_any_given()
        {
            let lists = FilterLists::open(path)?;
            if is_verified {
                lists.verify_checksums()?;
            }
            let paths = vec![path.clone()];
            return Ok(Some(OwnLists { lists, paths }));
        }
        if !self.are_named() {
            return Ok(None);
        }
        for block in &self.block {
            if is_compiled(Path::new(block))? {
                let shown = Path::new(block).display();
                bail!("{shown}: compiled lists; give them with --lists FILE");
            }
        }
        let compiled = self.lists.iter().map(|path| ListSource::open(path));
        let compiled = compiled.collect::<anyhow::Result<_>>()?;
        let sources = self.texts.sources(compiled, &self.block)?;
        let paths: Vec<PathBuf> = sources
            .iter()
            .map(|source| source.path().to_owned())
            .collect();
        if is_standard_input_taken && paths.iter().any(is_standard_stream) {
            bail!(
                "a list and another file are both standard input, which can be read once only; write one \
                 of them to a file"
            );
        }
        let CompiledTexts { compiled, .. } = self.texts.compile(&sources)?;
        Ok(Some(OwnLists {
            lists: FilterLists::new(compiled.to_vec()?)?,
            paths,
        }))
    }
}

impl OwnLists {
    /// The names of the lists, in the order of their counts.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let lists = self.lists.metadata().lists.iter();
        lists.map(|list| list.name.as_str())
    }

    /// The files of compiled lists, and the texts.
    pub(crate) fn paths(&self) -> impl Iterator<Item = &Path> {
        self.paths.iter().map(PathBuf::as_path)
    }

    /// Protects the files that the lists come from.
    pub(crate) fn guard(&self, guard: OptionGuard) -> OptionGuard {
        guard.add_inputs("a list", &self.paths)
    }
}

/// A snapshot or lists: what decides about URLs.
pub(crate) fn source_required() -> ArgGroup {
    ArgGroup::new("source")
        .arg("snapshot")
        .args(LIST_OPTIONS)
        .multiple(true)
        .required(true)
}

/// The options that mean nothing if lists alone decide.
const OF_SNAPSHOTS: &[&str] = &[
    "agents",
    "agents_from",
    "crawlers",
    "agent_match",
    "strict_agents",
    "status_policy",
    "scheme",
    "unknown",
    "as_of",
    "as_of_column",
    "as_of_record",
    "no_time",
    "keep",
    "require",
    "reason",
    "disallowed_to",
    "disallowed_add",
    "unknown_to",
    "preferences",
];

/// Adapts an option of `filter` or `annotate`: such options ask for a snapshot, and a snapshot asks
/// for agents. Hides some from the short help, which fits a screen.
pub(crate) fn adapt(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "snapshot" => arg.requires("agent-required"),
        "at" => arg.requires("snapshot").hide_short_help(true),
        "files_from" => arg.hide_short_help(true),
        id if OF_SNAPSHOTS.contains(&id) => arg.requires("snapshot"),
        _ => adapt_texts(arg),
    }
}

/// Adapts an option of a verb that takes lists as texts with `--block`.
pub(crate) fn adapt_texts(arg: Arg) -> Arg {
    match arg.get_id().as_str() {
        "allow" | "allow_suffixes" | "strict_lists" => arg.requires(ANY_LIST).hide_short_help(true),
        _ => arg,
    }
}
