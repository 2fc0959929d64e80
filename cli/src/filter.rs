//! `robosieve filter`: keeps the lines that agents may fetch.

use crate::figures::counts::{counted, counted_as};
use crate::help_text::{COMMON, FILTER_EXAMPLES, FILTER_SHORT};
use crate::judge_args::any_agent;
use crate::judge_job::{Action, JobPaths, Selection};
use crate::judge_run::JudgeRunArgs;
use crate::list_args::{ANY_LIST, adapt, source_required};
use crate::stderr::print_line;
use crate::summary::reason_counts;
use crate::value_enums::{listing_values, named};
use anyhow::bail;
use clap::Args;
use robosieve::job::{AddedColumn, FilterStats, Keep, Require};
use robosieve::judge::Reason;
use std::path::PathBuf;

const ADD_LONG: &str = "Add columns or keys to the disallowed lines

The values are those of `annotate --add`. Tables and Parquet files get columns, JSON lines keys, \
                        and other lines columns in front with a TAB after each, in the order given. The \
                        disallowed lines are those of --disallowed-to, or of -o with --keep disallowed.";

#[derive(Debug, Args)]
#[command(
    after_help = FILTER_SHORT,
    after_long_help = FILTER_EXAMPLES,
    group = any_agent(),
    group = source_required(),
    mut_arg("stats_json", |arg| arg.help_heading(COMMON)),
    mut_args(adapt)
)]
pub(crate) struct FilterArgs {
    #[command(flatten)]
    pub run: JudgeRunArgs,
    /// Keep allowed or disallowed lines
    #[arg(
        long,
        value_parser = named::<Keep>(),
        default_value_t = Keep::Allowed,
        hide_possible_values = true,
        help_heading = COMMON
    )]
    pub keep: Keep,
    /// Required agents: all or any
    ///
    /// A line is kept if all agents have the verdict of --keep, or with `any` at least one.
    #[arg(
        long,
        value_parser = named::<Require>(),
        default_value_t = Require::All,
        hide_possible_values = true,
        help_heading = COMMON
    )]
    pub require: Require,
    /// Keep only lines with these reasons of their verdict (rules,last-good-copy)
    ///
    /// The policy for HTTP errors disallows the URLs of failing sites, so disallowed lines are not
    /// all disallowed by a rule. Lines with the verdict of --keep and another reason are not
    /// written; the summary counts them. --disallowed-to has lines of all reasons.
    #[arg(
        long,
        value_parser = named::<Reason>(),
        value_name = "REASON,…",
        value_delimiter = ',',
        hide_short_help = true,
        help_heading = COMMON
    )]
    pub reason: Vec<Reason>,
    /// Write kept lines here (default: stdout)
    ///
    /// The extensions .gz and .zst compress. Records of WARC files are copied with their gzip
    /// members; in a .gz file, other records become one member each.
    #[arg(short, long, value_name = "FILE", help_heading = COMMON)]
    pub output: Option<PathBuf>,
    /// Write the disallowed lines here
    ///
    /// With --out-dir, this is a directory.
    #[arg(long, value_name = "FILE", help_heading = COMMON)]
    pub disallowed_to: Option<PathBuf>,
    /// Add columns or keys to the disallowed lines (reason,rule)
    #[arg(
        long,
        value_parser = named::<AddedColumn>(),
        value_name = "NAME,…",
        value_delimiter = ',',
        hide_possible_values = true,
        hide_short_help = true,
        long_help = listing_values::<AddedColumn>(ADD_LONG),
        help_heading = COMMON
    )]
    pub disallowed_add: Vec<AddedColumn>,
    /// Write the lines of unknown origins here
    ///
    /// With --out-dir, this is a directory.
    #[arg(long, value_name = "FILE", hide_short_help = true, help_heading = COMMON)]
    pub unknown_to: Option<PathBuf>,
    /// Write the lines that are not URLs here
    ///
    /// With --out-dir, this is a directory.
    #[arg(long, value_name = "FILE", hide_short_help = true, help_heading = COMMON)]
    pub invalid_to: Option<PathBuf>,
    /// Write the lines that a list names here
    ///
    /// Whatever their robots.txt says. With --out-dir, this is a directory.
    #[arg(long, value_name = "FILE", requires = ANY_LIST, help_heading = COMMON)]
    pub listed_to: Option<PathBuf>,
    /// Write an offset index of the kept WARC records here (CDXJ)
    ///
    /// With --out-dir, this is a directory. Entries are in the order of the output; `LC_ALL=C sort`
    /// sorts them.
    #[arg(long, value_name = "FILE", hide_short_help = true, help_heading = COMMON)]
    pub cdxj: Option<PathBuf>,
}

pub(crate) fn run(args: &FilterArgs, quiet: bool) -> anyhow::Result<()> {
    if args.keep == Keep::Disallowed && args.disallowed_to.is_some() {
        bail!(
            "--keep disallowed writes the disallowed lines to the output already; leave \
             --disallowed-to out"
        );
    }
    if !args.disallowed_add.is_empty() && args.keep == Keep::Allowed && args.disallowed_to.is_none()
    {
        bail!(
            "--disallowed-add adds columns to the disallowed lines, and no output has them; name \
             one with --disallowed-to, or keep these lines with --keep disallowed"
        );
    }
    if args.reason.contains(&Reason::NotAUrl) {
        bail!(
            "--reason not-a-url: a line that is not a URL has no verdict, so it is never kept; \
             --invalid-to FILE writes these lines"
        );
    }
    let outputs = JobPaths {
        main: args.output.clone(),
        disallowed: args.disallowed_to.clone(),
        unknown: args.unknown_to.clone(),
        invalid: args.invalid_to.clone(),
        listed: args.listed_to.clone(),
        cdxj: args.cdxj.clone(),
        of_directory: false,
    };
    let action = Action::Filter(Selection {
        keep: args.keep,
        require: args.require,
        reasons: args.reason.clone(),
        added: args.disallowed_add.clone(),
    });
    args.run
        .perform(action, outputs, quiet, |stats, _| print_hints(args, stats))
}

/// Says which lines were not written, and which options keep or write them.
fn print_hints(args: &FilterArgs, stats: &FilterStats) {
    if !args.reason.is_empty() {
        let is_left = |reason: &Reason| !args.reason.contains(reason);
        let counts = reason_counts(stats, args.keep, is_left);
        if let Some(left) = counts {
            print_line(format_args!(
                "not written: {} lines with other reasons ({left})",
                args.keep
            ));
        }
    }
    if stats.unknown > 0 && args.unknown_to.is_none() {
        let verdict = args.keep.unknown_origin();
        print_line(format_args!(
            "not written: {} of unknown origins (--unknown {verdict} keeps, --unknown-to FILE \
             writes them)",
            counted(stats.unknown, "line")
        ));
    }
    if stats.listed() > 0 && args.listed_to.is_none() {
        print_line(format_args!(
            "not written: {} (--listed-to FILE writes them)",
            counted_as(
                stats.listed(),
                "line that a list names",
                "lines that a list names"
            )
        ));
    }
    if stats.invalid > 0 && args.invalid_to.is_none() {
        print_line(format_args!(
            "not written: {} (--invalid-to FILE writes them)",
            counted_as(
                stats.invalid,
                "line that is not a URL",
                "lines that are not URLs"
            )
        ));
    }
}
