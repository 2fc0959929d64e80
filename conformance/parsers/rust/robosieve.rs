//! This project's library, with its defaults.

use robosieve::judge::AgentRules;
use robosieve::{AgentMatch, Profile, RobotsRef};
use robosieve_conformance::{Parses, serve};

fn main() {
    serve(
        Parses::PerAgent,
        |body, agent| {
            let robots = RobotsRef::parse(body, Profile::Google);
            AgentRules::new(&robots, &agent.parse().ok()?, AgentMatch::Extended).ok()
        },
        |rules, _, url| rules.allows(url).expect("no defect of this library"),
    );
}
