//! This project's library, with names compared as Google's code does.

use robosieve::judge::AgentRules;
use robosieve::{AgentMatch, Profile, RobotsRef};
use robosieve_conformance::{Parses, serve};

fn main() {
    serve(
        Parses::PerAgent,
        |body, agent| {
            let robots = RobotsRef::parse(body, Profile::Google);
            AgentRules::new(&robots, &agent.parse().ok()?, AgentMatch::Google).ok()
        },
        |rules, _, url| rules.allows(url).expect("no defect of this library"),
    );
}
