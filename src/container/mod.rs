//! The parts of a job on files that all file formats share.
//!
//! A *container* is a file format with URLs in it: lists, Parquet, WARC. [`files`] has the traits
//! that a container implements, and [`source`] the recognition of files by content. The rest serves
//! these: the [`settings`] of a job, the [`criterion`] that decides which URLs are kept,
//! [`outputs`] that appear together, the text of an [`annotation`], and the [`visit`] of a job
//! without outputs.

pub(crate) mod added;
mod added_text;
pub(crate) mod annotation;
pub(crate) mod criterion;
pub(crate) mod files;
pub(crate) mod form;
pub(crate) mod judged_records;
pub(crate) mod outputs;
mod preference_text;
pub(crate) mod settings;
pub(crate) mod source;
mod value_syntax;
pub(crate) mod visit;
