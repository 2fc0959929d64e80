//! The arguments of `lint`, and the names of files in its outputs.

use crate::help_text::{COMMON, LINT_EXAMPLES, LINT_SHORT, OUTPUT, POLICY};
use crate::stats_json::StatsArgs;
use crate::value_enums::named;
use crate::verify_args::VerifyArgs;
use clap::{ArgGroup, Args};
use robosieve::lint::{Code, Severity};
use robosieve::output::is_standard_stream;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(after_help = LINT_SHORT, after_long_help = LINT_EXAMPLES)]
#[command(group = ArgGroup::new("mending").args(["fix", "diff"]).multiple(true))]
pub(crate) struct LintArgs {
    /// Count the findings of a snapshot's robots.txt files; also as INPUT
    #[arg(short, long = "snapshot", value_name = "SNAP", help_heading = COMMON)]
    pub snapshots: Vec<PathBuf>,
    #[command(flatten)]
    pub verify: VerifyArgs,
    /// Exit with status 1 if a finding has at least this severity (default: error)
    #[arg(long, value_parser = named::<Severity>(), value_name = "SEVERITY", help_heading = POLICY)]
    pub deny: Option<Severity>,
    /// Leave out the findings of these codes, separated by commas
    #[arg(long, value_name = "CODE", value_delimiter = ',', value_parser = parse_code, help_heading = POLICY)]
    pub allow: Vec<Code>,
    /// Rewrite the files with all safe fixes, which change no verdict; `-`: write the mended text
    ///
    /// The findings that remain are reported. A fix is applied if the rules of every agent give the
    /// same verdicts before and after, in both profiles. Comments and all other lines stay as they
    /// are, byte for byte.
    #[arg(long, help_heading = OUTPUT)]
    pub fix: bool,
    /// Print what --fix would change as a unified diff, and write no file
    ///
    /// The exit status is 1 if a file would change.
    #[arg(long, conflicts_with_all = ["json", "sarif", "deny"], help_heading = OUTPUT)]
    pub diff: bool,
    /// Also apply fixes that may change verdicts, and list changed ones; with --fix or --diff
    #[arg(long, requires = "mending", help_heading = OUTPUT)]
    pub unsafe_fixes: bool,
    /// List all codes with their severities
    #[arg(long, conflicts_with_all = ["inputs", "snapshots", "sarif", "fix", "diff"], help_heading = OUTPUT)]
    pub codes: bool,
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
    /// Print SARIF 2.1.0, for code scanning services
    #[arg(long, conflicts_with = "json", help_heading = OUTPUT)]
    pub sarif: bool,
    #[command(flatten)]
    pub stats: StatsArgs,
    /// robots.txt files, directories of them, or snapshots (`-`: standard input)
    ///
    /// Files may be gzip or zstd. A directory with a file robots.txt stands for that file, any
    /// other for its files named HOST, HOST_PORT or SCHEME_HOST_PORT, as for `compile`. A quoted
    /// glob ('sites/*/robots.txt') stands for its matches.
    #[arg(value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
}

impl LintArgs {
    /// Whether files are mended, in memory or on disk.
    pub(super) fn is_mending(&self) -> bool {
        self.fix || self.diff
    }

    /// Whether the file at `path` is rewritten.
    pub(super) fn rewrites(&self, path: &Path) -> bool {
        self.fix && !self.diff && path.as_os_str() != "-"
    }
}

fn parse_code(name: &str) -> Result<Code, String> {
    Code::find(name)
        .ok_or_else(|| "there is no such code; `robosieve lint --codes` lists them".to_owned())
}

/// The name of a file in outputs.
pub(super) fn shown(path: &Path) -> String {
    if is_standard_stream(path) {
        "standard input".to_owned()
    } else {
        path.display().to_string()
    }
}

/// The width of a column with the names of codes.
pub(super) fn code_width() -> usize {
    Code::ALL
        .iter()
        .map(|code| code.name().len())
        .max()
        .unwrap_or(0)
}
