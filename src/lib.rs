//! robosieve decides which crawler may fetch which URL under robots.txt, for billions of URLs.
//!
//! It compiles robots.txt archives into one memory-mapped *snapshot* and judges URLs against it on
//! all cores, for any number of agents in one pass. The verdicts are those of Google's open-source
//! parser or of RFC 9309.
//!
//! ```text
//! archives (WARC, JSONL, directory) -> compile -> snapshot -> judge -> verdicts
//!                                                  a file      ^
//!                                                     URLs, lists, Parquet, WARC
//! ```
//!
//! # Judge URLs
//!
//! ```
//! use robosieve::{Compiler, Judge, JudgeOptions, Profile, Snapshot, Verdict};
//!
//! // Compile once: any number of archives (`add_path`), in any order.
//! let mut compiler = Compiler::new(Profile::Google);
//! compiler.add_robots(
//!     "https://shop.example",
//!     b"User-agent: GPTBot\nDisallow: /\n\nUser-agent: *\nDisallow: /cart",
//! )?;
//! let bytes = compiler.finish()?.to_vec()?; // or `write_to`, and `Snapshot::open`
//!
//! // Judge often. The agents are chosen here, not when compiling.
//! let snapshot = Snapshot::new(bytes)?;
//! let agents = ["GPTBot".parse()?, "FooBot".parse()?];
//! let judge = Judge::new(snapshot, &agents, JudgeOptions::default())?;
//! let verdicts = judge.judge(b"https://shop.example/shoes?size=9")?;
//! assert_eq!([verdicts.get(0), verdicts.get(1)], [Verdict::Disallowed, Verdict::Allowed]);
//! # Ok::<(), robosieve::Error>(())
//! ```
//!
//! For one robots.txt, [`Robots::allows`] needs no snapshot. The folder `examples/` has a program
//! for each use: a server that swaps snapshots under load, one robots.txt, a crawler's cache of
//! them, a batch, a compilation.
//!
//! # Modules
//!
//! | module | use |
//! |---|---|
//! | [`robots`], [`preferences`] | parse one robots.txt and ask it |
//! | [`compile`], [`snapshot`] | compile archives, open and inspect snapshots |
//! | [`judge`] | verdicts on single URLs and on columns, and their explanations |
//! | [`job`], [`records`] | verdicts on files of URLs (lists, Parquet, WARC), on all cores |
//! | [`crawlers`] | well-known crawlers and sets of them |
//! | [`output`], [`decode`], [`threads`] | files written atomically, no input overwritten, decompression, limits |
//! | with `analysis`: `census`, `diff` | statistics of snapshots |
//! | with `analysis`: `export` | a snapshot as a table, with one row per origin, sitemap or rule |
//! | with `lint`: `lint` | defects of a robots.txt, and of all in a snapshot |
//! | with `audit`: `audit` | which crawlers broke the rules, from access logs |
//!
//! # Features
//!
//! None is on by default. The command `robosieve` is the package `robosieve-cli`, which turns on
//! all but `capi`.
//!
//! * `analysis`: the modules `census`, `diff` and `export`.
//! * `audit`: the module `audit`.
//! * `domains`: `analysis`, with registrable domains in an `export`, by the public suffix list.
//! * `lint`: the module `lint`.
//! * `parquet`: [`job`]s on Parquet files, and exports to them.
//! * `capi`: the functions of `include/robosieve.h`, for C and languages that call C. `docs/C.md`
//!   explains how to build and link the library.
//!
//! Without features, the library and what it needs are at most 68 packages, if your `Cargo.lock`
//! pins the Unicode tables for international host names to the smaller set: `cargo update -p
//! idna_adapter --precise 1.1.0`. Both sets give the same origins for all characters up to Unicode
//! 16.
//!
//! # Targets
//!
//! Snapshots need a 64-bit target, and so do all features but `lint`. For other targets, such as
//! `wasm32-unknown-unknown`, the library has [`robots`], [`preferences`], [`crawlers`], `lint` of one
//! text, of [`judge`] the explanations by one robots.txt, and of [`census`] the spell check. `web` in
//! the repository is a page with it.
//!
//! Nothing here panics on the contents of a site, an archive, a snapshot or a list of URLs.

