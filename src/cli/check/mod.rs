//! `robosieve check`: single URLs, with the reason if asked for.

mod json;
mod text;

use super::choices::{ExplainArg, ProfileArg};
use super::escape::to_json;
use super::examples::CHECK_EXAMPLES;
use super::judging::{JudgeArgs, agents_needed};
use super::output::print;
use anyhow::{Context, bail};
use clap::{ArgGroup, Args};
use robosieve::{
    Agent, BodyFacts, Explanation, Judge, OriginExplanation, PreferenceExplanation, Robots, Snapshot, SpellCheck,
    Verdict, explain, explain_preferences,
};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

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
    /// Say which rule decided, where it stands, and why the others that match lost; =all lists
    /// those too that do not match
    #[arg(long, value_enum, value_name = "WHICH", num_args = 0..=1, require_equals = true, default_missing_value = "matching")]
    pub explain: Option<ExplainArg>,
    /// Print a JSON object per URL and agent, with all that --explain tells
    #[arg(long)]
    pub json: bool,
    /// URLs to judge
    #[arg(required = true, value_name = "URL")]
    pub urls: Vec<String>,
}

/// The largest snapshot, in bytes, that is verified before the answer, which takes a tenth of a
/// millisecond. For a larger one, the answer is compared with the stored text of the robots.txt.
const VERIFIED_WHOLE: u64 = 1 << 20;

pub(crate) fn run(args: &CheckArgs, quiet: bool) -> anyhow::Result<ExitCode> {
    let reads = args.judge.who.reads().reads("the snapshot", &args.snapshot).reads("--robots", &args.robots);
    reads.and_stdout()?;
    let agents = args.judge.who.agents(quiet)?;
    args.urls.iter().try_for_each(|url| args.judge.who.refuse_agent_as_url(url))?;
    let (verdicts, text) = match (&args.snapshot, &args.robots) {
        (Some(path), _) => {
            let snapshot = Snapshot::open(path)?;
            if snapshot.byte_len() <= VERIFIED_WHOLE {
                snapshot.verify_checksums().map_err(|err| err.at(path))?;
            }
            args.judge.who.check_in(&agents, [(&snapshot, path.as_path())])?;
            check_snapshot(args, &snapshot, &agents).with_context(|| path.display().to_string())?
        }
        (None, Some(path)) => {
            let body = read_robots(path).with_context(|| path.display().to_string())?;
            check_robots(args, path, &body, &agents)?
        }
        (None, None) => bail!("give a snapshot (-s SNAP) or a robots.txt file (--robots FILE)"),
    };
    print(&text)?;
    exit_code(args, &verdicts)
}

/// More is never looked at: 500 KiB of a robots.txt count, but a compressed file may hold any
/// number.
const MAX_READ: u64 = 16 << 20;

/// The bytes of a robots.txt file, decompressed: as they are, compressed ones would be a file
/// without rules.
fn read_robots(path: &Path) -> robosieve::Result<Vec<u8>> {
    let file: Box<dyn Read> =
        if path.as_os_str() == "-" { Box::new(std::io::stdin()) } else { Box::new(File::open(path)?) };
    let mut body = Vec::new();
    robosieve::decode(file)?.take(MAX_READ).read_to_end(&mut body)?;
    Ok(body)
}

/// 1 if any is disallowed; a URL without a verdict is an error, unless `--unknown` gives it one.
fn exit_code(args: &CheckArgs, verdicts: &[Verdict]) -> anyhow::Result<ExitCode> {
    // There are as many verdicts to a URL as agents.
    let agents = verdicts.len() / args.urls.len().max(1);
    let first = |wanted| Some(&args.urls[verdicts.iter().position(|verdict| *verdict == wanted)? / agents]);
    if let Some(url) = first(Verdict::Invalid) {
        bail!("{url:?} is not a URL with scheme and host, so there is no verdict on it");
    }
    if let Some(url) = first(Verdict::Unknown) {
        bail!(
            "the snapshot does not know the origin of {url}, so there is no verdict; --unknown allow|disallow gives one, --scheme any takes that of the other of http and https"
        );
    }
    Ok(ExitCode::from(u8::from(verdicts.contains(&Verdict::Disallowed))))
}

type Checked = (Vec<Verdict>, String);

/// A verdict, and what it comes from.
struct Answer<'a> {
    url: &'a str,
    agent: &'a Agent,
    verdict: Verdict,
    /// The rules' part, where rules decide.
    rules: Option<&'a Explanation>,
    preferences: &'a PreferenceExplanation,
    robots: Source<'a>,
}

/// Where the robots.txt comes from.
enum Source<'a> {
    Snapshot { why: &'a OriginExplanation<'a> },
    File { path: &'a Path, body: BodyFacts },
}

fn check_snapshot(args: &CheckArgs, snapshot: &Snapshot, agents: &[Agent]) -> anyhow::Result<Checked> {
    let judge = Judge::new(snapshot, agents, args.judge.options())?;
    let (mut verdicts, mut text) = Checked::default();
    for url in &args.urls {
        for (i, agent) in agents.iter().enumerate() {
            let why = judge.explain(url.as_bytes(), i)?;
            verdicts.push(why.verdict);
            let robots = Source::Snapshot { why: &why };
            let (rules, preferences) = (why.rules.as_ref(), &why.preferences);
            put(args, &Answer { url, agent, verdict: why.verdict, rules, preferences, robots }, &mut text)?;
        }
    }
    Ok((verdicts, text))
}

fn check_robots(args: &CheckArgs, path: &Path, body: &[u8], agents: &[Agent]) -> anyhow::Result<Checked> {
    let robots = Robots::parse(body, args.profile.value());
    let mut check = SpellCheck::new(agents);
    check.add_robots(&robots);
    args.judge.who.check_names(check)?;
    let facts = BodyFacts::of(body);
    if let Some(format) = facts.other_format {
        bail!("{}: {format}, not a robots.txt; a snapshot is named with -s", path.display());
    }
    let (mut verdicts, mut text) = Checked::default();
    for url in &args.urls {
        for agent in agents {
            let how = args.judge.who.agent_match.value();
            let why = explain(&robots, agent, how, url.as_bytes());
            let preferences = &explain_preferences(&robots, agent, how, url.as_bytes());
            verdicts.push(why.verdict);
            let robots = Source::File { path, body: facts };
            put(args, &Answer { url, agent, verdict: why.verdict, rules: Some(&why), preferences, robots }, &mut text)?;
        }
    }
    Ok((verdicts, text))
}

/// Writes an answer in the form that is asked for.
fn put(args: &CheckArgs, answer: &Answer<'_>, out: &mut String) -> anyhow::Result<()> {
    if args.json {
        out.push_str(&to_json(&json::object(answer, args.explain == Some(ExplainArg::All)))?);
        out.push('\n');
        return Ok(());
    }
    text::headline(out, answer);
    if let Some(which) = args.explain {
        text::reasons(out, answer, which);
    }
    Ok(())
}
