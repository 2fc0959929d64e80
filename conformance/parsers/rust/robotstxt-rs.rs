//! The crate `robotstxt-rs`.

use robosieve_conformance::{Parses, path, serve, text};
use robotstxt_rs::RobotsTxt;

fn main() {
    serve(
        Parses::Once,
        |body, _| Some(RobotsTxt::parse(&text(body))),
        |robots, agent, url| robots.can_fetch(agent, path(url)),
    );
}
