//! The command line: one file or folder per verb. Data goes to stdout, everything else to stderr.

mod agent_args;
mod agents;
mod annotate;
mod archive_args;
mod args;
mod audit;
mod bench;
mod captures;
mod check;
mod compile;
mod completions;
mod dataset_dirs;
mod diff;
mod due;
mod error_advice;
mod export;
mod figures;
mod filter;
mod help_text;
mod history_args;
mod inputs;
mod inspect;
mod judge_args;
mod judge_job;
mod judge_run;
mod lint;
mod list_args;
mod list_texts;
mod lists;
mod man;
mod numbers;
mod option_guard;
mod out_dir;
mod outcomes;
mod output;
mod output_form;
mod progress;
mod record_args;
#[doc(hidden)]
pub mod report;
mod robots_file;
mod signals;
mod standard_streams;
mod stats_json;
mod stderr;
mod summary;
mod thread_pool;
mod time;
mod url_args;
mod value_enums;
mod verify_args;

pub use signals::end_by_interrupt;
pub use standard_streams::record_closed_streams;

use args::{Cli, Verb};
use figures::escape::{escape, escape_lines};
use output::is_stdout_closed;
use std::borrow::Cow;
use std::ffi::OsString;
use std::io::{self, Write};
use stderr::print_line;

/// Runs the command with its arguments, the first of which is the name of the program. The exit
/// code is 0 for success, 1 if `check` finds a URL disallowed, `diff --exit-code` finds a
/// difference or `lint` a denied finding, and 2 for an error.
///
/// It is called once in a process, as the last thing that the process does: it replaces the panic
/// hook and the handlers of signals.
pub fn run(args: impl IntoIterator<Item = OsString>) -> ExitCode {
    standard_streams::occupy_closed_streams();
    silence_caught_panics();
    let args: Vec<OsString> = args.into_iter().collect();
    stats_json::remember_arguments(&args);
    let code = match Cli::read(args) {
        Ok(cli) => run_verb(cli),
        Err(err) => print_usage(&err),
    };
    // Rust flushes standard output at the end of its own programs only. Runs that must write
    // everything have flushed it, and reported a failure.
    let _ = io::stdout().flush();
    signals::wait_if_ending();
    code
}

/// Prints no messages of panics that the library returns as errors.
fn silence_caught_panics() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !robosieve::threads::catches_panics() {
            default(panic);
        }
    }));
}

/// Prints help, the version, or a usage error of clap. Arguments may be file names that a shell
/// glob expanded to, so unsafe characters in them are escaped, at the cost of the colours.
fn print_usage(err: &clap::Error) -> ExitCode {
    if err.use_stderr() {
        let text = err.render().to_string();
        match escape_lines(&text) {
            Cow::Owned(escaped) => print_line(format_args!("{}", escaped.trim_end())),
            // A failure to print on stderr cannot be reported anywhere.
            Cow::Borrowed(_) => drop(err.print()),
        }
        return ExitCode::from(2);
    }
    match standard_streams::check_stdout().and_then(|()| err.print()) {
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
        // The reader of standard output has read enough (`robosieve … | head`). An exit status that
        // is an answer must still fail.
        Err(err) if is_stdout_closed(&err) && !is_answer => ExitCode::SUCCESS,
        Err(err) => {
            // Every error message is printed here, so its names and texts are escaped once.
            print_line(format_args!(
                "robosieve: {}",
                escape(&error_advice::message(&err))
            ));
            ExitCode::from(2)
        }
    }
}

fn dispatch(
    Cli {
        verb, jobs, quiet, ..
    }: Cli,
) -> anyhow::Result<ExitCode> {
    if matches!(verb, Verb::Check(_)) {
        // `check` finishes sooner than threads start, and it writes no files.
        return perform(verb, quiet);
    }
    signals::handle();
    thread_pool::start(jobs, quiet)?.install(|| perform(verb, quiet))
}

fn perform(verb: Verb, quiet: bool) -> anyhow::Result<ExitCode> {
    match verb {
        Verb::Compile(args) => compile::run(&args, quiet).map(done),
        Verb::Captures(args) => captures::run(&args, quiet).map(done),
        Verb::Filter(args) => filter::run(&args, quiet).map(done),
        Verb::Annotate(args) => annotate::run(&args, quiet).map(done),
        Verb::Check(args) => check::run(&args, quiet),
        Verb::Lint(args) => lint::run(&args, quiet),
        Verb::Inspect(args) => inspect::run(&args).map(done),
        Verb::Export(args) => export::run(&args, quiet).map(done),
        Verb::Agents(args) => agents::run(args, quiet).map(done),
        Verb::Diff(args) => diff::run(&args, quiet),
        Verb::Due(args) => due::run(&args, quiet).map(done),
        Verb::Report(args) => report::run(&args, quiet).map(done),
        Verb::Audit(args) => audit::run(args, quiet).map(done),
        Verb::Lists(args) => lists::run(&args, quiet).map(done),
        Verb::Bench(args) => bench::run(&args, quiet).map(done),
        Verb::Completions(args) => completions::run(&args).map(done),
        Verb::Man(args) => man::run(&args).map(done),
    }
}

fn done((): ()) -> ExitCode {
    ExitCode::SUCCESS
}

/// An exit code, as that of the standard library. That one does not give its number back, which the
/// Python package needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExitCode(u8);

impl ExitCode {
    /// The run succeeded.
    pub const SUCCESS: Self = Self(0);

    /// Its number.
    pub fn number(self) -> u8 {
        self.0
    }
}

impl From<u8> for ExitCode {
    fn from(number: u8) -> Self {
        Self(number)
    }
}
