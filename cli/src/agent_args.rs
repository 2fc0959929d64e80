//! The options that name agents: by product token, by set, from a file; and notes and warnings
//! about the names.

use crate::figures::escape::escape;
use crate::help_text::{COMMON, POLICY};
use crate::option_guard::OptionGuard;
use crate::stderr::print_line;
use crate::value_enums::named;
use anyhow::{Context, bail};
use clap::Args;
use robosieve::census::{SpellCheck, UnnamedAgent};
use robosieve::crawlers::{CrawlerList, CrawlerRegistry};
use robosieve::{Agent, AgentMatch, RobotsRef, Snapshot};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

#[derive(Debug, Args)]
pub(crate) struct AgentArgs {
    /// Agents or sets (GPTBot,@ai-train)
    ///
    /// Commas separate them, and the option may be repeated. An agent is named by its product
    /// token. FIRST:SECOND is a fallback: the rules for SECOND apply where no group names FIRST.
    /// `robosieve agents` lists the sets @ai, @ai-train, @ai-search, @ai-user, @ai-agent,
    /// @data-provider and @search.
    #[arg(
        short,
        long = "agent",
        value_name = "AGENT",
        value_delimiter = ',',
        help_heading = COMMON
    )]
    pub agents: Vec<String>,
    /// File of more agents or sets, one per line
    ///
    /// Blank lines and comments (from `#` to the end of the line) are skipped.
    #[arg(long, value_name = "FILE", help_heading = COMMON)]
    pub agents_from: Option<PathBuf>,
    /// File of more known crawlers: TSV, or robots.json of ai.robots.txt
    ///
    /// Its crawlers join the built-in registry, and so the sets. For a crawler that the registry
    /// has, the file's facts replace the registry's. The option may be repeated. TSV has the
    /// columns that `robosieve agents --tsv` prints.
    #[arg(long, value_name = "FILE", hide_short_help = true, help_heading = POLICY)]
    pub crawlers: Vec<PathBuf>,
    /// Know only the crawlers of --crawlers, and none of the built-in registry
    #[arg(long, requires = "crawlers", hide_short_help = true, help_heading = POLICY)]
    pub only_crawlers: bool,
    /// The registry, once it is read.
    #[arg(skip)]
    registry: OnceLock<CrawlerRegistry>,
    /// How to match names outside RFC 9309's alphabet, such as MJ12bot
    ///
    /// `extended` compares the whole name. `google` never matches such a name, as Google's parser.
    #[arg(long, value_parser = named::<AgentMatch>(), default_value_t = AgentMatch::Extended, hide_short_help = true, help_heading = POLICY)]
    pub agent_match: AgentMatch,
    /// Fail, instead of warning, if an agent looks misspelled
    ///
    /// An agent looks misspelled if no robots.txt names it, but a similar name is known.
    #[arg(long, hide_short_help = true, help_heading = POLICY)]
    pub strict_agents: bool,
}

impl AgentArgs {
    /// Whether any are named.
    pub(crate) fn is_empty(&self) -> bool {
        self.agents.is_empty() && self.agents_from.is_none()
    }

    /// A guard that protects the file of agents.
    pub(crate) fn overwrite_guard(&self) -> OptionGuard {
        let guard = OptionGuard::default().add_inputs("--agents-from", &self.agents_from);
        guard.add_inputs("--crawlers", &self.crawlers)
    }

    /// The registry of crawlers: the built-in one and the files of `--crawlers`. They are read
    /// once, as a file may be a pipe.
    pub(crate) fn registry(&self) -> anyhow::Result<&CrawlerRegistry> {
        if let Some(registry) = self.registry.get() {
            return Ok(registry);
        }
        if self.crawlers.is_empty() {
            return Ok(CrawlerRegistry::shipped());
        }
        let mut registry = if self.only_crawlers {
            CrawlerRegistry::empty()
        } else {
            CrawlerRegistry::shipped().clone()
        };
        for path in &self.crawlers {
            registry.extend(CrawlerList::open(path)?);
        }
        Ok(self.registry.get_or_init(|| registry))
    }

    /// Resolves all names, and prints notes on stderr about names that few or no groups can match.
    pub(crate) fn resolve(&self, quiet: bool) -> anyhow::Result<Vec<Agent>> {
        let mut list = AgentList::new(self.registry()?);
        for name in &self.agents {
            list.add(name)?;
        }
        if let Some(path) = &self.agents_from {
            read_agents(path, &mut list)?;
        }
        if !quiet {
            list.print_notes(self.agent_match);
        }
        Ok(list.agents)
    }