#![deny(missing_docs)]
#![deny(unsafe_code)]
// The pages of docs.rs say which items need a feature.
#![cfg_attr(docsrs, feature(doc_cfg))]
// The modules behind features, and those that need 64 bits, use more of the others. The build with
// all features finds what nothing uses.
#![cfg_attr(
    not(all(
        feature = "analysis",
        feature = "audit",
        feature = "filter-lists",
        feature = "lint",
        target_pointer_width = "64"
    )),
    allow(dead_code, unused_imports)
)]

// Snapshots of many gigabytes are memory-mapped, and offsets into them are `usize`. So the modules
// below that are marked need 64 bits, and so do all features but `lint`. The others also compile for
// WebAssembly: they parse, explain and lint the text of one robots.txt.
#[cfg(all(
    not(target_pointer_width = "64"),
    any(
        feature = "analysis",
        feature = "audit",
        feature = "capi",
        feature = "domains",
        feature = "filter-lists",
        feature = "parquet"
    )
))]
compile_error!("the features of robosieve but `lint` need a 64-bit target");

mod agent;
#[cfg(feature = "analysis")]
mod analysis;
#[cfg(target_pointer_width = "64")]
mod arc;
#[cfg(target_pointer_width = "64")]
mod archive;
#[cfg(target_pointer_width = "64")]
mod atomic;
#[cfg(feature = "audit")]
pub mod audit;
mod bytes;
// The functions that C programs call take raw pointers.
#[cfg(feature = "capi")]
#[allow(unsafe_code)]
pub mod capi;
#[cfg(target_pointer_width = "64")]
pub mod compile;
#[cfg(target_pointer_width = "64")]
mod container;
pub mod crawlers;
#[cfg(target_pointer_width = "64")]
pub mod decode;
#[cfg(target_pointer_width = "64")]
mod digest;
mod error;
mod explain;
mod file_format;
#[cfg(all(
    any(feature = "analysis", feature = "lint"),
    target_pointer_width = "64"
))]
mod file_pass;
#[cfg(target_pointer_width = "64")]
pub mod filter_lists;
#[cfg(target_pointer_width = "64")]
pub mod job;
#[cfg(target_pointer_width = "64")]
pub mod judge;
#[cfg(not(target_pointer_width = "64"))]
pub mod judge {
    //! The part of this module that needs no snapshot.
    pub use crate::explain::*;
}
#[cfg(feature = "lint")]
pub mod lint;
#[cfg(not(feature = "analysis"))]
pub mod census {
    //! The check of names. The feature `analysis` has the census.
    pub use crate::crawlers::spell_check::{SpellCheck, UnnamedAgent};
    pub use crate::crawlers::spelling::Misspelling;
}
#[cfg(target_pointer_width = "64")]
mod lists;
mod matcher;
mod named_value;
#[cfg(feature = "parquet")]
mod parquet;
#[cfg(target_pointer_width = "64")]
mod pipe;
#[cfg(target_pointer_width = "64")]
mod pipeline;
pub mod preferences;
mod profile;
#[cfg(target_pointer_width = "64")]
mod read_at;
#[cfg(target_pointer_width = "64")]
pub mod records;
pub mod robots;
mod simd;
#[cfg(target_pointer_width = "64")]
pub mod snapshot;
#[cfg(target_pointer_width = "64")]
mod spool;
#[cfg(target_pointer_width = "64")]
pub mod threads;
#[cfg(target_pointer_width = "64")]
mod time_span;
#[cfg(target_pointer_width = "64")]
mod time_text;
mod url;
#[cfg(target_pointer_width = "64")]
mod wacz;
#[cfg(target_pointer_width = "64")]
mod warc;

#[cfg(feature = "analysis")]
pub use analysis::{census, diff, export};

#[cfg(target_pointer_width = "64")]
pub mod output {
    //! Output files that appear whole or not at all, and overwrite no input.
    pub use crate::atomic::output_file::OutputFile;
    pub use crate::atomic::output_name::{OutputFormat, name_after_input};
    pub use crate::atomic::overwrite_guard::OverwriteGuard;
    pub use crate::atomic::{is_standard_stream, remove_unfinished};
}

pub use agent::{Agent, AgentMatch};
pub use bytes::is_invisible;
pub use error::{Error, ErrorKind, Remedy, Result};
pub use judge::Verdict;
pub use named_value::NamedValue;
pub use profile::Profile;
pub use robots::{Robots, RobotsRef};
pub use url::origin::Origin;

#[cfg(target_pointer_width = "64")]
pub use {
    compile::Compiler,
    judge::{Judge, JudgeOptions},
    snapshot::Snapshot,
};
