//! `robosieve annotate`: every line with its verdicts.

use super::args::{AnnotateArg, AnnotateArgs};
use super::job::{Annotation, Places, Task, What};
use super::run::Run;
use super::summary::print_agents;
use anyhow::bail;
use std::path::Path;

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
    let places = Places { main, ..Places::default() };
    let (snapshot, judge, many, from) = (&args.snapshot, &args.judge, &args.many, &args.from);
    Run { snapshot, judge, many, from, task, places, quiet }.perform(|stats, agents| {
        // The counts of one agent are those of the lines.
        if agents.len() > 1 {
            print_agents(stats, agents);
        }
    })
}
