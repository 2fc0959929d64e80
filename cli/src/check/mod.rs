//! `robosieve check`: judges single URLs, and explains the verdicts.

mod expect;
mod json;
mod text;

use crate::ExitCode;
use crate::figures::escape::{escape, to_json};
use crate::help_text::{CHECK_EXAMPLES, CHECK_SHORT, COMMON, OUTPUT, POLICY};
use crate::history_args::AsOfArgs;
use crate::judge_args::{JudgeArgs, agent_required};
use crate::list_args::{ListArgs, adapt_texts};
use crate::lists::match_columns;
use crate::output::print;
use crate::robots_file::{parse_robots, read_robots};
use crate::url_args::{is_bare_host, url_advice};
use crate::value_enums::{ExpectFormat, ExplainArg, SchemeArg, named};
use crate::verify_args::VerifyArgs;
use anyhow::{Context, bail, ensure};
use clap::{ArgGroup, Args};
use robosieve::filter_lists::{FilterLists, ListMatch};
use robosieve::judge::{Explanation, UrlExplanation, explain};
use robosieve::output::is_standard_stream;
use robosieve::preferences::{PreferenceExplanation, explain_preferences};
use robosieve::robots::BodyFacts;
use robosieve::{Agent, Judge, JudgeOptions, Profile, Snapshot, Verdict};
use std::fmt::Write;
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
#[command(
    after_help = CHECK_SHORT,
    after_long_help = CHECK_EXAMPLES,
    // A file of expectations names its agents.
    group = agent_required().arg("expect"),
    group = ArgGroup::new("source").required(true).args(["snapshot", "robots"]),
    mut_args(adapt_texts)
)]
pub(crate) struct CheckArgs {
    /// The snapshot
    #[arg(short, long, value_name = "SNAP", help_heading = COMMON)]
    pub snapshot: Option<PathBuf>,
    /// A robots.txt file instead of a snapshot (`-`: standard input)
    ///
    /// URLs may then be paths, which begin with /.
    #[arg(long, value_name = "FILE", help_heading = COMMON)]
    pub robots: Option<PathBuf>,
    #[command(flatten)]
    pub lists: ListArgs,
    #[command(flatten)]
    pub verify: VerifyArgs,
    #[command(flatten)]
    pub judge: JudgeArgs,
    #[command(flatten)]
    pub time: AsOfArgs,
    /// With --robots: the parser to reproduce
    #[arg(
        long,
        value_parser = named::<Profile>(),
        default_value_t = Profile::Google,
        conflicts_with = "snapshot",
        hide_short_help = true,
        help_heading = POLICY
    )]
    pub profile: Profile,
    /// Show the deciding rule, its line, and why other matching rules lost
    ///
    /// --explain=all also lists the rules that do not match.
    #[arg(
        long,
        value_enum,
        value_name = "WHICH",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "matching",
        help_heading = OUTPUT
    )]
    pub explain: Option<ExplainArg>,
    /// Print one JSON object per URL and agent, with the content of --explain
    #[arg(long, help_heading = OUTPUT)]
    pub json: bool,
    /// Compare verdicts with those that a file expects
    ///
    /// Lines have URL, agent and verdict, separated by TABs, or verdict, agent and URL, as `check`
    /// prints them; `#` begins a comment. Lines with another verdict are printed with the rule that
    /// decides, and the exit status is 1. With --lists or --block, the lines that `check` prints
    /// about lists are compared too, and URLs without such a line have to be unlisted. `-`:
    /// standard input.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["agents", "agents_from", "explain", "json", "urls"],
        help_heading = COMMON
    )]
    pub expect: Option<PathBuf>,
    /// With --expect: the format of the lines with another verdict (default: text)
    #[arg(long, value_enum, hide_short_help = true, help_heading = OUTPUT)]
    pub format: Option<ExpectFormat>,
    /// The URLs to judge
    #[arg(required_unless_present = "expect", value_name = "URL")]
    pub urls: Vec<String>,
}

