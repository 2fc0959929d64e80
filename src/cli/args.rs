//! The arguments of every verb, and what they mean to the library.

use super::agents::AgentsArgs;
use super::diff::DiffArgs;
use super::examples::*;
use super::inputs::InputArgs;
use super::many::ManyArgs;
use super::parquet::NameArgs;
use super::records::RecordArgs;
use super::report::ReportArgs;
use super::time::{parse_instant, parse_through};
use super::who::AgentArgs;
use clap::{ArgGroup, Args, Parser, Subcommand, ValueEnum};
use robosieve::synthetic::{Order, WebOptions};
use robosieve::{AgentMatch, InputFormat, JudgeOptions, Keep, Profile, Require, StatusPolicy, UnknownOrigin};
use std::path::PathBuf;

/// Compile robots.txt archives into a snapshot, and judge any number of URLs by it.
#[derive(Debug, Parser)]
#[command(name = "robosieve", version, arg_required_else_help = true, after_help = EXAMPLES)]
pub(crate) struct Cli {
    /// What to do.
    #[command(subcommand)]
    pub verb: Verb,
    /// Worker threads (default: one for each core).
    #[arg(short, long, global = true, value_name = "N", value_parser = parse_threads)]
    pub jobs: Option<usize>,
    /// Print no summary and no progress.
    #[arg(short, long, global = true)]
    pub quiet: bool,
}

fn parse_threads(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err("give a number of threads of at least 1".to_owned()),
        Ok(threads) => Ok(threads),
    }
}

/// A number, such as 20000, 20k or 100M.
pub(crate) fn parse_count(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.strip_suffix(['k', 'M', 'G']) {
        None => (text, 1),
        Some(digits) if text.ends_with('k') => (digits, 1_000),
        Some(digits) if text.ends_with('M') => (digits, 1_000_000),
        Some(digits) => (digits, 1_000_000_000),
    };
    let count = digits.parse().ok().and_then(|count: u64| count.checked_mul(unit));
    let possible = count.filter(|count| (1..=WebOptions::MAX).contains(count));
    possible.ok_or_else(|| "give a number like 20000, 20k or 100M, at most 1000G".to_owned())
}

/// The verbs. Only the arguments of the one that is called are made: that takes an eighth off the time of `check` on one URL.
// A doc comment on arguments would take the place of the verb's description, so they have plain ones.
#[derive(Debug, Subcommand)]
#[command(defer = true)]
pub(crate) enum Verb {
    /// Compile robots.txt archives (WARC, JSONL, directories) into a snapshot
    Compile(CompileArgs),
    /// Keep the URLs that agents may fetch
    Filter(FilterArgs),
    /// Give every line its verdicts, one letter an agent: A allowed, D disallowed, U unknown origin, I not a URL
    Annotate(AnnotateArgs),
    /// Tell how much agents are refused, and why: by a snapshot, or for lists of URLs
    Report(ReportArgs),
    /// Judge single URLs, and say why
    Check(CheckArgs),
    /// Show what a snapshot holds, in all or of one origin
    Inspect(InspectArgs),
    /// Tell what changed from one snapshot to another: origins, rules, agents newly refused or allowed
    Diff(DiffArgs),
    /// List the crawlers that are known, or rank the names in a snapshot's robots.txt files
    Agents(AgentsArgs),
    /// Time the judging stage by stage, of your URLs by your snapshot or of a synthetic web
    Bench(BenchArgs),
    /// Print what makes a shell complete verbs, options and their values
    Completions(CompletionsArgs),
    /// Print the manual as man pages, or write them
    Man(ManArgs),
}

