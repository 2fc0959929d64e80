//! Aggregate figures of a snapshot and of lists of URLs, for some agents: a fold over the table of
//! origins that `robosieve export` writes. `docs/REPORT.md` defines each figure.
//!
//! [`Reporter`] computes a [`Report`] (`model`). `origin_table` reads the rows and counts any
//! selection of them, `units` selects one origin per host or domain, and draws samples. `weights`
//! weighs the units, and `groups` counts them by top-level domain or by a `group_list`.
//! `top_origins` ranks origins, and `concentration` finds domains that dominate a figure.
//!
//! Rules and declared preferences come from the distinct robots.txt files: `survey` reads each file
//! once, for `rules` and `signals`. The lists are judged in one pass, which counts verdicts and
//! keeps a sample of disallowed URLs. With a history, `since` counts when units began to disallow. `deciding` explains the sample, and `example` one URL.
//! [`Series`] has the figures of several snapshots.

mod access;
mod concentration;
mod deciding;
mod disallowed_keys;
mod example;
mod group_list;
mod groups;
mod model;
mod name_list;
mod origin_table;
mod reporter;
mod rules;
mod sample;
mod sampling;
mod series;
mod signals;
mod since;
mod survey;
mod tally;
mod top_origins;
mod unit_kind;
mod units;
mod weights;

pub use group_list::{GroupList, NO_GROUP, Overruled};
pub use model::*;
pub use reporter::{Grouping, Reporter};
pub use robosieve::export::Coverage;
pub use sampling::{Interval, SampleFacts, Sampling};
pub use series::{Series, SeriesPoint};
pub use since::Periods;
pub use unit_kind::UnitKind;
pub use units::UnitSet;
pub use weights::Weights;
