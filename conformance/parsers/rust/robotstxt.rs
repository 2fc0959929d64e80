//! The crate `robotstxt`, a port of Google's code. It parses the file for each question.

use robosieve_conformance::{Parses, serve, text};
use robotstxt::DefaultMatcher;

fn main() {
    serve(
        Parses::Once,
        |body, _| Some(text(body)),
        |body, agent, url| DefaultMatcher::default().one_agent_allowed_by_robots(body, agent, url),
    );
}
