//! Verdicts by the text of one robots.txt, explained: no snapshot, no thread, no file.
//!
//! [`judge`](crate::judge) exports this interface. It is a module of its own because it also works
//! on targets with less than 64 bits, such as WebAssembly in a browser.

pub(crate) mod answers;
mod explanation;
mod explanation_json;
mod reason;
mod verdict;

pub use explanation::{Explanation, RejectedRule, Rejection, RuleLine, explain, is_url_or_path};
pub use explanation_json::ExplainedRobots;
pub(crate) use explanation_json::rules_json;
pub use reason::Reason;
pub use verdict::Verdict;