#[derive(Debug, Args)]
#[command(after_help = COMPILE_EXAMPLES)]
pub(crate) struct CompileArgs {
    /// The snapshot to write; an existing one is replaced
    #[arg(short, long, value_name = "SNAP")]
    pub output: PathBuf,
    /// Whose reading of the rules to compile for (default: that of --previous, else google)
    #[arg(long, value_enum)]
    pub profile: Option<ProfileArg>,
    /// Take over what this snapshot knows, wherever the inputs tell nothing newer; it may be the output too
    #[arg(long, value_name = "OLD")]
    pub previous: Option<PathBuf>,
    /// Leave out captures newer than this time, and count them; a date is its last second in UTC. Captures of unknown time stay
    #[arg(long, value_name = "TIME", value_parser = parse_through)]
    pub as_of: Option<i64>,
    /// Read on behind damaged places, counting them, instead of failing at the first
    #[arg(long)]
    pub skip_damaged: bool,
    /// Write what was read and what came of it as JSON
    #[arg(long, value_name = "FILE")]
    pub stats_json: Option<PathBuf>,
    /// WARC or JSONL files (plain, gzip or zstd), directories of them or of robots.txt files; `-` is standard input
    #[arg(required_unless_present = "previous", value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
}

// What `filter`, `annotate`, `report`, `check` and `bench` share. All but the last need an agent (`agents_needed`).
#[derive(Debug, Args)]
pub(crate) struct JudgeArgs {
    #[command(flatten)]
    pub who: AgentArgs,
    /// What 4xx, 5xx and network errors mean (default: as the snapshot's profile)
    #[arg(long, value_enum, value_name = "POLICY")]
    pub status_policy: Option<PolicyArg>,
    /// What holds for origins that the snapshot does not know (default: a verdict of its own)
    #[arg(long, value_enum, value_name = "VERDICT")]
    pub unknown: Option<UnknownArg>,
    /// Whether the entry of the other of http and https will do
    #[arg(long, value_enum, default_value_t = SchemeArg::Exact)]
    pub scheme: SchemeArg,
    /// Count the 30 days of a failing site to this time (default: to its newest capture); a date is its first second in UTC
    #[arg(long, value_name = "TIME", value_parser = parse_instant)]
    pub at: Option<i64>,
}

/// One agent at least, by one way or the other.
pub(super) fn agents_needed() -> ArgGroup {
    ArgGroup::new("who").required(true).multiple(true).args(["agents", "agents_from"])
}

#[derive(Debug, Args)]
#[command(after_help = FILTER_EXAMPLES, group = agents_needed())]
pub(crate) struct FilterArgs {
    /// The snapshot
    #[arg(short, long, value_name = "SNAP")]
    pub snapshot: PathBuf,
    #[command(flatten)]
    pub judge: JudgeArgs,
    #[command(flatten)]
    pub records: RecordArgs,
    /// Which lines to keep
    #[arg(long, value_enum, default_value_t = KeepArg::Allowed)]
    pub keep: KeepArg,
    /// Of how many agents that verdict is required
    #[arg(long, value_enum, default_value_t = RequireArg::All)]
    pub require: RequireArg,
    /// Write the disallowed lines here (with --out-dir: a directory)
    #[arg(long, value_name = "FILE")]
    pub disallowed_to: Option<PathBuf>,
    /// Write the lines of unknown origins here (with --out-dir: a directory)
    #[arg(long, value_name = "FILE")]
    pub unknown_to: Option<PathBuf>,
    /// Write the lines that are not URLs here (with --out-dir: a directory)
    #[arg(long, value_name = "FILE")]
    pub invalid_to: Option<PathBuf>,
    /// Write the kept lines here (default: standard output); .gz and .zst compress
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub many: ManyArgs,
    #[command(flatten)]
    pub from: InputArgs,
}

