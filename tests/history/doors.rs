//! The doors: each way to ask the crate for verdicts as of a time.
//!
//! A new way is one more function, and one more row of [`DOORS`].

use super::continued::{Crawls, continuable, continued, crawls};
use super::model::{AGENTS, Capture, Question, Verdicts, Way};
use robosieve::compile::Compiled;
use robosieve::judge::{Rows, StatusPolicy, VerdictsRef};
use robosieve::{Agent, Compiler, Judge, JudgeOptions, Profile, Snapshot};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Everything that is asked about some captures, at once: so a door may compile them once.
pub(crate) struct Questions<'q> {
    pub captures: &'q [Capture],
    /// The captures as a JSONL archive, in any order.
    pub archive: &'q str,
    pub profile: Profile,
    pub ways: &'q [Way],
    pub questions: &'q [Question],
}

/// A way to ask the crate.
pub(crate) struct Door {
    pub name: &'static str,
    /// The captures that it is asked about, of some.
    pub keep: fn(&[Capture]) -> Vec<Capture>,
    /// The verdicts in each way, and of each way on each question.
    pub ask: fn(&Questions<'_>) -> Vec<Vec<Verdicts>>,
}

/// All doors. Each must give the verdicts and reasons of the model.
pub(crate) const DOORS: &[Door] = &[
    Door {
        name: "as_of of the compiler, at of the judge",
        keep: <[Capture]>::to_vec,
        ask: compile_as_of,
    },
    Door {
        name: "a history, as_of of the judge",
        keep: <[Capture]>::to_vec,
        ask: history_as_of,
    },
    Door {
        name: "a history that two crawls continue, as_of of the judge",
        keep: continuable,
        ask: continued_as_of,
    },
    Door {
        name: "a history, a time for each row",
        keep: <[Capture]>::to_vec,
        ask: history_by_row,
    },
    Door {
        name: "the snapshot of a time from a history, at of the judge",
        keep: <[Capture]>::to_vec,
        ask: snapshot_of_history,
    },
];

/// One compilation for all times.
fn compile_history(asked: &Questions<'_>) -> Arc<Snapshot> {
    let snapshot = compile(Compiler::new(asked.profile).history(true), asked.archive);
    snapshot.verify().unwrap();
    snapshot
}

fn history_as_of(asked: &Questions<'_>) -> Vec<Vec<Verdicts>> {
    let history = compile_history(asked);
    answers_by_time(asked, |_| history.clone(), JudgeOptions::as_of)
}

/// A compilation of the oldest captures, which the others continue.
fn continued_as_of(asked: &Questions<'_>) -> Vec<Vec<Verdicts>> {
    let bytes = continued(asked.profile, &crawls(asked.captures, Crawls::Overlapping));
    let history = Arc::new(Snapshot::new(bytes).unwrap());
    history.verify().unwrap();
    answers_by_time(asked, |_| history.clone(), JudgeOptions::as_of)
}

fn snapshot_of_history(asked: &Questions<'_>) -> Vec<Vec<Verdicts>> {
    let history = compile_history(asked);
    let snapshot_for = |time| {
        let bytes = Compiled::as_of(&history, time).unwrap().to_vec().unwrap();
        let snapshot = Snapshot::new(bytes).unwrap();
        snapshot.verify().unwrap();
        Arc::new(snapshot)
    };
    answers_by_time(asked, snapshot_for, JudgeOptions::at)
}

/// All questions as one column, with times in random order.
fn history_by_row(asked: &Questions<'_>) -> Vec<Vec<Verdicts>> {
    let history = compile_history(asked);
    let urls: Vec<String> = asked.questions.iter().map(Question::url).collect();
    let rows: Vec<&[u8]> = urls.iter().map(String::as_bytes).collect();
    let times: Vec<Option<i64>> = asked
        .questions
        .iter()
        .map(|asked| Some(asked.time))
        .collect();
    let mut answers = Vec::new();
    for way in asked.ways {
        let judge = Judge::new(history.clone(), &agents(), options(*way)).unwrap();
        let mut of_way = vec![NO_ANSWER; urls.len()];
        let judged = judge.judge_rows_as_of(Rows::Slices(&rows), &times, |numbers, found| {
            of_way[numbers].fill(verdicts_of(found));
            Ok(())
        });
        judged.unwrap();
        answers.push(of_way);
    }
    answers
}

/// One compilation for each time, without the later captures.
fn compile_as_of(asked: &Questions<'_>) -> Vec<Vec<Verdicts>> {
    answers_by_time(
        asked,
        |time| compile(Compiler::new(asked.profile).as_of(time), asked.archive),
        JudgeOptions::at,
    )
}

pub(crate) fn compile(mut compiler: Compiler, archive: &str) -> Arc<Snapshot> {
    compiler.add_reader("captures", archive.as_bytes()).unwrap();
    let bytes = compiler.finish().unwrap().to_vec().unwrap();
    Arc::new(Snapshot::new(bytes).unwrap())
}

/// Answers the questions time by time: from the snapshot for a time, by a judge with the option for
/// that time.
pub(crate) fn answers_by_time(
    asked: &Questions<'_>,
    snapshot_for: impl Fn(i64) -> Arc<Snapshot>,
    with_time: fn(JudgeOptions, i64) -> JudgeOptions,
) -> Vec<Vec<Verdicts>> {
    let mut by_time: BTreeMap<i64, Vec<usize>> = BTreeMap::new();
    for (number, question) in asked.questions.iter().enumerate() {
        by_time.entry(question.time).or_default().push(number);
    }
    let mut answers = vec![vec![NO_ANSWER; asked.questions.len()]; asked.ways.len()];
    for (time, numbers) in by_time {
        let snapshot = snapshot_for(time);
        let urls: Vec<String> = numbers
            .iter()
            .map(|number| asked.questions[*number].url())
            .collect();
        for (way, answers) in asked.ways.iter().zip(&mut answers) {
            let options = with_time(options(*way), time);
            let judge = Judge::new(snapshot.clone(), &agents(), options).unwrap();
            judge_urls(&judge, &urls, |row, verdicts| {
                answers[numbers[row]] = verdicts;
            });
        }
    }
    answers
}

/// In the place of an answer that a door did not give.
const NO_ANSWER: Verdicts = Verdicts {
    letters: [b'?'; AGENTS.len()],
    reason: "no answer",
};

pub(super) fn agents() -> Vec<Agent> {
    AGENTS.iter().map(|name| name.parse().unwrap()).collect()
}

pub(super) fn options(way: Way) -> JudgeOptions {
    let policy: StatusPolicy = way.policy.parse().unwrap();
    JudgeOptions::default()
        .status_policy(policy)
        .any_scheme(way.any_scheme)
}

/// One of this many URLs is explained too: that takes as long as the verdicts of many.
const EXPLAINED: usize = 37;

/// Judges URLs, and calls `each` with the number of each and its verdicts. The judge of single URLs
/// and explanations must give the same for some of them, or the reason says that they do not.
fn judge_urls(judge: &Judge, urls: &[String], mut each: impl FnMut(usize, Verdicts)) {
    let rows: Vec<&[u8]> = urls.iter().map(String::as_bytes).collect();
    let judged = judge.judge_rows(Rows::Slices(&rows), |numbers, found| {
        for number in numbers {
            let mut verdicts = verdicts_of(found);
            let agent = number % AGENTS.len();
            if number % EXPLAINED == 0 && !is_explained(judge, rows[number], agent, verdicts) {
                verdicts.reason = "another verdict or reason by judge or explain";
            }
            each(number, verdicts);
        }
        Ok(())
    });
    judged.unwrap();
}

fn verdicts_of(found: VerdictsRef<'_>) -> Verdicts {
    Verdicts {
        letters: std::array::from_fn(|agent| found.get(agent).letter() as u8),
        reason: found.reason().name(),
    }
}

/// Whether the URL alone has these verdicts, and the explanation for an agent gives its verdict.
fn is_explained(judge: &Judge, url: &[u8], agent: usize, verdicts: Verdicts) -> bool {
    let alone = judge.judge(url).unwrap();
    let explanation = judge.explain(url, agent).unwrap();
    verdicts_of(alone.as_ref()) == verdicts
        && explanation.verdict.letter() as u8 == verdicts.letters[agent]
        && explanation.reason.name() == verdicts.reason
}
