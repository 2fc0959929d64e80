//! Filter lists: your own lists of domains, hosts and URL prefixes, compiled into one file.
//!
//! `ListCompiler`, of the feature `filter-lists`, reads lists in the forms in which they are published.
//! [`FilterLists`] finds the entry that decides about a URL, and a [`Judge`](crate::Judge) does so in
//! the same pass. In reading order:
//!
//! * `entry`: one line of a list to the URLs that it covers.
//! * `word`: one line of a list of words, and the words of all lists.
//! * `text`: a whole list, line by line.
//! * `format`: the rows of a compiled file, each encoder next to its decoder.
//! * `compile`: sorts the entries of all lists, and writes the file.
//! * `read`: the search for the most specific entry.
//! * `words`: the search for listed words.
//! * `substrings`: the search for listed substrings.
//! * `verify`: the checks of a file from elsewhere.

#[cfg(feature = "filter-lists")]
mod compile;
#[cfg(feature = "filter-lists")]
mod entry;
mod format;
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
mod forged;
#[cfg(all(test, feature = "filter-lists"))]
mod reference;
#[cfg(all(test, feature = "filter-lists"))]
mod tests;
#[cfg(all(test, feature = "filter-lists"))]
mod word_tests;

pub use format::{ListMetadata, ListsMetadata, WordsIn, WordsMetadata, is_list_name};
pub use read::{FilterLists, ListMatch, ListSearcher};
pub(crate) use read::{
    FirstSuffix, ListDecision, OriginEntries, OriginSearch, SearchMemory, list_path,
};
#[cfg(all(test, feature = "filter-lists"))]
use words::WordMemory;
pub(crate) use words::WordSearch;
#[cfg(feature = "filter-lists")]
pub use {
    compile::{CompiledLists, ListCompiler, ListKind},
    entry::NotAnEntry,
    text::{Example, ListReport},
};
