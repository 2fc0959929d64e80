//! robosieve decides, for billions of URLs, which crawler may fetch which URL under robots.txt.
//!
//! robots.txt archives are compiled into one memory-mapped *snapshot*; URLs are judged against it on all cores, for any
//! number of agents in one pass, with the answer of Google's open-source parser or of RFC 9309.
//!
//! ```text
//! robots.txt archives             snapshot                         URLs
//!  WARC  JSONL  directory            |                               |
//!    source -> robots -> compile -> snapshot <- mapped - filter: blocks -> split -> locate -> match -> write
//! ```
//!
//! # Example
//!
//! ```
//! use robosieve::{Compiler, Judge, JudgeOptions, Profile, Snapshot, Verdict};
//!
//! // Compile: any number of archives (`add_path`), in any order.
//! let mut compiler = Compiler::new(Profile::Google);
//! compiler.add_robots("https://shop.example", b"User-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nDisallow: /cart")?;
//! let bytes = compiler.finish()?.to_vec()?; // or `write_to`, and `Snapshot::open`
//!
//! // Judge: the agents are chosen now, not when compiling.
//! let snapshot = Snapshot::new(bytes)?;
//! let judge = Judge::new(&snapshot, &["GPTBot".parse()?, "FooBot".parse()?], JudgeOptions::default())?;
//! let verdicts = judge.judge(b"https://shop.example/shoes?size=9")?;
//! assert_eq!([verdicts.get(0), verdicts.get(1)], [Verdict::Disallowed, Verdict::Allowed]);
//! # Ok::<(), robosieve::Error>(())
//! ```
//!
//! # The modules, in reading order
//!
//! * `error`, `profile`, `threads`, `file_format`, `atomic`, `decode`: what everything else stands on.
//! * `agent`: product tokens, and the agents one asks about. `known`: the shipped table of crawlers, and sets of them.
//! * `url`: origins, paths, the one normal form of escapes.
//! * `robots`: one robots.txt, from bytes to groups; [`mod@reference`] is the slow judge that all tests compare with.
//! * `preferences`: what a robots.txt says about the use of what is fetched; [`preferences_reference`] is the slow way to it.
//! * `source`, `compile`: archives to a snapshot. `snapshot`: its layout, writing and reading.
//! * `matcher`: one path against one robots.txt. `records`: where URLs stand in lines. `filter`: lists of URLs on all cores.
//! * `census`: which agents the robots.txt files of a snapshot name, and a spell checker for their names. `diff`: what changed between two snapshots.
//! * [`report`]: what a snapshot and lists come to, in figures.
//! * [`synthetic`]: a made-up web of any size, for benchmarks.
//!
//! Nothing here panics on what a site, an archive, a snapshot or a list of URLs holds.

#![deny(missing_docs)]
#![deny(unsafe_code)]

// Snapshots of many gigabytes are mapped as they are, and offsets into them are computed in `usize`.
#[cfg(not(target_pointer_width = "64"))]
compile_error!("robosieve needs a 64-bit target");

mod agent;
mod analysis;
mod archive;
mod atomic;
mod bytes;
mod compile;
mod crawlers;
mod decode;
mod error;
mod file_format;
mod filter;
mod judge;
mod matcher;
mod parquet;
mod pipeline;
mod preferences;
mod profile;
mod records;
mod robots;
mod simd;
mod snapshot;
pub mod synthetic;
mod threads;
mod url;

pub use crate::parquet::{ParquetFilter, ParquetInput, ParquetOutputs, VerdictColumns};
pub use agent::{Agent, AgentMatch};
pub use analysis::census::{Census, Misspelling, NamedAgent, SpellCheck, UnnamedAgent};
pub use analysis::coverage::{Coverage, Coverage as Reach};
pub use analysis::diff::{AgentChange, Diff, DiffOptions, Origins, OutcomeChange, RuleChange, Transition as Turned};
pub use analysis::report;
pub use atomic::output_file::OutputFile;
pub use atomic::remove_unfinished;
pub use compile::{CompileProgress, CompileReport, Compiled, Compiler};
pub use crawlers::{AgentSet, KnownAgent, Purpose, add_agents};
pub use decode::decode;
pub use error::{Error, ErrorKind, Remedy, Result};
pub use filter::{AnnotateForm, Filter, Keep, Outputs, Require};
pub use judge::{
    Explanation, Judge, JudgeOptions, PreferenceJudge, RuleLine, Site, Stage, StatusPolicy, UnknownOrigin, Verdict,
    Verdicts, explain,
};
pub use judge::{Reason as Basis, Rejection as Loss, UrlExplanation as OriginExplanation};
pub use pipeline::{FilterProgress, FilterStats, Input};
pub use preferences::{
    Preference, PreferenceExplanation, Preferences, SignalUse, Signals, explain_preferences,
    reference as preferences_reference,
};
pub use profile::Profile;
pub use records::{Field, InputFormat, RecordOptions};
pub use robots::{AgentLine, BodyFacts, Group, LooksLike, OtherField, Robots, Rule, RuleKind, reference};
pub use snapshot::{Counts, FORMAT_VERSION, Metadata, OriginEntry, Outcome, OutcomeClass, Snapshot};
pub use threads::max_threads;
pub use url::origin::Origin;
