//! A series: the figures of several snapshots, for charts over time.

use super::model::{
    AgentReport, GroupListFacts, Judging, SetReport, SnapshotFacts, Together, UnitGroup,
    WeightFacts,
};
use super::sampling::{Interval, SampleFacts};
use super::unit_kind::UnitKind;
use serde::Serialize;
use std::cmp::Reverse;
use std::collections::HashSet;

/// The figures of several snapshots, in the order given. Serialized, it is the output of
/// `robosieve report --series`.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Series {
    /// The units that are counted.
    pub by: UnitKind,
    /// The agents as given.
    pub agents: Vec<String>,
    /// The number of units that all snapshots share, if only these are counted.
    pub common_units: Option<u64>,
    /// One point per snapshot, in the order given.
    pub points: Vec<SeriesPoint>,
}

/// The figures of one snapshot in a series.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SeriesPoint {
    /// The label as given, such as `2026-08`.
    pub label: String,
    /// The snapshot.
    pub snapshot: SnapshotFacts,
    /// The options of judging.
    pub judging: Judging,
    /// The number of counted units.
    pub units: u64,
    /// The sample that these units are; `None` if all are counted.
    pub sample: Option<SampleFacts>,
    /// The weights of the units; `None` without weights.
    pub weights: Option<WeightFacts>,
    /// Units by the number of agents that they disallow.
    pub together: Together,
    /// The intervals of their shares; `None` without a sample.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub together_intervals: Option<Together<Interval>>,
    /// The sets of agents, in the order given.
    pub sets: Vec<SetReport>,
    /// The units by group; `None` unless requested.
    pub groups: Option<Vec<UnitGroup>>,
    /// The list that groups the units, if there is one.
    pub group_list: Option<GroupListFacts>,
    /// Each agent, in the order given.
    pub agents: Vec<AgentReport>,
}

impl SeriesPoint {
    /// The group with this name.
    pub fn group(&self, name: &str) -> Option<&UnitGroup> {
        self.groups
            .iter()
            .flatten()
            .find(|group| group.name == name)
    }
}

impl Series {
    /// A series without points.
    pub fn new(agents: &[robosieve::Agent], by: UnitKind) -> Self {
        Self {
            by,
            agents: agents.iter().map(ToString::to_string).collect(),
            common_units: None,
            points: Vec::new(),
        }
    }

    /// The names of the groups of all points: those of the last point first, in its order.
    pub fn group_names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        let mut known = HashSet::new();
        for point in self.points.iter().rev() {
            let groups = point.groups.iter().flatten();
            names.extend(
                groups
                    .map(|group| group.name.as_str())
                    .filter(|name| known.insert(*name)),
            );
        }
        names
    }

    /// The numbers of the agents, the most disallowed first, as
    /// [`Report::agents_by_refusal`](super::model::Report::agents_by_refusal): by the counts of the last
    /// point. Agents with equal counts keep their order.
    pub fn agents_by_refusal(&self) -> Vec<usize> {
        let mut agents: Vec<usize> = (0..self.agents.len()).collect();
        let Some(last) = self.points.last() else {
            return agents;
        };
        agents.sort_by_key(|&agent| {
            Reverse(
                last.agents
                    .get(agent)
                    .map(|agent| agent.units.refusal_rank()),
            )
        });
        agents
    }
}
