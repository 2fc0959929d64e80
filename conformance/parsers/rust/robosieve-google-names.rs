//! This project's library, with names compared as Google's code does.

use robosieve::{Agent, AgentMatch, Profile, Robots};
use robosieve_conformance::{Parses, serve};

fn main() {
    serve(
        Parses::PerAgent,
        |body, agent| {
            let agent: Agent = agent.parse().ok()?;
            Some((Robots::parse(body, Profile::Google), agent))
        },
        |(robots, agent), _, url| robots.parsed().allows_with(agent, AgentMatch::Google, url),
    );
}
