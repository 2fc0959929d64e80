//! Whom to judge for: agents by name, by set, from a file; and what is told about their names.

use super::choices::AgentMatchArg;
use super::escape::escape;
use super::overlap::Files;
use super::stderr::print_line;
use anyhow::{Context, bail};
use clap::Args;
use robosieve::{Agent, KnownAgent, Snapshot, SpellCheck, UnnamedAgent, add_agents};
use std::path::{Path, PathBuf};

#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    /// Agents, by product token; repeats and takes commas; FIRST:SECOND falls back; @ai, @ai-train, @ai-search, @ai-user and
    /// @search are sets, which `robosieve agents` lists
    #[arg(short, long = "agent", value_name = "AGENT", value_delimiter = ',')]
    pub agents: Vec<String>,
    /// More agents or sets from a file, one a line; blank lines and what follows a `#` are passed over
    #[arg(long, value_name = "FILE")]
    pub agents_from: Option<PathBuf>,
    /// How names outside the RFC's alphabet (MJ12bot) are matched: by the whole name, or never, as Google does
    #[arg(long, value_enum, default_value_t = AgentMatchArg::Extended)]
    pub agent_match: AgentMatchArg,
    /// Fail where an agent that nobody names looks like a misspelled name, instead of warning
    #[arg(long)]
    pub strict_agents: bool,
}

impl AgentArgs {
    /// Whether any are named.
    pub(crate) fn is_empty(&self) -> bool {
        self.agents.is_empty() && self.agents_from.is_none()
    }

    /// What is read for them.
    pub(crate) fn reads(&self) -> Files {
        Files::default().reads("--agents-from", &self.agents_from)
    }

    /// The agents; tells on stderr about names that the reference could not match.
    pub(crate) fn agents(&self, quiet: bool) -> anyhow::Result<Vec<Agent>> {
        let mut named = Named::default();
        for name in &self.agents {
            named.add(name)?;
        }
        if let Some(path) = &self.agents_from {
            read_agents(path, &mut named)?;
        }
        if !quiet {
            named.tell(self.agent_match);
        }
        Ok(named.agents)
    }

    /// [`check_names`](Self::check_names) of these agents against the names in snapshots, each given with its path.
    pub(crate) fn check_in<'s>(
        &self,
        agents: &[Agent],
        snapshots: impl IntoIterator<Item = (&'s Snapshot, &'s Path)>,
    ) -> anyhow::Result<()> {
        let mut check = SpellCheck::new(agents);
        for (snapshot, path) in snapshots {
            check.add_snapshot(snapshot).map_err(|err| err.at(path))?;
        }
        self.check_names(check)
    }

    /// Warns of agents that nobody names and that were probably meant to be others; with
    /// `--strict-agents`, and where no agent can have been meant, that is an error. A name that is
    /// close to none stays silent: a new crawler has one.
    ///
    /// Warnings are printed with `--quiet` too: verdicts for a misspelled agent are wrong.
    pub(crate) fn check_names(&self, check: SpellCheck) -> anyhow::Result<()> {
        self.check_names_against(check, "no robots.txt here names")
    }

    /// The same where `nobody_names` begins the warning.
    pub(crate) fn check_names_against(&self, check: SpellCheck, nobody_names: &str) -> anyhow::Result<()> {
        let mut doubts = Vec::new();
        for agent in check.finish() {
            refuse_joined(&agent)?;
            refuse_file_name(&agent)?;
            doubts.extend(
                agent
                    .misspelled
                    .into_iter()
                    .map(|name| format!("{nobody_names} {}; did you mean {}?", name.name, name.suggestion)),
            );
        }
        if self.strict_agents && !doubts.is_empty() {
            bail!("{} (--strict-agents)", doubts.join("; "));
        }
        for doubt in doubts {
            print_line(format_args!("robosieve: warning: {}", escape(&doubt)));
        }
        Ok(())
    }

    /// Refuses an input that is not there and is an agent: `-a GPTBot CCBot urls.txt`.
    pub(crate) fn refuse_agent_as_input(&self, input: &Path) -> anyhow::Result<()> {
        match input.to_str() {
            Some(name) if looks_like_agent(name) && !input.exists() => self.refuse_stray(name, "no such file"),
            _ => Ok(()),
        }
    }

    /// Refuses a URL that is an agent: `-a GPTBot CCBot https://example.com/`.
    pub(crate) fn refuse_agent_as_url(&self, url: &str) -> anyhow::Result<()> {
        if looks_like_agent(url) { self.refuse_stray(url, "not a URL") } else { Ok(()) }
    }

    fn refuse_stray(&self, name: &str, what: &str) -> anyhow::Result<()> {
        match self.agents.last() {
            Some(last) => {
                bail!("{name}: {what}; if it is an agent, separate agents by commas: -a {last},{name}")
            }
            None => Ok(()),
        }
    }
}

