//! The fast judges against the slow reference. The tests and the fuzz targets share it.

use crate::generate::ORIGIN;
use bstr::ByteSlice;
use robosieve::judge::explain;
use robosieve::robots::reference;
use robosieve::{
    Agent, AgentMatch, Compiler, Judge, JudgeOptions, Origin, Profile, RobotsRef, Snapshot, Verdict,
};

/// The snapshot of one robots.txt, of [`ORIGIN`].
pub(crate) fn snapshot_of(body: &[u8], profile: Profile) -> Snapshot {
    let mut compiler = Compiler::new(profile);
    compiler.add_robots(ORIGIN, body).unwrap();
    Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap()
}

/// Asserts that all judges agree with the reference, for these agents, all profiles and ways of
/// matching. Each URL is [`ORIGIN`] and a path, without white space at the end.
pub(crate) fn judges_agree(body: &[u8], agents: &[Agent], urls: &[&[u8]]) {
    for profile in [Profile::Google, Profile::Rfc9309] {
        let snapshot = snapshot_of(body, profile);
        let parsed = RobotsRef::parse(body, profile);
        for how in [AgentMatch::Extended, AgentMatch::Google] {
            let options = JudgeOptions::default().agent_match(how);
            let judge = Judge::new(snapshot.clone(), agents, options).unwrap();
            let site = judge.site(&Origin::of(ORIGIN.as_bytes()).unwrap()).unwrap();
            let mut session = judge.session();
            // The answers of the reference, by URL and agent.
            let mut expected_answers: Vec<Vec<bool>> = Vec::new();
            for &url in urls {
                let shown = url.as_bstr();
                let verdicts = judge.judge(url).unwrap();
                let letters: String = verdicts.iter().map(Verdict::letter).collect();
                let path = url.strip_prefix(ORIGIN.as_bytes()).unwrap();
                let by_site = site.judge(path).unwrap();
                let found = by_site.iter().map(Verdict::letter).collect::<String>();
                assert_eq!(found, letters, "site: {profile:?} {shown}");
                let in_session = session.judge(url).unwrap();
                let path_in_session = session.judge_path(&site, path).unwrap();
                assert!(
                    in_session.iter().eq(verdicts.iter()),
                    "session: {profile:?} {shown}"
                );
                assert!(
                    path_in_session.iter().eq(verdicts.iter()),
                    "path: {profile:?} {shown}"
                );
                let mut by_agent = Vec::new();
                for (i, agent) in agents.iter().enumerate() {
                    let slow = reference::judge(body, agent, how, profile, url);
                    let expected = if slow.allowed {
                        Verdict::Allowed
                    } else {
                        Verdict::Disallowed
                    };
                    let found = verdicts.get(i);
                    assert_eq!(found, expected, "snapshot: {agent} {profile:?} {shown}");
                    by_agent.push(slow.allowed);
                    let stored = judge.explain(url, i).unwrap();
                    assert_eq!(
                        stored.verdict, expected,
                        "explanation of a snapshot: {agent} {profile:?} {shown}"
                    );
                    let why = explain(&parsed, agent, how, url);
                    assert_eq!(
                        why.verdict, expected,
                        "explanation: {agent} {profile:?} {shown}"
                    );
                    if let (false, Some(rule)) = (slow.allowed, why.deciding) {
                        assert_eq!(rule.line, slow.line, "line: {agent} {profile:?} {shown}");
                    }
                }
                expected_answers.push(by_agent);
            }
            for (i, agent) in agents.iter().enumerate() {
                let expected: Vec<bool> = expected_answers
                    .iter()
                    .map(|by_agent| by_agent[i])
                    .collect();
                answers_agree(body, profile, agent, how, urls, &expected);
            }
        }
    }
}

/// Asserts that a parsed robots.txt gives the expected answers before, at and after the ninth, which
/// compiles its rules.
fn answers_agree(
    body: &[u8],
    profile: Profile,
    agent: &Agent,
    how: AgentMatch,
    urls: &[&[u8]],
    expected: &[bool],
) {
    let robots = RobotsRef::parse(body, profile);
    let passes = 2 + 8 / urls.len().max(1);
    for pass in 1..=passes {
        for (url, expected) in urls.iter().zip(expected) {
            let found = robots.allows_with(agent, how, url);
            let shown = url.as_bstr();
            assert_eq!(
                found, *expected,
                "parsed, pass {pass} of {passes}: {agent} {profile:?} {shown}"
            );
        }
    }
}
