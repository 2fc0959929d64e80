//! The crate `robotparser-rs`, a port of Python's urllib.robotparser.

use robosieve_conformance::{Parses, serve, text};
use robotparser_rs::RobotFileParser;

fn main() {
    serve(
        Parses::Once,
        |body, _| {
            let mut robots = RobotFileParser::new("http://example.com/robots.txt");
            robots.parse(&text(body).lines().collect::<Vec<_>>());
            Some(robots)
        },
        |robots, agent, url| robots.can_fetch(agent, url).expect("a URL"),
    );
}
