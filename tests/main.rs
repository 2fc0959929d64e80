//! All integration tests, in one binary.

mod agents;
mod answers;
mod audit;
mod bad_input;
mod bench;
mod check;
mod command;
mod commoncrawl;
mod corpus;
mod corruption;
mod datasets;
mod determinism;
mod diff;
mod export;
mod extensions;
mod flipped_bits;
mod generate;
mod help;
mod hostile_text;
mod layers;
mod lint;
mod many;
mod outputs;
mod parquet;
mod parquet_shapes;
mod pipelines;
mod preferences;
mod properties;
mod records;
mod recrawl;
mod report;
mod rows;
mod shell;
#[cfg(unix)]
mod signals;
mod site;
mod snapshot_option;
mod spec;
mod streams;
mod study;
mod synthetic;
#[cfg(target_os = "linux")]
mod terminal;
mod threads;
mod time;
mod transcripts;
