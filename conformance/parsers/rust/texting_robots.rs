//! The crate `texting_robots`.

use robosieve_conformance::{Parses, serve};
use texting_robots::Robot;

fn main() {
    serve(
        Parses::PerAgent,
        |body, agent| Robot::new(agent, body).ok(),
        |robot, _, url| robot.allowed(url),
    );
}
