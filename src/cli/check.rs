//! `robosieve check`: single URLs, with the reason if asked for.

use super::choices::ProfileArg;
use super::escape::escape;
use super::examples::CHECK_EXAMPLES;
use super::judging::{JudgeArgs, agents_needed};
use super::output::print;
use anyhow::{Context, bail};
use clap::{ArgGroup, Args};
use robosieve::{
    Agent, Explanation, Judge, Loss, OriginExplanation, Preference, PreferenceExplanation, Robots, RuleLine, Snapshot,
    SpellCheck, Verdict, explain, explain_preferences,
};
use std::fmt::Write as _;
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
    /// Say which rule decided, where it stands, and why the others lost
    #[arg(long)]
    pub explain: bool,
    /// URLs to judge
    #[arg(required = true, value_name = "URL")]
    pub urls: Vec<String>,
}

pub(crate) fn run(args: &CheckArgs, quiet: bool) -> anyhow::Result<ExitCode> {
    let agents = args.judge.who.agents(quiet)?;
    args.urls.iter().try_for_each(|url| args.judge.who.refuse_agent_as_url(url))?;
    let (verdicts, text) = match (&args.snapshot, &args.robots) {
        (Some(path), _) => {
            let snapshot = Snapshot::open(path)?;
            let mut check = SpellCheck::new(&agents);
            check.add_snapshot(&snapshot).map_err(|err| err.at(path))?;
            args.judge.who.check_names(check)?;
            check_snapshot(args, &snapshot, &agents).with_context(|| path.display().to_string())?
        }
        (None, Some(path)) => {
            let body = read_robots(path).with_context(|| path.display().to_string())?;
            check_robots(args, &body, &agents)?
        }
        (None, None) => bail!("give a snapshot (-s SNAP) or a robots.txt file (--robots FILE)"),
    };
    print(&text)?;
    exit_code(args, &verdicts)
}

