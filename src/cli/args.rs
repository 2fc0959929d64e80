//! The command line as a whole: its verbs, each with the arguments that stand beside it.

use super::agents::AgentsArgs;
use super::annotate::AnnotateArgs;
use super::bench::BenchArgs;
use super::check::CheckArgs;
use super::compile::CompileArgs;
use super::diff::DiffArgs;
use super::examples::{COMPLETIONS_EXAMPLES, EXAMPLES, MAN_EXAMPLES};
use super::filter::FilterArgs;
use super::inputs::refuse_remote;
use super::inspect::InspectArgs;
use super::numbers::parse_threads;
use super::report::ReportArgs;
use clap::{ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::path::PathBuf;

/// Compile robots.txt archives into a snapshot, and judge any number of URLs by it.
#[derive(Debug, Parser)]
#[command(name = "robosieve", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
    /// Worker threads (default: one for each core; at most four for each core, or 512 if that is
    /// more).
    #[arg(short, long, global = true, value_name = "N", value_parser = parse_threads)]
    pub jobs: Option<usize>,
    /// Print no summary and no progress.
    #[arg(short, long, global = true)]
    pub quiet: bool,
}

impl Cli {
    /// Reads the command line, and refuses the URLs of files elsewhere wherever a path is expected.
    pub(crate) fn read() -> Result<Self, clap::Error> {
        let mut command = Self::command();
        let matches = command.try_get_matches_from_mut(std::env::args_os())?;
        if let Err(err) = refuse_remote_paths(&matches) {
            return Err(command.error(clap::error::ErrorKind::ValueValidation, err));
        }
        Self::from_arg_matches(&matches).map_err(|err| err.format(&mut command))
    }
}

fn refuse_remote_paths(matches: &ArgMatches) -> anyhow::Result<()> {
    for id in matches.ids() {
        // All other types of arguments are none of its business.
        let paths = matches.try_get_many::<PathBuf>(id.as_str()).ok().flatten();
        paths.into_iter().flatten().try_for_each(|path| refuse_remote(path))?;
    }
    matches.subcommand().map_or(Ok(()), |(_, matches)| refuse_remote_paths(matches))
}

/// The verbs. Only the arguments of the one that is called are made: that takes an eighth off the time of `check` on one URL.
// A doc comment on arguments would take the place of the verb's description, so they have plain ones.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Verb {
    /// Compile robots.txt archives (WARC, JSONL, directories) into a snapshot
    Compile(CompileArgs),
    /// Keep the URLs that agents may fetch
    Filter(FilterArgs),
    /// Give every line its verdicts, one letter an agent: A allowed, D disallowed, U unknown origin, I not a URL
    Annotate(AnnotateArgs),
    /// Tell how much agents are refused, and why: by a snapshot, or for lists of URLs
    Report(ReportArgs),
    /// Judge single URLs, and say why
    Check(CheckArgs),
    /// Show what a snapshot holds, in all or of one origin
    Inspect(InspectArgs),
    /// Tell what changed from one snapshot to another: origins, rules, agents newly refused or allowed
    Diff(DiffArgs),
    /// List the crawlers that are known, or rank the names in a snapshot's robots.txt files
    Agents(AgentsArgs),
    /// Time the judging stage by stage, of your URLs by your snapshot or of a synthetic web
    Bench(BenchArgs),
    /// Print what makes a shell complete verbs, options and their values
    Completions(CompletionsArgs),
    /// Print the manual as man pages, or write them
    Man(ManArgs),
}

impl Verb {
    /// Whether the exit status is an answer, which a run that was cut short must not give.
    pub(crate) fn has_answer(&self) -> bool {
        matches!(self, Self::Check(_) | Self::Diff(DiffArgs { exit_code: true, .. }))
    }
}

#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// Which shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
#[command(after_help = MAN_EXAMPLES)]
pub(crate) struct ManArgs {
    /// The verb to print the page of (default: the page on the whole)
    #[arg(value_name = "VERB", conflicts_with = "out_dir")]
    pub verb: Option<String>,
    /// Write all pages into this directory, as robosieve.1, robosieve-filter.1 and so on; made if it is not there
    #[arg(long, value_name = "DIR")]
    pub out_dir: Option<PathBuf>,
}
