//! The crate `fast-robots`.

use fast_robots::RobotsTxt;
use robosieve_conformance::{Parses, path, serve, text};

fn main() {
    serve(
        Parses::Once,
        // Its parsed file borrows the text.
        |body, _| Some(RobotsTxt::parse(text(body).leak())),
        |robots, agent, url| robots.is_allowed(agent, path(url)),
    );
}
