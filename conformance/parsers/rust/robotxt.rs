//! The crate `robotxt`.

use robosieve_conformance::{Parses, serve};
use robotxt::Robots;

fn main() {
    serve(
        Parses::PerAgent,
        |body, agent| Some(Robots::parse(body, agent)),
        |robots, _, url| robots.is_url_allowed(&url.parse().expect("a URL")),
    );
}
