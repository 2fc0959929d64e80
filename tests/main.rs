//! All integration tests, in one binary.

mod corpus;
mod layers;
mod properties;
mod spec;
