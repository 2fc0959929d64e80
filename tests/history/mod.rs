//! Verdicts as of a time, asked through each door, against a slow model that reads captures.
//!
//! Random webs come from a seed. `ROBOSIEVE_TEST_HISTORY_ROUNDS` sets the number of rounds, and
//! `ROBOSIEVE_TEST_HISTORY_SEED` the first seed: docs/dev/TESTING.md has the command.

mod audits;
mod commands;
mod constructed;
mod continued;
mod doors;
mod model;
mod since;
mod stored_rules;
mod table;
mod webs;

use crate::generate::Random;
use doors::{DOORS, Door, Questions};
use model::{Capture, Model, PATHS, POLICIES, Question, Verdicts, Way};
use robosieve::Profile;
use std::collections::BTreeMap;

/// Webs in one archive of a round.
const WEBS_PER_ROUND: usize = 20;

/// Rounds of a usual run.
const ROUNDS: u64 = 12;

/// A door and the model disagree about one question.
#[derive(Clone)]
struct Disagreement {
    question: Question,
    way: Way,
    expected: Verdicts,
    found: Verdicts,
}

/// The most lines of a failed test.
const MAX_LINES: usize = 100;

/// All policies, each with and without the other scheme.
fn all_ways() -> Vec<Way> {
    let mut ways = Vec::new();
    for any_scheme in [false, true] {
        ways.extend(POLICIES.map(|policy| Way { policy, any_scheme }));
    }
    ways
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

/// A small case in which a door and the model disagree.
struct SmallCase {
    captures: Vec<Capture>,
    /// One question, unless the answer depends on the questions before it.
    questions: Vec<Question>,
    disagreement: Disagreement,
}

impl SmallCase {
    /// Drops captures and questions as long as the door and the model disagree.
    fn new(
        door: &Door,
        profile: Profile,
        captures: &[Capture],
        asked: &[Question],
        first: Disagreement,
    ) -> Self {
        let mut case = Self {
            captures: captures.to_vec(),
            questions: vec![first.question.clone()],
            disagreement: first,
        };
        if !case.try_with(
            door,
            profile,
            &case.captures.clone(),
            &case.questions.clone(),
        ) {
            case.questions = asked.to_vec();
        }
        shrink(captures.len(), |kept| {
            let fewer = kept.iter().map(|at| captures[*at].clone());
            case.try_with(
                door,
                profile,
                &fewer.collect::<Vec<_>>(),
                &case.questions.clone(),
            )
        });
        let all = case.questions.clone();
        shrink(all.len(), |kept| {
            let fewer = kept.iter().map(|at| all[*at].clone());
            case.try_with(
                door,
                profile,
                &case.captures.clone(),
                &fewer.collect::<Vec<_>>(),
            )
        });
        case
    }

    /// Becomes the case with these captures and questions, if the door and the model disagree.
    fn try_with(
        &mut self,
        door: &Door,
        profile: Profile,
        captures: &[Capture],
        questions: &[Question],
    ) -> bool {
        let captures = &(door.keep)(captures);
        let asked = Questions {
            captures,
            archive: &archive(captures, &mut Random(0)),
            profile,
            ways: &[self.disagreement.way],
            questions,
        };
        let found = first_disagreement(door, captures, &asked, &mut BTreeMap::new());
        if let Some(disagreement) = &found {
            *self = Self {
                captures: captures.to_vec(),
                questions: questions.to_vec(),
                disagreement: disagreement.clone(),
            };
        }
        found.is_some()
    }
}

impl std::fmt::Display for SmallCase {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Disagreement {
            question,
            way,
            expected,
            found,
        } = &self.disagreement;
        writeln!(
            f,
            "{} as of {}, {way:?}: {expected:?} by the model, {found:?} by the door, for",
            question.url(),
            question.time,
        )?;
        for capture in self.captures.iter().take(MAX_LINES) {
            f.write_str(&capture.line())?;
        }
        if self.questions.len() > 1 {
            writeln!(f, "if asked for all of")?;
            for question in self.questions.iter().take(MAX_LINES) {
                writeln!(f, "{} as of {}", question.url(), question.time)?;
            }
        }
        Ok(())
    }
}

/// Drops items of a list of this length, in ever smaller parts, as long as `is_enough` for the
/// numbers of those that are kept.
fn shrink(len: usize, mut is_enough: impl FnMut(&[usize]) -> bool) {
    let mut kept: Vec<usize> = (0..len).collect();
    let mut part = len;
    while part > 1 {
        part = part.div_ceil(2);
        let mut at = 0;
        while at < kept.len() {
            let mut fewer = kept.clone();
            fewer.drain(at..kept.len().min(at + part));
            match is_enough(&fewer) {
                true => kept = fewer,
                false => at += part,
            }
        }
    }
}

/// Asserts that each door gives the answers of the model to all questions in all ways.
fn assert_agreement(
    what: &str,
    profile: Profile,
    captures: &[Capture],
    questions: &[Question],
    reasons: &mut BTreeMap<&'static str, usize>,
) {
    for door in DOORS {
        let captures = &(door.keep)(captures);
        let asked = Questions {
            captures,
            archive: &archive(captures, &mut Random(captures.len() as u64)),
            profile,
            ways: &all_ways(),
            questions,
        };
        if let Some(disagreement) = first_disagreement(door, captures, &asked, reasons) {
            let case = SmallCase::new(door, profile, captures, questions, disagreement);
            panic!("{what}, {}, profile {}: {case}", door.name, profile.name());
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
        let webs::Round { webs, times } = webs::Round::new(&mut random, WEBS_PER_ROUND);
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
