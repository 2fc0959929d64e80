//! Verdicts as of a time, asked through each door, against a slow model that reads captures.
//!
//! Random webs come from a seed. `ROBOSIEVE_TEST_HISTORY_ROUNDS` sets the number of rounds, and
//! `ROBOSIEVE_TEST_HISTORY_SEED` the first seed: docs/dev/TESTING.md has the command.

mod constructed;
mod doors;
mod model;
mod webs;

use crate::generate::Random;
use doors::{DOORS, Door, Questions};
use model::{Capture, Model, PATHS, POLICIES, Question, Verdicts, Way};
use robosieve::Profile;
use std::collections::BTreeMap;

/// Webs in one archive of a round.
const WEBS: usize = 20;

/// Rounds of a usual run.
const ROUNDS: u64 = 12;

/// A door and the model disagree about one question.
struct Disagreement {
    question: Question,
    way: Way,
    expected: Verdicts,
    found: Verdicts,
}

/// All policies, each with and without the other scheme.
fn all_ways() -> Vec<Way> {
    let with = |any_scheme| POLICIES.map(|policy| Way { policy, any_scheme });
    [with(false), with(true)].concat()
}

/// The captures as an archive, in random order.
fn archive(captures: &[Capture], random: &mut Random) -> String {
    let mut lines: Vec<String> = captures.iter().map(Capture::line).collect();
    random.shuffle(&mut lines);
    lines.concat()
}

/// Every path of each origin at each time.
fn questions(origins: &[String], times: &[i64]) -> Vec<Question> {
    let mut questions = Vec::new();
    for origin in origins {
        for &time in times {
            questions.extend((0..PATHS.len()).map(|path| Question {
                origin: origin.clone(),
                path,
                time,
            }));
        }
    }
    questions
}

/// The first question about these captures to which a door gives another answer than the model.
/// Counts the reasons of the verdicts in `reasons`.
fn first_disagreement(
    door: &Door,
    captures: &[Capture],
    asked: &Questions<'_>,
    reasons: &mut BTreeMap<&'static str, usize>,
) -> Option<Disagreement> {
    let found = (door.ask)(asked);
    let model = Model::new(captures);
    for (number, question) in asked.questions.iter().enumerate() {
        let expected = model.answer(question, asked.profile.name(), asked.ways);
        for ((way, expected), found) in asked.ways.iter().zip(expected).zip(&found) {
            *reasons.entry(expected.reason).or_default() += expected.letters.len();
            let found = found[number];
            if found != expected {
                return Some(Disagreement {
                    question: question.clone(),
                    way: *way,
                    expected,
                    found,
                });
            }
        }
    }
    None
}

/// The fewest captures, of these, about which the door and the model still disagree.
fn smallest(
    door: &Door,
    profile: Profile,
    captures: &[Capture],
    first: Disagreement,
) -> (Vec<Capture>, Disagreement) {
    let mut captures = captures.to_vec();
    let mut smallest = first;
    let mut share = captures.len().div_ceil(2);
    loop {
        let mut at = 0;
        while at < captures.len() {
            let mut fewer = captures.clone();
            fewer.drain(at..fewer.len().min(at + share));
            let asked = Questions {
                archive: &archive(&fewer, &mut Random(0)),
                profile,
                ways: &[smallest.way],
                questions: &[smallest.question.clone()],
            };
            match first_disagreement(door, &fewer, &asked, &mut BTreeMap::new()) {
                Some(disagreement) => (captures, smallest) = (fewer, disagreement),
                None => at += share,
            }
        }
        if share <= 1 {
            return (captures, smallest);
        }
        share = share.div_ceil(2);
    }
}

/// Asserts that each door gives the answers of the model to all questions in all ways.
fn assert_agreement(
    what: &str,
    profile: Profile,
    captures: &[Capture],
    asked: &[Question],
    reasons: &mut BTreeMap<&'static str, usize>,
) {
    for door in DOORS {
        let asked = Questions {
            archive: &archive(captures, &mut Random(captures.len() as u64)),
            profile,
            ways: &all_ways(),
            questions: asked,
        };
        if let Some(disagreement) = first_disagreement(door, captures, &asked, reasons) {
            let (captures, disagreement) = smallest(door, profile, captures, disagreement);
            let lines: String = captures.iter().map(Capture::line).collect();
            let Disagreement {
                question,
                way,
                expected,
                found,
            } = disagreement;
            panic!(
                "{what}, {}, profile {}, {way:?}\n{} as of {}: {expected:?} by the model, {found:?} \
                 by the door, for\n{lines}",
                door.name,
                profile.name(),
                question.url(),
                question.time,
            );
        }
    }
}

/// A number in the environment.
fn number_in_environment(name: &str) -> Option<u64> {
    let value = std::env::var(name).ok()?;
    Some(
        value
            .parse()
            .unwrap_or_else(|_| panic!("{name} is not a number: {value}")),
    )
}

#[test]
fn random_webs_have_the_verdicts_of_the_model_at_every_time() {
    let rounds = number_in_environment("ROBOSIEVE_TEST_HISTORY_ROUNDS");
    let seed = number_in_environment("ROBOSIEVE_TEST_HISTORY_SEED").unwrap_or(1);
    let mut reasons = BTreeMap::new();
    for round in seed..seed + rounds.unwrap_or(ROUNDS) {
        let mut random = Random(round);
        let (webs, times) = webs::webs(&mut random, WEBS);
        let captures: Vec<Capture> = webs.iter().flat_map(|web| web.captures.clone()).collect();
        let origins: Vec<String> = webs.iter().flat_map(|web| web.origins.clone()).collect();
        let asked = questions(&origins, &times);
        let profile = [Profile::Google, Profile::Rfc9309][round as usize % 2];
        assert_agreement(
            &format!("seed {round}"),
            profile,
            &captures,
            &asked,
            &mut reasons,
        );
    }
    // Every reason is asked for, or the webs are not what they should be.
    assert_eq!(reasons.len(), 8, "{reasons:?}");
    if rounds.is_some() {
        println!("{} verdicts: {reasons:?}", reasons.values().sum::<usize>());
    }
}
