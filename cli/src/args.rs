//! The command line: the verbs with their arguments, and the options of all verbs.

use crate::agents::AgentsArgs;
use crate::annotate::AnnotateArgs;
use crate::audit::AuditArgs;
use crate::bench::BenchArgs;
use crate::captures::CapturesArgs;
use crate::check::CheckArgs;
use crate::compile::CompileArgs;
use crate::diff::DiffArgs;
use crate::due::DueArgs;
use crate::export::ExportArgs;
use crate::filter::FilterArgs;
use crate::help_text::{
    COMMON, COMPLETIONS_EXAMPLES, EXAMPLES, MAN_EXAMPLES, SHORT_EXAMPLES, TEMPLATE,
};
use crate::inputs::refuse_remote;
use crate::inspect::InspectArgs;
use crate::lint::LintArgs;
use crate::lists::ListsArgs;
use crate::numbers::parse_threads;
use crate::report::ReportArgs;
use clap::{ArgAction, ArgMatches, Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;

/// Compile robots.txt archives into a snapshot, and judge any number of URLs with it.
#[derive(Debug, Parser)]
#[command(
    name = "robosieve",
    version,
    arg_required_else_help = true,
    disable_help_flag = true,
    help_template = TEMPLATE,
    after_help = SHORT_EXAMPLES,
    after_long_help = EXAMPLES
)]
pub(crate) struct Cli {
    /// The command.
    #[command(subcommand)]
    pub verb: Verb,
    /// Worker threads (default: one per core)
    ///
    /// At most four per core, or 512 if that is more.
    #[arg(short, long, global = true, value_name = "N", value_parser = parse_threads, help_heading = COMMON, display_order = 900)]
    pub jobs: Option<usize>,
    /// Print no summary and no progress
    #[arg(short, long, global = true, help_heading = COMMON, display_order = 901)]
    pub quiet: bool,
    /// Print help (-h: summary, --help: all)
    #[arg(short, long, global = true, action = ArgAction::Help, help_heading = COMMON, display_order = 902)]
    help: Option<bool>,
}

impl Cli {
    /// Parses the command line, and refuses URLs where paths belong.
    pub(crate) fn read(args: impl IntoIterator<Item = OsString>) -> Result<Self, clap::Error> {
        let mut command = Self::command();
        let matches = command.try_get_matches_from_mut(args)?;
        if let Err(err) = refuse_remote_paths(&matches) {
            return Err(command.error(clap::error::ErrorKind::ValueValidation, err));
        }
        Self::from_arg_matches(&matches).map_err(|err| err.format(&mut command))
    }
}

fn refuse_remote_paths(matches: &ArgMatches) -> anyhow::Result<()> {
    for id in matches.ids() {
        // Arguments of other types are not paths.
        let paths = matches.try_get_many::<PathBuf>(id.as_str()).ok().flatten();
        paths
            .into_iter()
            .flatten()
            .try_for_each(|path| refuse_remote(path))?;
    }
    matches
        .subcommand()
        .map_or(Ok(()), |(_, matches)| refuse_remote_paths(matches))
}

/// The verbs. Deferring builds only the arguments of the called verb, which saves an eighth of the
/// time of `check` on one URL.
// A doc comment on the arguments would replace the description of the verb, so they have plain
// ones.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Verb {
    /// Compile robots.txt archives (WARC, JSONL, directories) into a snapshot
    Compile(CompileArgs),
    /// Write the captures of archives to one file, for later compilations
    Captures(CapturesArgs),
    /// Keep the URLs that agents may fetch
    Filter(FilterArgs),
    /// Add to every line its verdicts, one letter per agent
    Annotate(AnnotateArgs),
    /// Report how much robots.txt files disallow to agents, and why
    Report(ReportArgs),
    /// Find the crawlers in access logs that broke the rules
    Audit(AuditArgs),
    /// Judge single URLs, and explain the verdicts
    Check(CheckArgs),
    /// Find mistakes in robots.txt files, or count those of a snapshot
    Lint(LintArgs),
    /// Show the contents of a snapshot or a captures file, or the entry for one origin
    Inspect(InspectArgs),
    /// Write a snapshot as a table: TSV, CSV, JSON lines or Parquet
    Export(ExportArgs),
    /// Show what changed between two snapshots
    Diff(DiffArgs),
    /// List the robots.txt files to fetch next: of unknown origins, and stale ones
    Due(DueArgs),
    /// List known crawlers, or rank the names in a snapshot's robots.txt files
    Agents(AgentsArgs),
    /// Compile your own lists of domains and URL prefixes, or look URLs up in them
    Lists(ListsArgs),
    /// Time the stages of judging, on your data or on a synthetic web
    Bench(BenchArgs),
    /// Print a shell completion script
    Completions(CompletionsArgs),
    /// Print the man pages, or write them
    Man(ManArgs),
}

impl Verb {
    /// Whether the exit status is an answer, which an incomplete run must not give.
    pub(crate) fn has_answer(&self) -> bool {
        matches!(
            self,
            Self::Check(_)
                | Self::Diff(DiffArgs {
                    exit_code: true,
                    ..
                })
                | Self::Lint(LintArgs { codes: false, .. })
        )
    }
}

#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// The shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
#[command(after_help = MAN_EXAMPLES)]
pub(crate) struct ManArgs {
    /// Print the page of this verb (default: the page of the program)
    #[arg(value_name = "VERB", conflicts_with = "out_dir")]
    pub verb: Option<String>,
    /// Write all pages into this directory, as robosieve.1, robosieve-filter.1 and so on
    ///
    /// The directory is created if needed.
    #[arg(long, value_name = "DIR")]
    pub out_dir: Option<PathBuf>,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[test]
    fn top_level_help_lists_every_verb() {
        let command = Cli::command();
        for verb in command.get_subcommands() {
            let (name, about) = (
                verb.get_name(),
                verb.get_about()
                    .map(ToString::to_string)
                    .unwrap_or_default(),
            );
            let line = format!("\n  {name:<12} {about}\n");
            assert!(TEMPLATE.contains(&line), "{line}");
        }
    }

    /// A user who knows `--json` from one verb must not write over a list with another.
    #[test]
    fn an_option_takes_a_value_in_all_verbs_or_in_none() {
        let mut command = Cli::command();
        command.build();
        let mut takes_value: BTreeMap<String, (bool, String)> = BTreeMap::new();
        for verb in command.get_subcommands() {
            for arg in verb.get_arguments() {
                let aliases = arg.get_all_aliases().unwrap_or_default();
                for name in arg.get_long().into_iter().chain(aliases) {
                    let found = (arg.get_action().takes_values(), verb.get_name().to_owned());
                    let first = takes_value
                        .entry(name.to_owned())
                        .or_insert_with(|| found.clone());
                    assert_eq!(first.0, found.0, "--{name}: {} and {}", first.1, found.1);
                }
            }
        }
        assert!(takes_value.len() > 50, "{takes_value:?}");
    }
}