#[derive(Debug, Args)]
#[command(after_help = ANNOTATE_EXAMPLES, group = agents_needed())]
pub(crate) struct AnnotateArgs {
    /// The snapshot
    #[arg(short, long, value_name = "SNAP")]
    pub snapshot: PathBuf,
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

#[derive(Debug, Args)]
#[command(after_help = CHECK_EXAMPLES, group = agents_needed(), group = ArgGroup::new("source").required(true).args(["snapshot", "robots"]))]
pub(crate) struct CheckArgs {
    /// The snapshot
    #[arg(short, long, value_name = "SNAP")]
    pub snapshot: Option<PathBuf>,
    /// One robots.txt file instead of a snapshot (`-`: standard input); URLs may then be bare paths
    #[arg(long, value_name = "FILE")]
    pub robots: Option<PathBuf>,
    #[command(flatten)]
    pub judge: JudgeArgs,
    /// Whose reading of the rules, with --robots
    #[arg(long, value_enum, default_value_t = ProfileArg::Google, conflicts_with = "snapshot")]
    pub profile: ProfileArg,
    /// Say which rule decided, where it stands, and why the others lost
    #[arg(long)]
    pub explain: bool,
    /// URLs to judge
    #[arg(required = true, value_name = "URL")]
    pub urls: Vec<String>,
}

#[derive(Debug, Args)]
#[command(after_help = INSPECT_EXAMPLES)]
pub(crate) struct InspectArgs {
    /// The snapshot
    #[arg(value_name = "SNAP")]
    pub snapshot: PathBuf,
    /// Show this origin's facts and rules; any URL on it will do
    #[arg(value_name = "ORIGIN")]
    pub origin: Option<String>,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// Check every checksum and the whole structure first
    #[arg(long)]
    pub verify: bool,
    /// List the robots.txt URLs that are due at this time, one a line: fetched 24 hours before or, where the answer gave a
    /// Cache-Control max-age, so long before, or at an unknown time; a date is its first second in UTC. With --json, a JSON object a line
    #[arg(long, value_name = "TIME", value_parser = parse_instant, conflicts_with = "origin")]
    pub stale_at: Option<i64>,
}

#[derive(Debug, Args)]
#[command(after_help = BENCH_EXAMPLES)]
pub(crate) struct BenchArgs {
    /// The snapshot; without one, a synthetic web is made up
    #[arg(short, long, value_name = "SNAP")]
    pub snapshot: Option<PathBuf>,
    /// With -s the list of URLs, which is read into memory first; without, how many URLs to make up (default: 1M)
    #[arg(long, value_name = "FILE|N")]
    pub urls: Option<String>,
    /// How many origins to make up (k, M and G stand for thousand, million and billion)
    #[arg(long, value_name = "N", default_value = "100k", value_parser = parse_count, conflicts_with = "snapshot")]
    pub origins: u64,
    /// The order of the made-up URLs
    #[arg(long, value_enum, default_value_t = OrderArg::Sorted, conflicts_with = "snapshot")]
    pub order: OrderArg,
    /// Which web to make up: the same seed, the same web
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "snapshot")]
    pub seed: u64,
    /// Write the made-up web here, as robots.jsonl.zst and urls.txt, and time nothing
    #[arg(long, value_name = "DIR", conflicts_with_all = ["snapshot", "threads", "runs", "json"])]
    pub write_to: Option<PathBuf>,
    #[command(flatten)]
    pub judge: JudgeArgs,
    /// Numbers of threads to run with (default: 1, and that of --jobs)
    #[arg(long, value_name = "N,N…", value_delimiter = ',', value_parser = parse_threads)]
    pub threads: Vec<usize>,
    /// Runs of each; medians are printed
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    pub runs: u32,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS_EXAMPLES)]
pub(crate) struct CompletionsArgs {
    /// Which shell
    #[arg(value_enum)]
    pub shell: clap_complete::Shell,
}

#[derive(Debug, Args)]
#[command(after_help = MAN_EXAMPLES)]
pub(crate) struct ManArgs {
    /// The verb to print the page of (default: the page on the whole)
    #[arg(value_name = "VERB", conflicts_with = "out_dir")]
    pub verb: Option<String>,
    /// Write all pages into this directory, as robosieve.1, robosieve-filter.1 and so on; made if it is not there
    #[arg(long, value_name = "DIR")]
    pub out_dir: Option<PathBuf>,
}