    /// A spell checker with the names of the registry.
    pub(crate) fn spell_check(&self, agents: &[Agent]) -> anyhow::Result<SpellCheck> {
        Ok(SpellCheck::with_registry(agents, self.registry()?))
    }

    /// Checks the spelling of the agents against the names in snapshots, each given with its path.
    pub(crate) fn check_spelling_in<'s>(
        &self,
        agents: &[Agent],
        snapshots: impl IntoIterator<Item = (&'s Snapshot, &'s Path)>,
    ) -> anyhow::Result<()> {
        let mut check = self.spell_check(agents)?;
        for (snapshot, path) in snapshots {
            check.add_snapshot(snapshot).map_err(|err| err.at(path))?;
        }
        self.check_spelling(check)
    }

    /// Checks the spelling of the agents against the names in one robots.txt.
    pub(crate) fn check_spelling_by(
        &self,
        agents: &[Agent],
        robots: &RobotsRef<'_>,
    ) -> anyhow::Result<()> {
        let mut check = self.spell_check(agents)?;
        check.add_robots(robots);
        self.check_spelling(check)
    }

    /// Warns of agents that no robots.txt names and that resemble a known name; with
    /// `--strict-agents` this is an error. A name that resembles none gives no warning: it may be a
    /// new crawler. A value that cannot be one agent is always an error.
    ///
    /// `--quiet` does not suppress the warnings: verdicts for a misspelled agent are wrong.
    pub(crate) fn check_spelling(&self, check: SpellCheck) -> anyhow::Result<()> {
        self.check_spelling_with(check, "no robots.txt here names")
    }

    /// [`check_spelling`](Self::check_spelling) with another beginning of the warning.
    pub(crate) fn check_spelling_with(
        &self,
        check: SpellCheck,
        beginning: &str,
    ) -> anyhow::Result<()> {
        let mut doubts = Vec::new();
        for agent in check.finish() {
            refuse_joined(&agent)?;
            refuse_file_name(&agent)?;
            doubts.extend(agent.misspelled.into_iter().map(|name| {
                format!(
                    "{beginning} {}; did you mean {}?",
                    name.name, name.suggestion
                )
            }));
        }
        if self.strict_agents && !doubts.is_empty() {
            bail!("{} (--strict-agents)", doubts.join("; "));
        }
        for doubt in doubts {
            print_line(format_args!("robosieve: warning: {}", escape(&doubt)));
        }
        Ok(())
    }

    /// Refuses a missing input that is the name of an agent: `-a GPTBot CCBot urls.txt`.
    pub(crate) fn refuse_agent_as_input(&self, input: &Path) -> anyhow::Result<()> {
        match input.to_str() {
            Some(name) if looks_like_agent(name, self.registry()?) && !input.exists() => {
                self.refuse_stray_agent(name, "no such file")
            }
            _ => Ok(()),
        }
    }

    /// Refuses a URL that is the name of an agent: `-a GPTBot CCBot https://example.com/`.
    pub(crate) fn refuse_agent_as_url(&self, url: &str) -> anyhow::Result<()> {
        if looks_like_agent(url, self.registry()?) {
            self.refuse_stray_agent(url, "not a URL")
        } else {
            Ok(())
        }
    }

    fn refuse_stray_agent(&self, name: &str, problem: &str) -> anyhow::Result<()> {
        match self.agents.last() {
            Some(last) => {
                bail!(
                    "{name}: {problem}; if it is an agent, separate agents by commas: \
                     -a {last},{name}"
                )
            }
            None => Ok(()),
        }
    }
}

/// Whether an argument where a file or a URL belongs is the name of an agent.
fn looks_like_agent(word: &str, registry: &CrawlerRegistry) -> bool {
    let lower = word.to_ascii_lowercase();
    let is_plain = word
        .chars()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | ' '));
    let is_usual = ["bot", "spider", "crawler"]
        .iter()
        .any(|suffix| lower.ends_with(suffix));
    registry.find(word).is_some() || (is_plain && is_usual)
}

/// Refuses several agents without commas between them.
fn refuse_joined(agent: &UnnamedAgent) -> anyhow::Result<()> {
    if agent.joined.is_empty() {
        return Ok(());
    }
    bail!(
        "agent {:?}: not a known agent, but each of its words is; separate agents by commas: -a {} \
         (in a file: one per line)",
        agent.label,
        agent.joined.join(",")
    )
}

