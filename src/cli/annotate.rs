//! `robosieve annotate`: every line with its verdicts.

use super::choices::AnnotateArg;
use super::examples::ANNOTATE_EXAMPLES;
use super::inputs::InputArgs;
use super::judging::{JudgeArgs, agents_needed};
use super::many::ManyArgs;
use super::parquet::NameArgs;
use super::records::RecordArgs;
use super::run::Run;
use super::snapshot::VerifyArgs;
use super::summary::print_agents;
use super::task::{Annotation, Places, Task, What};
use anyhow::bail;
use clap::Args;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(after_help = ANNOTATE_EXAMPLES, group = agents_needed())]
pub(crate) struct AnnotateArgs {
    /// The snapshot
    #[arg(short, long, value_name = "SNAP")]
    pub snapshot: PathBuf,
    #[command(flatten)]
    pub verify: VerifyArgs,
    #[command(flatten)]
    pub judge: JudgeArgs,
    #[command(flatten)]
    pub records: RecordArgs,
    /// What to write for each line (default: letters), or add to each row of a Parquet file (default: bits)
    #[arg(long = "as", value_enum, value_name = "FORM")]
    pub form: Option<AnnotateArg>,
    /// Add what each site prefers about the use of the URL's content, by the fields content-usage and content-signal of its robots.txt
    #[arg(long)]
    pub preferences: bool,
    /// Write the lines here (default: standard output); .gz and .zst compress
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub many: ManyArgs,
    #[command(flatten)]
    pub name: NameArgs,
    #[command(flatten)]
    pub from: InputArgs,
}

pub(crate) fn run(args: &AnnotateArgs, quiet: bool) -> anyhow::Result<()> {
    if args.preferences && args.form == Some(AnnotateArg::Mask) {
        bail!("--as mask has no place for --preferences; take letters or jsonl");
    }
    let dir = args.many.dir(args.output.as_deref())?;
    let main = dir.map(Path::to_owned).or_else(|| args.output.clone());
    let task = Task {
        what: What::Annotate(Annotation {
            form: args.form,
            name: args.name.as_name.clone(),
            preferences: args.preferences,
        }),
        records: args.records.options(),
    };
    let places = Places { main, of_directory: dir.is_some(), ..Places::default() };
    let (snapshot, verify, judge, many, from) = (&args.snapshot, &args.verify, &args.judge, &args.many, &args.from);
    Run { snapshot, verify, judge, many, from, task, places, quiet }.perform(|stats, agents| {
        // The counts of one agent are those of the lines.
        if agents.len() > 1 {
            print_agents(stats, agents);
        }
    })
}
