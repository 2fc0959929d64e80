//! Filter lists: your own lists of domains, hosts and URL prefixes, compiled into one file.
//!
//! `ListCompiler`, of the feature `filter-lists`, reads lists in the forms in which they are published.
//! [`FilterLists`] finds the entry that decides about a URL, and a [`Judge`](crate::Judge) does so in
//! the same pass. In reading order:
//!
//! * `entry`: one line of a list to the URLs that it covers.
//! * `word`: one line of a list of words, and the words of all lists.
//! * `text`: a whole list, line by line, and `condition`: its conditions.
//! * `format`: the rows of a compiled file, each encoder next to its decoder.
//! * `compile`: reads lists, and compiles them: `entries` sorts theirs, `builder` encodes them into
//!   sections, and `compiled` writes these.
//! * `decompile`: the entries of a compiled file again, for a file of these and further lists.
//! * `read`: the search for the most specific entry, by `hosts` and `paths`. `decision` is what it finds.
//! * `words`: the search for listed words.
//! * `substrings`: the search for listed substrings.
//! * `verify`: the checks of a file from elsewhere.

#[cfg(feature = "filter-lists")]
mod builder;
#[cfg(feature = "filter-lists")]
mod compile;
#[cfg(feature = "filter-lists")]
mod compiled;
#[cfg(feature = "filter-lists")]
mod condition;
mod decision;
#[cfg(feature = "filter-lists")]
mod decompile;
#[cfg(feature = "filter-lists")]
mod entries;
#[cfg(feature = "filter-lists")]
mod entry;
mod format;
mod hosts;
mod paths;
mod read;
mod substrings;
#[cfg(feature = "filter-lists")]
mod text;
#[cfg(feature = "filter-lists")]
mod verify;
#[cfg(feature = "filter-lists")]
mod word;
mod words;

#[cfg(all(test, feature = "filter-lists"))]
mod decompile_tests;
#[cfg(all(test, feature = "filter-lists"))]
mod forged;
#[cfg(all(test, feature = "filter-lists"))]
mod reference;
#[cfg(all(test, feature = "filter-lists"))]
mod tests;
#[cfg(all(test, feature = "filter-lists"))]
mod word_tests;

pub(crate) use decision::ListDecision;
pub use decision::ListMatch;
pub use format::{ListMetadata, ListsMetadata, WordsIn, WordsMetadata, is_list_name};
pub(crate) use paths::list_path;
pub use read::{FilterLists, ListSearcher};
pub(crate) use read::{FirstSuffix, OriginEntries, OriginSearch, SearchMemory};
#[cfg(all(test, feature = "filter-lists"))]
use words::WordMemory;
pub(crate) use words::WordSearch;
#[cfg(feature = "filter-lists")]
pub use {
    compile::{ListCompiler, ListKind},
    compiled::CompiledLists,
    entry::NotAnEntry,
    text::{Example, ListReport},
};
