//! `robosieve annotate`: adds verdicts to every line.

use super::help_text::{ANNOTATE_EXAMPLES, ANNOTATE_SHORT, COMMON};
use super::inputs::InputArgs;
use super::judge_args::{JudgeArgs, agent_required};
use super::judge_run::JudgeRun;
use super::judge_task::{Action, Annotation, JudgeTask, OutputPaths};
use super::out_dir::OutDirArgs;
use super::record_args::RecordArgs;
use super::summary::print_agents;
use super::value_enums::AnnotateArg;
use super::verify_args::VerifyArgs;
use anyhow::bail;
use clap::Args;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(after_help = ANNOTATE_SHORT, after_long_help = ANNOTATE_EXAMPLES, group = agent_required())]
pub(crate) struct AnnotateArgs {
    /// The snapshot
    #[arg(short, long, value_name = "SNAP", help_heading = COMMON)]
    pub snapshot: PathBuf,
    #[command(flatten)]
    pub verify: VerifyArgs,
    #[command(flatten)]
    pub judge: JudgeArgs,
    /// Form of verdicts
    ///
    /// The default is letters, and bits for Parquet files.
    #[arg(long = "as", value_enum, value_name = "FORM", help_heading = COMMON)]
    pub form: Option<AnnotateArg>,
    /// Write the lines here (default: stdout)
    ///
    /// The extensions .gz and .zst compress. A record of a WARC file becomes a line.
    #[arg(short, long, value_name = "FILE", help_heading = COMMON)]
    pub output: Option<PathBuf>,
    /// Add the site's statements on content use
    ///
    /// The statements are the fields content-usage and content-signal of its robots.txt.
    #[arg(long, help_heading = COMMON)]
    pub preferences: bool,
    /// Name of the Parquet column of bits, or name prefix of the columns per agent
    ///
    /// The defaults are robots_allowed and robots_.
    #[arg(long, value_name = "NAME", help_heading = COMMON, hide_short_help = true)]
    pub as_name: Option<String>,
    #[command(flatten)]
    pub records: RecordArgs,
    #[command(flatten)]
    pub out_dir: OutDirArgs,
    #[command(flatten)]
    pub inputs: InputArgs,
}

pub(crate) fn run(args: &AnnotateArgs, quiet: bool) -> anyhow::Result<()> {
    if args.preferences && args.form == Some(AnnotateArg::Mask) {
        bail!("--as mask cannot hold --preferences; use --as letters or jsonl");
    }
    let dir = args.out_dir.dir(args.output.as_deref())?;
    let main = dir.map(Path::to_owned).or_else(|| args.output.clone());
    let action = Action::Annotate(Annotation {
        form: args.form,
        name: args.as_name.clone(),
        preferences: args.preferences,
    });
    let task = JudgeTask {
        action,
        records: args.records.options(),
    };
    let paths = OutputPaths {
        main,
        of_directory: dir.is_some(),
        ..OutputPaths::default()
    };
    let AnnotateArgs {
        snapshot,
        verify,
        judge,
        out_dir,
        inputs,
        ..
    } = args;
    JudgeRun {
        snapshot,
        verify,
        judge,
        out_dir,
        inputs,
        task,
        paths,
        quiet,
    }
    .perform(|stats, agents| {
        // The counts of a single agent equal those of the lines.
        if agents.len() > 1 {
            print_agents(stats, agents);
        }
    })
}