fn read_robots(path: &Path) -> std::io::Result<Vec<u8>> {
    if path.as_os_str() != "-" {
        return std::fs::read(path);
    }
    let mut body = Vec::new();
    std::io::stdin().read_to_end(&mut body)?;
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

fn check_snapshot(
    args: &CheckArgs,
    snapshot: &Snapshot<impl AsRef<[u8]>>,
    agents: &[Agent],
) -> anyhow::Result<Checked> {
    let judge = Judge::new(snapshot, agents, args.judge.options())?;
    let (mut verdicts, mut text) = Checked::default();
    for url in &args.urls {
        for (i, agent) in agents.iter().enumerate() {
            let why = judge.explain(url.as_bytes(), i)?;
            verdicts.push(why.verdict);
            headline(&mut text, why.verdict, agent, url, &why.preferences);
            if args.explain {
                explain_origin(&mut text, &why, agent);
                explain_use(&mut text, &why.preferences);
            }
        }
    }
    Ok((verdicts, text))
}

fn check_robots(args: &CheckArgs, body: &[u8], agents: &[Agent]) -> anyhow::Result<Checked> {
    let robots = Robots::parse(body, args.profile.value());
    let mut check = SpellCheck::new(agents);
    check.add_robots(&robots);
    args.judge.who.check_names(check)?;
    let (mut verdicts, mut text) = Checked::default();
    for url in &args.urls {
        for agent in agents {
            let how = args.judge.who.agent_match.value();
            let why = explain(&robots, agent, how, url.as_bytes());
            let preferences = explain_preferences(&robots, agent, how, url.as_bytes());
            verdicts.push(why.verdict);
            headline(&mut text, why.verdict, agent, url, &preferences);
            if args.explain {
                explain_rules(&mut text, &why, agent);
                explain_use(&mut text, &preferences);
            }
        }
    }
    Ok((verdicts, text))
}

/// The verdict, and where the robots.txt has preferences for the agent, these as columns behind the URL.
fn headline(out: &mut String, verdict: Verdict, agent: &Agent, url: &str, why: &PreferenceExplanation) {
    let _ = write!(out, "{}\t{}\t{}", verdict.name(), escape(agent.label()), escape(url));
    let said = why.preferences;
    let usage = [("train-ai", said.train_ai), ("search", said.search)];
    let usage = usage.iter().filter(|(_, preference)| *preference != Preference::Unknown);
    let usage: Vec<String> = usage.map(|(key, preference)| format!("{key}={}", preference.name())).collect();
    if !usage.is_empty() {
        let _ = write!(out, "\tcontent-usage: {}", usage.join(","));
    }
    if !said.signals.is_empty() {
        let _ = write!(out, "\tcontent-signal: {}", said.signals);
    }
    out.push('\n');
}

/// The preferences, and the lines they come from.
fn explain_use(out: &mut String, why: &PreferenceExplanation) {
    let said = why.preferences;
    if !why.usage_lines.is_empty() {
        row(out, "usage", format!("train-ai {}, search {}", said.train_ai.name(), said.search.name()));
    }
    for (line, text) in &why.usage_lines {
        row(out, "", format!("line {line}: {text}"));
    }
    if !why.signal_lines.is_empty() {
        row(out, "signal", if said.signals.is_empty() { "nothing".to_owned() } else { said.signals.to_string() });
    }
    for (line, text) in &why.signal_lines {
        row(out, "", format!("line {line}: {text}"));
    }
}

fn row(out: &mut String, name: &str, text: impl std::fmt::Display) {
    let _ = writeln!(out, "  {name:<11} {text}");
}

fn explain_origin(out: &mut String, why: &OriginExplanation<'_>, agent: &Agent) {
    let Some(origin) = &why.origin else {
        return row(out, "origin", "none: not a URL with scheme and host");
    };
    let Some(entry) = &why.entry else {
        return row(out, "origin", format!("{origin} is not in the snapshot"));
    };
    row(out, "origin", entry.origin());
    if why.via_other_scheme {
        row(out, "scheme", format!("{origin} is not in the snapshot; the other scheme's entry holds (--scheme any)"));
    }
    row(out, "robots.txt", super::inspect::describe(entry));
    if why.by_last_good {
        row(out, "copy", "the last good one: the site has failed for 30 days or more");
    }
    match &why.rules {
        Some(rules) => explain_rules(out, rules, agent),
        None => row(out, "because", format!("the answer decides, not a rule: all URLs are {}", why.verdict.name())),
    }
}

fn explain_rules(out: &mut String, why: &Explanation, agent: &Agent) {
    row(out, "path", &why.path);
    let group = match (&why.named, why.agent_lines.is_empty()) {
        (_, true) => format!("none names {agent}, and there is no global one: everything is allowed"),
        (Some(name), _) => format!("names {name}"),
        (None, _) => format!("global: no group names {agent}"),
    };
    row(out, "group", group);
    for (line, text) in &why.agent_lines {
        row(out, "", format!("line {line}: {text}"));
    }
    match &why.deciding {
        Some(rule) => row(out, "rule", format!("{} (length {})", rule_text(rule), rule.length)),
        None if why.losers.iter().any(|(_, loss)| *loss == Loss::RobotsTxt) => {
            row(out, "rule", "none: /robots.txt itself may always be fetched");
        }
        None if !why.agent_lines.is_empty() => row(out, "rule", "none matches: allowed"),
        None => {}
    }
    for (rule, loss) in &why.losers {
        row(out, "lost", format!("{} ({})", rule_text(rule), reason(*loss, rule, why)));
    }
}

fn rule_text(rule: &RuleLine) -> String {
    format!("line {}: {}", rule.line, rule.text)
}

fn reason(loss: Loss, rule: &RuleLine, why: &Explanation) -> String {
    let best = why.deciding.as_ref().map_or(0, |best| best.length);
    match loss {
        Loss::NoMatch => "does not match".to_owned(),
        Loss::Empty => "has no path, so it says nothing".to_owned(),
        Loss::Shorter => format!("matches, but its length {} is less than {best}", rule.length),
        Loss::AllowWins => format!("matches with length {} too, but allow wins", rule.length),
        Loss::Same => "matches too and says the same".to_owned(),
        Loss::RobotsTxt => "matches, but /robots.txt itself may always be fetched".to_owned(),
    }
}
