//! `passes STEP SITE CONTESTANT N`: lets one contestant answer all inputs N times, to count its
//! instructions.

use robosieve_rivals::contestants::{Step, contestants};
use robosieve_rivals::sites;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [step, site, contestant, passes] = args.as_slice() else {
        panic!("passes STEP SITE CONTESTANT N")
    };
    let step = Step::ALL
        .into_iter()
        .find(|known| known.name() == step)
        .expect("match or judge");
    let sites = sites::load();
    let site = sites
        .iter()
        .find(|known| known.name == *site)
        .expect("a site");
    let inputs: Vec<&str> = step.inputs(site).iter().map(String::as_str).collect();
    let mut contestants = contestants(site, step);
    let contestant = contestants
        .iter_mut()
        .find(|known| known.name == contestant)
        .expect("a contestant");
    let mut answers = Vec::with_capacity(inputs.len());
    for _ in 0..passes.parse::<usize>().expect("a number") {
        contestant.run(&inputs, &mut answers);
    }
    println!("{}", answers.len());
}
