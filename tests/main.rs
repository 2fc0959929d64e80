//! All integration tests, in one binary.

mod corpus;
mod spec;
