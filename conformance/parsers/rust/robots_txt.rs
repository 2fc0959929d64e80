//! The crate `robots_txt`.

use robosieve_conformance::{Parses, path, serve, text};
use robots_txt::Robots;
use robots_txt::matcher::SimpleMatcher;

fn main() {
    serve(
        Parses::Once,
        // Its parsed file borrows the text.
        |body, _| Some(Robots::from_str_lossy(text(body).leak())),
        |robots, agent, url| SimpleMatcher::new(&robots.choose_section(agent).rules).check_path(path(url)),
    );
}
