//! The distinct robots.txt files of a snapshot, for statistics that read each of them once.

use crate::error::Result;
use crate::file_pass::{Coverage, FileReader, visit_rule_set};
use crate::judge::Judge;
use crate::judge::engine::Engine;
use crate::snapshot::format::NONE;
use std::ops::ControlFlow;

/// Reads the distinct robots.txt files of a snapshot, by their numbers in the column `rules_file`,
/// and the rules in them that the agents of a judge obey. One per thread.
///
/// Many origins share a robots.txt, and many files share a rule set. So a statistic counts the
/// origins of each file by the rows of an [`Exporter`](super::Exporter), and then reads each file
/// once, for all of its origins.
///
/// Memory: a decompressor. Creating one costs next to nothing.
///
/// ```
/// use robosieve::export::{
///     Coverage, ExportPosition, ExportTable, ExportValue, Exporter, StoredFiles,
/// };
/// use robosieve::{Compiler, Judge, JudgeOptions, Snapshot};
/// let mut compiler = Compiler::default();
/// for origin in ["https://a.example", "https://b.example"] {
///     compiler.add_robots(origin, b"user-agent: *\ndisallow: /x*y$")?;
/// }
/// let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
/// let judge = Judge::new(snapshot, &["a".parse()?, "b".parse()?], JudgeOptions::default())?;
///
/// let exporter = Exporter::new(&judge, ExportTable::Origins)?.choose_columns(&["rules_file"])?;
/// let batches = exporter.read(&mut ExportPosition::default())?.unwrap();
/// assert_eq!([0, 1].map(|row| batches[0].value(row, 0)), [ExportValue::Integer(0); 2]);
///
/// let mut files = StoredFiles::new(&judge);
/// assert_eq!(files.text(0)?, b"user-agent: *\ndisallow: /x*y$\n");
/// let agents = files.agent_coverages(0)?;
/// assert!(agents.iter().all(|agent| agent.coverage == Coverage::Partly));
/// assert_eq!(agents[0].set, agents[1].set);
/// files.visit_rules(agents[0].set.unwrap(), |rule| {
///     assert_eq!((rule.pattern, rule.is_anchored, rule.is_allow), (&b"/x*y"[..], true, false));
/// })?;
/// # Ok::<(), robosieve::Error>(())
/// ```
pub struct StoredFiles<'j> {
    engine: &'j Engine<'j>,
    reader: FileReader<'j>,
}

/// How much a robots.txt disallows to an agent, and the group that decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AgentCoverage {
    /// How much is disallowed: the column `AGENT.access` of an export.
    pub coverage: Coverage,
    /// Whether a group names the agent or an agent of its chain: `name` in the column
    /// `AGENT.named`. Otherwise the groups for `*` decide, or none.
    pub is_named: bool,
    /// The number of the rules of this group, which [`StoredFiles::visit_rules`] takes; `None`
    /// without a group. Agents and files with the same rules share it.
    pub set: Option<u32>,
}

/// A rule as a snapshot stores it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct StoredRule<'p> {
    /// Its path in normal form, without a final `$` and without trailing stars. Each `*` is a
    /// wildcard.
    pub pattern: &'p [u8],
    /// Whether its path ends with `$`.
    pub is_anchored: bool,
    /// Whether it is an allow rule.
    pub is_allow: bool,
}

impl std::fmt::Debug for StoredFiles<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoredFiles").finish_non_exhaustive()
    }
}

impl<'j> StoredFiles<'j> {
    /// A reader of the files of a judge's snapshot.
    pub fn new(judge: &'j Judge) -> Self {
        let engine = judge.engine();
        Self {
            engine,
            reader: FileReader::new(engine.snapshot()),
        }
    }

    /// The number of files. Their numbers are smaller.
    pub fn count(&self) -> u32 {
        self.engine.snapshot().file_count()
    }

    /// How much a robots.txt disallows to each agent of the judge, in their order. Cost: some hundred
    /// nanoseconds, and some microseconds for rules that this reader has not met yet. The text is not
    /// decompressed.
    ///
    /// # Errors
    /// As [`text`](Self::text).
    pub fn agent_coverages(&mut self, file: u32) -> Result<Vec<AgentCoverage>> {
        let groups = self.engine.agent_groups(file)?;
        let mut agents = Vec::with_capacity(groups.len());
        for group in groups {
            agents.push(AgentCoverage {
                coverage: self.reader.coverage_of_rules(group.offset)?,
                is_named: group.is_named,
                set: (group.offset != NONE).then_some(group.offset),
            });
        }
        Ok(agents)
    }

    /// The condensed text of a robots.txt, with the line numbers of the file as served. Cost:
    /// decompresses it, in some microseconds.
    ///
    /// # Errors
    /// [`ErrorKind::Corrupt`](crate::ErrorKind::Corrupt) if there is no such file, or if the bytes
    /// of the snapshot contradict each other.
    pub fn text(&mut self, file: u32) -> Result<Vec<u8>> {
        self.reader.text(file)
    }

    /// Calls `visit` with each rule of a set.
    ///
    /// # Errors
    /// As [`text`](Self::text), if there is no such set.
    pub fn visit_rules(&self, set: u32, mut visit: impl FnMut(StoredRule<'_>)) -> Result<()> {
        visit_rule_set(self.engine.snapshot(), set, |rule| {
            visit(StoredRule {
                pattern: rule.pattern,
                is_anchored: rule.anchored,
                is_allow: rule.allow,
            });
            Ok(ControlFlow::Continue(()))
        })
    }
}