impl CheckArgs {
    /// The options of judging.
    fn options(&self) -> JudgeOptions {
        self.judge.options().as_of(self.time.as_of)
    }

    /// Refuses options that mean nothing for a robots.txt file: it is one answer, without a status, a
    /// time or an origin.
    fn refuse_options_of_snapshots(&self) -> anyhow::Result<()> {
        if self.robots.is_none() {
            return Ok(());
        }
        let judge = &self.judge;
        // Compiled lists have checksums too.
        let skips_verification = self.verify.no_verify && !self.lists.are_named();
        let given = [
            (self.time.as_of.is_some(), "--as-of"),
            (judge.at.is_some(), "--at"),
            (judge.unknown.is_some(), "--unknown"),
            (judge.policy.scheme != SchemeArg::Exact, "--scheme"),
            (
                judge.policy.status.status_policy.is_some(),
                "--status-policy",
            ),
            (skips_verification, "--no-verify"),
        ];
        if let Some((_, option)) = given.into_iter().find(|(is_given, _)| *is_given) {
            bail!(
                "{option} is for a snapshot (-s SNAP); a robots.txt file (--robots) has no time, no \
                 status, no origin and no checksums"
            );
        }
        Ok(())
    }

    /// Opens the snapshot, and checks the spelling of agents by it. A look-up of a few URLs verifies
    /// the blocks that it reads, not the whole snapshot.
    fn open_snapshot(&self, path: &Path, agents: &[Agent]) -> anyhow::Result<Snapshot> {
        let snapshot = Snapshot::open(path)?;
        self.verify.look_ups(&snapshot);
        self.judge
            .agents
            .check_spelling_in(agents, [(&snapshot, path)])?;
        Ok(snapshot)
    }
}

pub(crate) fn run(args: &CheckArgs, quiet: bool) -> anyhow::Result<ExitCode> {
    args.refuse_options_of_snapshots()?;
    let guard = args
        .judge
        .agents
        .overwrite_guard()
        .add_inputs("the snapshot", &args.snapshot)
        .add_inputs("--robots", &args.robots)
        .add_inputs("--expect", &args.expect);
    guard.add_stdout()?;
    if let Some(file) = &args.expect {
        return expect::run(args, file, quiet);
    }
    // clap does not ask for --expect if -a is there, which conflicts with it.
    ensure!(
        args.format.is_none(),
        "--format needs --expect FILE; --json prints verdicts as JSON"
    );
    let is_standard_input_taken = args.robots.as_deref().is_some_and(is_standard_stream);
    let lists = args
        .lists
        .open(!args.verify.no_verify, is_standard_input_taken)?;
    let lists = lists.as_ref().map(|own| &own.lists);
    if lists.is_some() {
        args.urls.iter().try_for_each(|url| refuse_path(url))?;
    }
    let agents = args.judge.agents.resolve(quiet)?;
    args.urls
        .iter()
        .try_for_each(|url| args.judge.agents.refuse_agent_as_url(url))?;
    let answers = match (&args.snapshot, &args.robots) {
        (Some(path), _) => {
            let snapshot = args.open_snapshot(path, &agents)?;
            check_snapshot(args, &snapshot, lists, &agents)
                .with_context(|| path.display().to_string())?
        }
        (None, Some(path)) => {
            let body = read_robots(path).with_context(|| path.display().to_string())?;
            check_robots(args, path, &body, lists, &agents)?
        }
        (None, None) => bail!("give a snapshot (-s SNAP) or a robots.txt file (--robots FILE)"),
    };
    print(&answers.text)?;
    exit_code(args, &answers)
}

