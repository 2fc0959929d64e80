//! The option of verbs that list due origins: when a failing site is asked again.

use crate::help_text::COMMON;
use crate::time::parse_seconds;
use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct RetryArgs {
    /// With --stale-at: a failing robots.txt is due this long after its fetch
    ///
    /// Failures are 429, 5xx and network errors. The Retry-After of the answer counts in place of
    /// this option, up to a day; its max-age does not count. The shorter the time, the sooner a site
    /// that has recovered is judged by its rules again.
    #[arg(
        long,
        value_name = "DURATION",
        value_parser = parse_seconds,
        default_value = "1h",
        hide_short_help = true,
        help_heading = COMMON
    )]
    pub retry_failed: u32,
}
