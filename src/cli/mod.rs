//! The command line: one verb a file. Data goes to stdout, all else to stderr.

mod agents;
mod annotate;
mod args;
mod bench;
mod check;
mod choices;
mod compile;
mod completions;
mod diff;
mod escape;
mod examples;
mod filter;
mod inputs;
mod inspect;
mod job;
mod judging;
mod man;
mod many;
mod numbers;
mod output;
mod parquet;
mod progress;
mod records;
mod report;
mod run;
mod summary;
mod task;
mod time;
mod who;

use args::{Cli, Verb};
use clap::Parser;
use escape::{escape, escape_lines};
use robosieve::Error;
use std::borrow::Cow;
use std::io;
use std::process::ExitCode;

/// Runs the command: exit code 0 for done, 1 for `check`'s "disallowed" and `diff --exit-code`'s "they differ", 2 for any error.
pub(crate) fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(err) => {
            print_usage(&err);
            return if err.use_stderr() { ExitCode::from(2) } else { ExitCode::SUCCESS };
        }
    };
    match dispatch(cli) {
        Ok(code) => code,
        Err(err) if is_broken_pipe(&err) => ExitCode::SUCCESS,
        Err(err) => {
            // Every error passes here, so names and texts in messages are escaped once.
            eprintln!("robosieve: {}", escape(&format!("{err:#}")));
            ExitCode::from(2)
        }
    }
}

/// Prints help, or what is wrong with the arguments. These may come from file names (`robosieve
/// check *`), so what is unsafe is escaped, at the cost of the colours.
fn print_usage(err: &clap::Error) {
    let text = err.render().to_string();
    match escape_lines(&text) {
        Cow::Owned(escaped) if err.use_stderr() => eprint!("{escaped}"),
        // Printing fails only where there is nobody to tell.
        _ => drop(err.print()),
    }
}

fn dispatch(Cli { verb, jobs, quiet }: Cli) -> anyhow::Result<ExitCode> {
    if matches!(verb, Verb::Check(_)) {
        // Single URLs are answered before threads would have begun, and nothing is written.
        return perform(verb, quiet);
    }
    clean_up_when_interrupted();
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs.unwrap_or(0)).build()?;
    pool.install(|| perform(verb, quiet))
}

/// Ctrl-C and `kill` leave no temporary files; 130 is what a shell reports for an interrupted command.
fn clean_up_when_interrupted() {
    let handler = ctrlc::set_handler(|| {
        robosieve::remove_unfinished();
        std::process::exit(130);
    });
    if let Err(err) = handler {
        eprintln!("robosieve: note: if interrupted, temporary files will stay: {err}");
    }
}

fn perform(verb: Verb, quiet: bool) -> anyhow::Result<ExitCode> {
    match verb {
        Verb::Compile(args) => compile::run(&args, quiet).map(done),
        Verb::Filter(args) => filter::run(&args, quiet).map(done),
        Verb::Annotate(args) => annotate::run(&args, quiet).map(done),
        Verb::Check(args) => check::run(&args, quiet),
        Verb::Inspect(args) => inspect::run(&args).map(done),
        Verb::Agents(args) => agents::run(&args, quiet).map(done),
        Verb::Diff(args) => diff::run(&args, quiet),
        Verb::Report(args) => report::run(&args, quiet).map(done),
        Verb::Bench(args) => bench::run(&args, quiet).map(done),
        Verb::Completions(args) => completions::run(&args).map(done),
        Verb::Man(args) => man::run(&args).map(done),
    }
}

fn done((): ()) -> ExitCode {
    ExitCode::SUCCESS
}

/// A reader that went away (`robosieve … | head`) is no error.
fn is_broken_pipe(err: &anyhow::Error) -> bool {
    err.chain().any(|cause| {
        cause.downcast_ref::<Error>().is_some_and(Error::is_broken_pipe)
            || cause.downcast_ref::<io::Error>().is_some_and(|err| err.kind() == io::ErrorKind::BrokenPipe)
    })
}