/// The exit code: 1 if any URL is disallowed or listed. A URL without a verdict is an error; `--unknown`
/// gives unknown origins a verdict.
fn exit_code(args: &CheckArgs, answers: &CheckOutput) -> anyhow::Result<ExitCode> {
    let verdicts = &answers.verdicts;
    if let Some(url) = first_url_with(Verdict::Invalid, verdicts, &args.urls) {
        if args.robots.is_some() {
            bail!("{}", neither_url_nor_path(url));
        }
        bail!(
            "{url:?} is not a URL with scheme and host, so there is no verdict on it; {}",
            url_advice(url)
        );
    }
    if let Some(url) = first_unknown(answers, &args.urls) {
        let other_scheme = match args.judge.policy.scheme {
            SchemeArg::Exact => ", --scheme any uses the entry of the other of http and https",
            SchemeArg::Any => "",
        };
        let lacks = match args.time.as_of {
            Some(_) => format!("has no capture of the origin of {url} by that time"),
            None => format!("does not have the origin of {url}"),
        };
        bail!(
            "the snapshot {lacks}, so there is no verdict; \
             --unknown allow|disallow gives one{other_scheme}"
        );
    }
    let is_any = verdicts.contains(&Verdict::Disallowed) || answers.are_listed.contains(&true);
    Ok(ExitCode::from(u8::from(is_any)))
}

/// The message about a text that a robots.txt has no verdict on, with what to write.
fn neither_url_nor_path(text: &str) -> String {
    let text = text.trim();
    let is_word = !text.is_empty() && !text.contains(|c: char| c == ':' || c.is_whitespace());
    let remedy = if is_bare_host(text) {
        format!("write the path as /{text}, or the whole URL as https://{text}")
    } else if is_word {
        format!("write the path as /{text}, or the whole URL")
    } else {
        "write a path such as /cart, or a whole URL such as https://example.com/cart".to_owned()
    };
    format!(
        "{text:?} is neither a URL with scheme and host nor a path, which begins with /, so there is \
         no verdict on it; {remedy}"
    )
}

/// The first URL with this verdict for any agent. The verdicts are in the order of the URLs, with one
/// per agent.
fn first_url_with<'u>(
    wanted: Verdict,
    verdicts: &[Verdict],
    urls: &'u [String],
) -> Option<&'u str> {
    let position = verdicts.iter().position(|verdict| *verdict == wanted)?;
    let agents = verdicts.len() / urls.len();
    Some(&urls[position / agents])
}

/// The first URL of an unknown origin that no list names either.
fn first_unknown<'u>(answers: &CheckOutput, urls: &'u [String]) -> Option<&'u str> {
    let agents = answers.verdicts.len() / urls.len();
    let of_urls = answers.verdicts.chunks(agents.max(1));
    let mut of_urls = urls.iter().zip(of_urls).zip(&answers.are_listed);
    let found = of_urls
        .find(|((_, verdicts), is_listed)| verdicts.contains(&Verdict::Unknown) && !**is_listed);
    found.map(|((url, _), _)| url.as_str())
}

/// The verdicts, and the printed text.
#[derive(Default)]
struct CheckOutput {
    verdicts: Vec<Verdict>,
    /// Whether a list names each URL.
    are_listed: Vec<bool>,
    text: String,
}

impl CheckOutput {
    /// Writes the entry of a list that decides about a URL, if there is one.
    fn write_list_match(
        &mut self,
        args: &CheckArgs,
        url: &str,
        found: Option<&ListMatch<'_>>,
    ) -> anyhow::Result<()> {
        self.are_listed
            .push(found.is_some_and(|found| !found.is_exception()));
        let Some(found) = found else { return Ok(()) };
        // In JSON, each object has it.
        if !args.json {
            let columns = match_columns(found)?;
            let _ = writeln!(self.text, "{columns}\t{}", escape(url));
        }
        Ok(())
    }
}

/// Refuses a path, which has no host that a list could name.
fn refuse_path(url: &str) -> anyhow::Result<()> {
    ensure!(
        !url.starts_with('/'),
        "{url:?} is a path, and lists name hosts; write the whole URL, such as https://example.com{url}"
    );
    Ok(())
}

