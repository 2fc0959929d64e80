//! Defects of a robots.txt: lines that parsers ignore, misread, or read differently.
//!
//! [`lint`] checks one file, [`robots_files`] finds those of a directory, and [`survey()`] counts
//! the findings of a snapshot. `docs/LINT.md` describes each [`Code`] with its source, and with a
//! bad and a good example.
//!
//! The checks, by file:
//!
//! * `body`: the file and its bytes
//! * `fields`: the fields of lines
//! * `several_fields`: lines with several fields
//! * `agent_names`: the names in user-agent lines
//! * `agents`: groups
//! * `global_rules`: groups that replace rules of `*`
//! * `patterns`: the path of a single rule
//! * `rule_sets`: rules without effect
//! * `profiles`: rules that Google's parser and RFC 9309 read differently
//! * `surprises`: rules and fields with an effect that authors seldom want
//! * `values`: sitemaps, licences and crawl-delays
//! * `preferences`: preferences about use
//!
//! `unsettled` has the groups that other findings leave open, in which no rule is superfluous.
//! `readings` has the rules as both profiles read them, and the agents that obey the same of them.
//! `budget` bounds the comparisons of rules.
//!
//! [`fix()`] mends what has one mend. A check describes the edits of a finding (`edits`), `fix`
//! applies them, `equivalence` proves that verdicts stay, and `changes` finds those that do not.

mod agent_names;
mod agents;
mod body;
mod budget;
mod changes;
mod code;
#[cfg(target_pointer_width = "64")]
mod directory;
mod edits;
mod equivalence;
mod fields;
mod finding;
mod fix;
mod global_rules;
mod patterns;
mod preferences;
mod profiles;
mod readings;
mod rule_sets;
mod several_fields;
mod surprises;
#[cfg(target_pointer_width = "64")]
mod survey;
mod text;
mod unsettled;
mod values;

pub use changes::{FieldChange, VerdictChange};
pub use code::{Code, Fixable, InSnapshot, Severity};
#[cfg(target_pointer_width = "64")]
pub use directory::{RobotsFiles, robots_files};
pub use edits::{Edit, Fix, apply};
pub use finding::Finding;
pub use fix::{FixOptions, Fixed, fix};
#[cfg(target_pointer_width = "64")]
pub use survey::{CodeCount, Survey, survey};
pub use text::lint;
