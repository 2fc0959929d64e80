//! Whom to judge for: agents by name, by set, from a file; and what is told about their names.

use super::choices::AgentMatchArg;
use anyhow::{Context, bail};
use clap::Args;
use robosieve::{Agent, add_agents};
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
}

impl AgentArgs {
    /// Whether any are named.
    pub(crate) fn is_empty(&self) -> bool {
        self.agents.is_empty() && self.agents_from.is_none()
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
}

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
            eprintln!("robosieve: note: a set has them already: {}", self.again.join(", "));
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
        eprintln!(
            "robosieve: note: agent{plural} {names} {verb} characters outside RFC 9309's alphabet (A-Z a-z _ -); {what}"
        );
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
