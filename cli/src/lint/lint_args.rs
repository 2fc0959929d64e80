//! The arguments of `lint`, and the names of files in its outputs.

use crate::help_text::{COMMON, LINT_EXAMPLES, LINT_SHORT, OUTPUT, POLICY};
use crate::value_enums::named;
use crate::verify_args::VerifyArgs;
use clap::Args;
use robosieve::lint::{Code, Severity};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(after_help = LINT_SHORT, after_long_help = LINT_EXAMPLES)]
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
    /// List all codes with their severities
    #[arg(long, conflicts_with_all = ["inputs", "snapshots", "sarif"], help_heading = OUTPUT)]
    pub codes: bool,
    /// Print JSON
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
    /// Print SARIF 2.1.0, for code scanning services
    #[arg(long, conflicts_with = "json", help_heading = OUTPUT)]
    pub sarif: bool,
    /// robots.txt files, directories of them, or snapshots (`-`: standard input)
    ///
    /// Files may be gzip or zstd. A directory with a file robots.txt stands for that file, any
    /// other for its files named HOST, HOST_PORT or SCHEME_HOST_PORT, as for `compile`. A quoted
    /// glob ('sites/*/robots.txt') stands for its matches.
    #[arg(value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
}

fn parse_code(name: &str) -> Result<Code, String> {
    Code::find(name)
        .ok_or_else(|| "there is no such code; `robosieve lint --codes` lists them".to_owned())
}

/// The name of a file in outputs.
pub(super) fn shown(path: &Path) -> String {
    if path.as_os_str() == "-" {
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
