//! `robosieve annotate`: adds verdicts to every line.

use crate::help_text::{ANNOTATE_EXAMPLES, ANNOTATE_SHORT, COMMON};
use crate::judge_args::any_agent;
use crate::judge_job::{Action, Annotation, JobPaths};
use crate::judge_run::JudgeRunArgs;
use crate::list_args::{adapt, source_required};
use crate::summary::print_agents;
use crate::value_enums::{listing_values, named};
use anyhow::bail;
use clap::Args;
use robosieve::job::{AddedColumn, Form};
use std::path::PathBuf;

const FORM_LONG: &str = "Form of verdicts

The default is letters, and bits for Parquet files.";

const ADD_LONG: &str = "Add keys or columns

JSON lines (--as jsonl) get keys after the verdicts, and tables (--as csv) and Parquet files columns. \
                        Several names are separated by commas, and written in the order given.";

#[derive(Debug, Args)]
#[command(
    after_help = ANNOTATE_SHORT,
    after_long_help = ANNOTATE_EXAMPLES,
    group = any_agent(),
    group = source_required(),
    mut_arg("stats_json", |arg| arg.help_heading(COMMON)),
    mut_args(adapt)
)]
pub(crate) struct AnnotateArgs {
    #[command(flatten)]
    pub run: JudgeRunArgs,
    /// Form of verdicts: letters, jsonl, csv, mask, bits or int8
    #[arg(
        long = "as",
        value_parser = named::<Form>(),
        value_name = "FORM",
        hide_possible_values = true,
        long_help = listing_values::<Form>(FORM_LONG),
        help_heading = COMMON
    )]
    pub form: Option<Form>,
    /// Write the lines here (default: stdout)
    ///
    /// The extensions .gz and .zst compress. A record of a WARC file becomes a line.
    #[arg(short, long, value_name = "FILE", help_heading = COMMON)]
    pub output: Option<PathBuf>,
    /// Add keys or columns (origin,reason,rule,list)
    #[arg(
        long,
        value_parser = named::<AddedColumn>(),
        value_name = "NAME,…",
        value_delimiter = ',',
        hide_possible_values = true,
        long_help = listing_values::<AddedColumn>(ADD_LONG),
        help_heading = COMMON
    )]
    pub add: Vec<AddedColumn>,
    /// Add the site's statements on content use
    ///
    /// The statements are the fields content-usage, content-signal and license of its robots.txt,
    /// and header fields of WARC responses.
    #[arg(long, help_heading = COMMON)]
    pub preferences: bool,
    /// Name of the Parquet column of bits, or of the JSON key, or name prefix of the columns per agent
    ///
    /// The defaults are robots_allowed, robots and robots_. The keys and columns of --add begin with
    /// it too.
    #[arg(long, value_name = "NAME", help_heading = COMMON, hide_short_help = true)]
    pub as_name: Option<String>,
}

pub(crate) fn run(args: &AnnotateArgs, quiet: bool) -> anyhow::Result<()> {
    let writes_lists = [AddedColumn::List, AddedColumn::Entry]
        .iter()
        .any(|column| args.add.contains(column));
    if args.run.lists.are_named() && !writes_lists {
        bail!(
            "the verdicts are those of the robots.txt alone, so nothing would show the lists; write \
             them with --add list,entry (of lines with --as jsonl), or use `filter`"
        );
    }
    let action = Action::Annotate(Annotation {
        form: args.form,
        name: args.as_name.clone(),
        added: args.add.clone(),
        preferences: args.preferences,
    });
    let outputs = JobPaths {
        main: args.output.clone(),
        ..JobPaths::default()
    };
    args.run.perform(action, outputs, quiet, |stats, agents| {
        // The counts of a single agent equal those of the lines.
        if agents.len() > 1 {
            print_agents(stats, agents);
        }
    })
}
