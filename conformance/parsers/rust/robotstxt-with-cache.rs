//! The crate `robotstxt-with-cache`, a port of Google's code that parses once.

use robosieve_conformance::{Parses, serve, text};
use robotstxt_with_cache::{DefaultCachingMatcher, DefaultMatcher};
use std::cell::RefCell;

fn main() {
    serve(
        Parses::Once,
        |body, _| {
            let mut matcher = DefaultCachingMatcher::new(DefaultMatcher::default());
            matcher.parse(&text(body));
            Some(RefCell::new(matcher))
        },
        |matcher, agent, url| matcher.borrow_mut().one_agent_allowed_by_robots(agent, url),
    );
}