/// Refuses a file name where an agent belongs.
fn refuse_file_name(agent: &UnnamedAgent) -> anyhow::Result<()> {
    let name = agent.label.to_ascii_lowercase();
    match FILE_EXTENSIONS
        .iter()
        .any(|extension| name.ends_with(extension))
    {
        false => Ok(()),
        true => bail!(
            "agent {:?}: this is the name of a file, and -a takes product tokens such as GPTBot; \
             --agents-from FILE reads agents from a file, and `check --robots FILE` judges by one \
             robots.txt",
            agent.label
        ),
    }
}

/// Extensions of files that are used with this program.
const FILE_EXTENSIONS: &[&str] = &[
    ".txt",
    ".tsv",
    ".csv",
    ".json",
    ".jsonl",
    ".ndjson",
    ".gz",
    ".zst",
    ".warc",
    ".parquet",
    ".rsieve",
    ".captures",
];

/// Collects agents from `-a` and `--agents-from`.
struct AgentList<'r> {
    registry: &'r CrawlerRegistry,
    agents: Vec<Agent>,
    /// Agents named by themselves, not by a set.
    single: Vec<Agent>,
    /// Names of agents that an earlier set already contains.
    duplicates: Vec<String>,
}

impl<'r> AgentList<'r> {
    fn new(registry: &'r CrawlerRegistry) -> Self {
        Self {
            registry,
            agents: Vec::new(),
            single: Vec::new(),
            duplicates: Vec::new(),
        }
    }

    fn add(&mut self, name: &str) -> robosieve::Result<()> {
        if name.trim_start().starts_with('@') {
            return self.registry.add_agents(name, &mut self.agents).map(drop);
        }
        let agent: Agent = name.parse()?;
        // An agent that a set has already gets a note. One that is named twice stays twice.
        if contains(&self.agents, &agent) && !contains(&self.single, &agent) {
            self.duplicates.push(name.trim().to_owned());
        } else {
            self.agents.push(agent.clone());
        }
        self.single.push(agent);
        Ok(())
    }

    fn print_notes(&self, agent_match: AgentMatch) {
        if !self.duplicates.is_empty() {
            print_line(format_args!(
                "robosieve: note: a set contains them already: {}",
                escape(&self.duplicates.join(", "))
            ));
        }
        // The extended matching finds every agent of a set, so a note would be noise.
        let checked = if agent_match == AgentMatch::Google {
            &self.agents
        } else {
            &self.single
        };
        let outside = checked.iter().filter(|agent| agent.is_outside_alphabet());
        let (unmatched, partly): (Vec<&Agent>, Vec<&Agent>) =
            outside.partition(|agent| agent.is_unaddressable(agent_match));
        print_alphabet_note(
            &unmatched,
            "no group can name it, so only the global groups apply",
        );
        print_alphabet_note(
            &partly,
            if agent_match == AgentMatch::Google {
                "no group can name it by that, only by its other names"
            } else {
                "it is compared with the whole name in user-agent lines (--agent-match google \
                 turns that off)"
            },
        );
    }
}

fn contains(agents: &[Agent], agent: &Agent) -> bool {
    agents.iter().any(|other| other.is_same(agent))
}

fn print_alphabet_note(agents: &[&Agent], consequence: &str) {
    if let [first, others @ ..] = agents {
        let (plural, verb) = if others.is_empty() {
            ("", "has")
        } else {
            ("s", "each have")
        };
        let names = others.iter().fold(first.to_string(), |names, agent| {
            format!("{names}, {agent}")
        });
        let names = escape(&names);
        print_line(format_args!(
            "robosieve: note: agent{plural} {names} {verb} characters outside RFC 9309's alphabet \
             (A-Z a-z _ -); {consequence}"
        ));
    }
}

/// Adds the agents that a file lists.
fn read_agents(path: &Path, list: &mut AgentList<'_>) -> anyhow::Result<()> {
    let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let mut count = 0;
    for (i, line) in text.lines().enumerate() {
        let name = line.split('#').next().unwrap_or_default().trim();
        if !name.is_empty() {
            list.add(name)
                .with_context(|| format!("{}: line {}", path.display(), i + 1))?;
            count += 1;
        }
    }
    if count == 0 {
        bail!("{}: lists no agents; write one per line", path.display());
    }
    Ok(())
}
