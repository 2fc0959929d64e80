//! The crate `robotparser`.

use robosieve_conformance::{Parses, serve, text};
use robotparser::parser::parse_robots_txt;
use robotparser::service::RobotsTxtService;
use url::Url;

fn main() {
    let origin = Url::parse("http://example.com/").expect("a URL").origin();
    serve(
        Parses::Once,
        |body, _| Some(parse_robots_txt(origin.clone(), &text(body)).get_result()),
        |robots, agent, url| robots.can_fetch(agent, &url.parse().expect("a URL")),
    );
}
