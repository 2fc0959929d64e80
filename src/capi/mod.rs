//! The C interface of the library: the functions that `include/robosieve.h` declares.
//!
//! cbindgen generates the header from this module, so the documentation of every public item here
//! is written for C programs, and types have the names of C. `docs/C.md` explains how to build and
//! link, and states the contract.
//!
//! Each function does three things: it checks its pointers and numbers (`pointers`), calls the
//! public interface of the library, and turns the result into a status (`status`). Panics end
//! there too. No decision about a verdict is made here.
//!
//! # Safety
//!
//! One contract holds for all functions. The caller guarantees it, because no check can:
//!
//! * A handle comes from the function that creates it, and is not closed yet.
//! * A pointer with a length refers to that many initialised items, a pointer to an output buffer
//!   to that much writable memory. Nobody writes to either during the call.
//! * A text without a length ends with a NUL byte.
//!
//! `NULL`, lengths that do not fit, misaligned pointers and offsets out of bounds are errors.

// No type here is `#[non_exhaustive]`: the header fixes the layout of the struct and the numbers of
// the enums, and C programs do not see the attribute.

// One contract holds for all functions; the documentation of each is that of the header.
#![allow(clippy::missing_safety_doc, non_camel_case_types)]

mod pointers;

// In the order of the header. Blank lines keep rustfmt from sorting them.
mod status;

mod snapshot;

mod options;

mod verdict;

mod judge;

mod rows;

mod robots;

mod lists;

mod arrow;

pub use arrow::{ArrowArray, ArrowSchema, robosieve_column, robosieve_judge_arrow};
pub use judge::{
    robosieve_explain, robosieve_explain_flag, robosieve_judge, robosieve_judge_agent_count,
    robosieve_judge_agent_label, robosieve_judge_check_spelling, robosieve_judge_close,
    robosieve_judge_new, robosieve_judge_url, robosieve_product_token, robosieve_string_free,
};
pub use lists::{
    robosieve_lists, robosieve_lists_close, robosieve_lists_count, robosieve_lists_find,
    robosieve_lists_name, robosieve_lists_open, robosieve_lists_rows32, robosieve_lists_rows64,
};
pub use options::{
    robosieve_agent_match, robosieve_judge_options, robosieve_no_time, robosieve_require,
    robosieve_status_policy, robosieve_unknown_origin,
};
pub use robots::{
    robosieve_profile, robosieve_robots, robosieve_robots_allows, robosieve_robots_close,
    robosieve_robots_crawl_delay, robosieve_robots_explain, robosieve_robots_from_response,
    robosieve_robots_parse, robosieve_robots_rows32, robosieve_robots_rows64,
    robosieve_robots_sitemap, robosieve_robots_sitemap_count,
};
pub use rows::{
    robosieve_judge_allowed32, robosieve_judge_allowed64, robosieve_judge_masks32,
    robosieve_judge_masks64, robosieve_judge_rows32, robosieve_judge_rows32_as_of,
    robosieve_judge_rows64, robosieve_judge_rows64_as_of,
};
pub use snapshot::{
    robosieve_open_flag, robosieve_snapshot, robosieve_snapshot_byte_len,
    robosieve_snapshot_checksum, robosieve_snapshot_close, robosieve_snapshot_metadata,
    robosieve_snapshot_open, robosieve_snapshot_open_bytes, robosieve_snapshot_origin_count,
};
pub use status::{robosieve_last_error, robosieve_status, robosieve_version};
pub use verdict::robosieve_verdict;
