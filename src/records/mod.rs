//! The position of the URL in each record of an input: the whole line, a column, or a key of a JSON
//! object. Likewise the time of a record.

mod compose;
mod csv;
mod delimiter;
mod detect;
mod extract;
mod json;
mod json_sample;
mod options;
mod row_time;
mod url_names;

#[cfg(feature = "parquet")]
pub(crate) use compose::UrlComposer;
pub(crate) use delimiter::table_head;
pub(crate) use detect::InputHead;
pub(crate) use extract::{ExtractedUrls, ListKind, RecordFormat, without_end};
pub(crate) use json_sample::layout_defect;
pub use options::{Field, InputFormat, RecordOptions};
pub(crate) use row_time::keep_unreadable;
pub use row_time::{parse_row_time, time_of_float, time_of_integer};
#[cfg(feature = "parquet")]
pub(crate) use url_names::{USUAL, UrlName, listed};
