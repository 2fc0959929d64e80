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
mod endings;
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
mod overlap;
mod parquet;
mod pool;
mod progress;
mod records;
mod report;
mod run;
mod signals;
mod snapshot;
mod stderr;
mod summary;
mod task;
mod time;
mod who;

use args::{Cli, Verb};
use escape::{escape, escape_lines};
use output::is_stdout_closed;
use std::borrow::Cow;
use std::io;
use std::process::ExitCode;
use stderr::print_line;

/// Runs the command: exit code 0 for done, 1 for `check`'s "disallowed" and `diff --exit-code`'s "they differ", 2 for any error.
pub(crate) fn run() -> ExitCode {
    let code = match Cli::read() {
        Ok(cli) => run_verb(cli),
        Err(err) => print_usage(&err),
    };
    signals::wait_if_ending();
    code
}

/// Prints what clap has to say: help, the version, or what is wrong with the arguments. These may
/// come from file names (`robosieve check *`), so what is unsafe is escaped, at the cost of the
/// colours.
fn print_usage(err: &clap::Error) -> ExitCode {
    if err.use_stderr() {
        let text = err.render().to_string();
        match escape_lines(&text) {
            Cow::Owned(escaped) => print_line(format_args!("{}", escaped.trim_end())),
            // Printing fails only where there is nobody to tell.
            Cow::Borrowed(_) => drop(err.print()),
        }
        return ExitCode::from(2);
    }
    match err.print() {
        Err(err) if err.kind() != io::ErrorKind::BrokenPipe => {
            print_line(format_args!("robosieve: standard output: {err}"));
            ExitCode::from(2)
        }
        _ => ExitCode::SUCCESS,
    }
}

fn run_verb(cli: Cli) -> ExitCode {
    let is_answer = cli.verb.has_answer();
    match dispatch(cli) {
        Ok(code) => code,
        // The reader of standard output has what it wanted (`robosieve … | head`). An exit status
        // that is an answer is another thing.
        Err(err) if is_stdout_closed(&err) && !is_answer => ExitCode::SUCCESS,
        Err(err) => {
            // Every error passes here, so names and texts in messages are escaped once.
            print_line(format_args!("robosieve: {}", escape(&format!("{err:#}"))));
            ExitCode::from(2)
        }
    }
}

fn dispatch(Cli { verb, jobs, quiet }: Cli) -> anyhow::Result<ExitCode> {
    if matches!(verb, Verb::Check(_)) {
        // Single URLs are answered before threads would have begun, and nothing is written.
        return perform(verb, quiet);
    }
    signals::handle();
    pool::start(jobs, quiet)?.install(|| perform(verb, quiet))
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
