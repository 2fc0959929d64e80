//! All integration tests, in one binary.

mod bad_input;
mod bench;
mod command;
mod corpus;
mod corruption;
mod datasets;
mod determinism;
mod layers;
mod many;
mod parquet;
mod properties;
mod records;
mod recrawl;
mod report;
mod site;
mod spec;
mod synthetic;
mod time;
mod transcripts;