/// The entry of the lists that decides about a URL.
fn find_entry<'l>(
    lists: Option<&'l FilterLists>,
    url: &str,
) -> robosieve::Result<Option<ListMatch<'l>>> {
    lists.map_or(Ok(None), |lists| lists.find(url.as_bytes()))
}

/// A verdict and its derivation.
struct CheckAnswer<'a> {
    url: &'a str,
    agent: &'a Agent,
    verdict: Verdict,
    /// The explanation by rules, if rules decide.
    rules: Option<&'a Explanation>,
    preferences: &'a PreferenceExplanation,
    robots: RobotsSource<'a>,
    /// The entry of a list that decides; `None` within if there is none, and without if no lists are
    /// asked.
    list_match: Option<Option<ListMatch<'a>>>,
}

/// The source of the robots.txt.
enum RobotsSource<'a> {
    Snapshot {
        explanation: &'a UrlExplanation<'a>,
    },
    File {
        path: &'a Path,
        text: &'a [u8],
        body: BodyFacts,
    },
}

fn check_snapshot(
    args: &CheckArgs,
    snapshot: &Snapshot,
    lists: Option<&FilterLists>,
    agents: &[Agent],
) -> anyhow::Result<CheckOutput> {
    let judge = Judge::new(snapshot, agents, args.options())?;
    let mut output = CheckOutput::default();
    for url in &args.urls {
        let found = find_entry(lists, url)?;
        for (i, agent) in agents.iter().enumerate() {
            // An explanation has the verdict too, so the URL is judged once.
            let explanation = judge.explain(url.as_bytes(), i)?;
            output.verdicts.push(explanation.verdict);
            let robots = RobotsSource::Snapshot {
                explanation: &explanation,
            };
            write_answer(
                args,
                &CheckAnswer {
                    url,
                    agent,
                    verdict: explanation.verdict,
                    rules: explanation.rules.as_ref(),
                    preferences: &explanation.preferences,
                    robots,
                    list_match: lists.map(|_| found),
                },
                &mut output.text,
            )?;
        }
        output.write_list_match(args, url, found.as_ref())?;
    }
    Ok(output)
}

fn check_robots(
    args: &CheckArgs,
    path: &Path,
    body: &[u8],
    lists: Option<&FilterLists>,
    agents: &[Agent],
) -> anyhow::Result<CheckOutput> {
    let (robots, body_facts) = parse_robots(path, body, args.profile)?;
    args.judge.agents.check_spelling_by(agents, &robots)?;
    let mut output = CheckOutput::default();
    for url in &args.urls {
        let found = find_entry(lists, url)?;
        for agent in agents {
            let agent_match = args.judge.agents.agent_match;
            let explanation = explain(&robots, agent, agent_match, url.as_bytes());
            let mut preferences = explain_preferences(&robots, agent, agent_match, url.as_bytes());
            if explanation.verdict == Verdict::Disallowed {
                preferences.preferences = preferences.preferences.of_refused_url();
            }
            output.verdicts.push(explanation.verdict);
            let robots = RobotsSource::File {
                path,
                text: body,
                body: body_facts,
            };
            write_answer(
                args,
                &CheckAnswer {
                    url,
                    agent,
                    verdict: explanation.verdict,
                    rules: Some(&explanation),
                    preferences: &preferences,
                    robots,
                    list_match: lists.map(|_| found),
                },
                &mut output.text,
            )?;
        }
        output.write_list_match(args, url, found.as_ref())?;
    }
    Ok(output)
}

/// Writes an answer as text or JSON.
fn write_answer(
    args: &CheckArgs,
    answer: &CheckAnswer<'_>,
    out: &mut String,
) -> anyhow::Result<()> {
    if args.json {
        let all = args.explain == Some(ExplainArg::All);
        out.push_str(&to_json(&json::object(answer, all)?)?);
        out.push('\n');
        return Ok(());
    }
    text::headline(out, answer);
    if let Some(which) = args.explain {
        text::reasons(out, answer, which);
    }
    Ok(())
}