macro_rules! choices {
    ($(#[$doc:meta])* $name:ident => $target:ty { $($(#[$vdoc:meta])* $variant:ident = $text:literal => $value:expr),+ $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
        pub(crate) enum $name { $($(#[$vdoc])* #[value(name = $text)] $variant),+ }
        impl $name {
            /// What the choice means to the library.
            pub(crate) fn value(self) -> $target {
                match self { $(Self::$variant => $value),+ }
            }
        }
    };
}

choices!(ProfileArg => Profile {
    /// As Google's open-source parser
    Google = "google" => Profile::Google,
    /// RFC 9309 to the letter
    Rfc9309 = "rfc9309" => Profile::Rfc9309,
});
choices!(PolicyArg => StatusPolicy {
    /// 4xx allows; 429, 5xx and network errors disallow for 30 days, then the last good copy
    Google = "google" => StatusPolicy::Google,
    /// 4xx, 429 too, allows; 5xx and network errors disallow for 30 days, then allow
    Rfc9309 = "rfc9309" => StatusPolicy::Rfc9309,
    /// Unknown origins, 401, 403, 429, 5xx and network errors disallow
    Strict = "strict" => StatusPolicy::Strict,
});
choices!(UnknownArg => UnknownOrigin {
    Allow = "allow" => UnknownOrigin::Allow,
    Disallow = "disallow" => UnknownOrigin::Disallow,
});
choices!(SchemeArg => bool {
    /// Only the URL's own scheme
    Exact = "exact" => false,
    /// The other of http and https where the URL's own is missing
    Any = "any" => true,
});
choices!(AgentMatchArg => AgentMatch {
    Extended = "extended" => AgentMatch::Extended,
    Google = "google" => AgentMatch::Google,
});
choices!(KeepArg => Keep {
    Allowed = "allowed" => Keep::Allowed,
    Disallowed = "disallowed" => Keep::Disallowed,
});
/// What annotating gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum AnnotateArg {
    /// One letter an agent, TAB, the line
    Letters,
    /// JSON objects with a key "robots" that has each agent's verdict
    Jsonl,
    /// One digit an agent, 1 where it may fetch, and nothing else
    Mask,
    /// For Parquet: one int64 column, of which bit 0 is set if the first agent may fetch the URL, bit 1 for the second, up to 63
    Bits,
    /// For Parquet: an int8 column for each agent, 1 if it may fetch the URL, else 0
    Int8,
}

choices!(FormatArg => InputFormat {
    /// One URL a line
    Text = "text" => InputFormat::Text,
    /// Columns between tabs
    Tsv = "tsv" => InputFormat::Tsv,
    /// Columns between commas, quoted where needed
    Csv = "csv" => InputFormat::Csv,
    /// A JSON object a line
    Jsonl = "jsonl" => InputFormat::Jsonl,
    /// A crawl index: sort key, time, JSON object
    Cdxj = "cdxj" => InputFormat::Cdxj,
    /// The older crawl index: fields between blanks
    Cdx = "cdx" => InputFormat::Cdx,
});
choices!(OrderArg => Order {
    /// Grouped by host, as in a crawl index
    Sorted = "sorted" => Order::Sorted,
    /// Mixed, as in a frontier
    Shuffled = "shuffled" => Order::Shuffled,
});
choices!(RequireArg => Require {
    All = "all" => Require::All,
    Any = "any" => Require::Any,
});

impl JudgeArgs {
    /// All but the agents.
    pub(crate) fn options(&self) -> JudgeOptions {
        JudgeOptions {
            status_policy: self.status_policy.map(PolicyArg::value),
            unknown: self.unknown.map(UnknownArg::value),
            any_scheme: self.scheme.value(),
            agent_match: self.who.agent_match.value(),
            at: self.at,
        }
    }
}