/// Whether a word that stands where a file or a URL belongs is an agent's name.
fn looks_like_agent(word: &str) -> bool {
    let lower = word.to_ascii_lowercase();
    let is_plain = word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' '));
    let is_usual = ["bot", "spider", "crawler"].iter().any(|end| lower.ends_with(end));
    KnownAgent::find(word).is_some() || (is_plain && is_usual)
}

/// Several agents without commas: nobody names them all as one.
fn refuse_joined(agent: &UnnamedAgent) -> anyhow::Result<()> {
    if agent.joined.is_empty() {
        return Ok(());
    }
    bail!(
        "agent {:?}: not a known agent, but each of its words is; separate agents by commas: -a {} (in a file: one per line)",
        agent.label,
        agent.joined.join(",")
    )
}

/// A file in place of an agent.
fn refuse_file_name(agent: &UnnamedAgent) -> anyhow::Result<()> {
    let name = agent.label.to_ascii_lowercase();
    match FILE_ENDINGS.iter().any(|ending| name.ends_with(ending)) {
        false => Ok(()),
        true => bail!(
            "agent {:?}: this is the name of a file, and -a takes product tokens such as GPTBot; --agents-from FILE reads agents from \
             a file, and `check --robots FILE` judges by one robots.txt",
            agent.label
        ),
    }
}

/// How the names of files end that are used with this program.
const FILE_ENDINGS: &[&str] =
    &[".txt", ".tsv", ".csv", ".json", ".jsonl", ".ndjson", ".gz", ".zst", ".warc", ".parquet", ".rsieve"];

/// Agents while they are gathered.
#[derive(Default)]
struct Named {
    agents: Vec<Agent>,
    /// Those that were named, and not by a set.
    singly: Vec<Agent>,
    /// Those that were named by themselves, but behind a set that has them.
    again: Vec<String>,
}

impl Named {
    fn add(&mut self, name: &str) -> robosieve::Result<()> {
        if name.trim_start().starts_with('@') {
            return add_agents(name, &mut self.agents).map(drop);
        }
        let agent: Agent = name.parse()?;
        let is_there = |agents: &[Agent]| agents.iter().any(|other| other.is_same(&agent));
        if is_there(&self.agents) && !is_there(&self.singly) {
            self.again.push(name.trim().to_owned());
        } else {
            self.agents.push(agent.clone());
        }
        self.singly.push(agent);
        Ok(())
    }

    fn tell(&self, how: AgentMatchArg) {
        if !self.again.is_empty() {
            print_line(format_args!("robosieve: note: a set has them already: {}", escape(&self.again.join(", "))));
        }
        // Under the extended matching all is well with the agents of a set.
        let asked = if how == AgentMatchArg::Google { &self.agents } else { &self.singly };
        let outside = asked.iter().filter(|agent| agent.is_outside_alphabet());
        let (lost, partly): (Vec<&Agent>, Vec<&Agent>) = outside.partition(|agent| agent.is_unaddressable(how.value()));
        tell_outside(&lost, "no group can name it, so only the global groups hold");
        tell_outside(
            &partly,
            match how {
                AgentMatchArg::Extended => {
                    "it is compared with the whole name in user-agent lines (--agent-match google turns that off)"
                }
                AgentMatchArg::Google => "no group can name it by that, only by its other names",
            },
        );
    }
}

fn tell_outside(agents: &[&Agent], what: &str) {
    if let [first, others @ ..] = agents {
        let (plural, verb) = if others.is_empty() { ("", "has") } else { ("s", "each have") };
        let names = others.iter().fold(first.to_string(), |names, agent| format!("{names}, {agent}"));
        let names = escape(&names);
        print_line(format_args!(
            "robosieve: note: agent{plural} {names} {verb} characters outside RFC 9309's alphabet (A-Z a-z _ -); {what}"
        ));
    }
}

/// The agents that a file lists.
fn read_agents(path: &Path, named: &mut Named) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let mut count = 0;
    for (i, line) in text.lines().enumerate() {
        let name = line.split('#').next().unwrap_or_default().trim();
        if !name.is_empty() {
            named.add(name).with_context(|| format!("{}: line {}", path.display(), i + 1))?;
            count += 1;
        }
    }
    if count == 0 {
        bail!("{}: lists no agents; write one a line", path.display());
    }
    Ok(())
}
