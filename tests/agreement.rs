//! The fast judges against the slow reference. The tests and the fuzz targets share it.

use crate::generate::ORIGIN;
use bstr::ByteSlice;
use robosieve::judge::{AgentRules, explain};
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
                for (i, agent) in agents.iter().enumerate() {
                    let slow = reference::judge(body, agent, how, profile, url);
                    let expected = if slow.allowed {
                        Verdict::Allowed
                    } else {
                        Verdict::Disallowed
                    };
                    let found = verdicts.get(i);
                    assert_eq!(found, expected, "snapshot: {agent} {profile:?} {shown}");
                    let rules = AgentRules::new(&parsed, agent, how).unwrap();
                    let found = rules.allows(url).unwrap();
                    assert_eq!(found, slow.allowed, "compiled: {agent} {profile:?} {shown}");
                    if how == AgentMatch::Extended {
                        let found = parsed.allows(agent, url);
                        assert_eq!(found, slow.allowed, "parsed: {agent} {profile:?} {shown}");
                    }
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
            }
        }
    }
}
