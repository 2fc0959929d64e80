//! The crate `roboto`.

use robosieve_conformance::{Parses, path, serve, text};
use roboto::Robots;

fn main() {
    serve(
        Parses::Once,
        |body, _| text(body).parse::<Robots>().ok(),
        |robots, agent, url| robots.is_allowed(&agent.parse().expect("an agent"), path(url)),
    );
}
