//! `Site` gives the verdicts of `Judge`.

use crate::snapshots::{judge_for, snapshot_of_robots};
use robosieve::judge::UnknownOrigin;
use robosieve::{Judge, JudgeOptions, Origin, Snapshot, Verdict};

const ORIGIN: &str = "https://e.example";

fn snapshot() -> Snapshot {
    snapshot_of_robots(
        ORIGIN,
        b"user-agent: *\ndisallow: /x\ndisallow: /*a$\ndisallow: /?",
    )
}

/// The verdict on `path` of `origin`, and whether the entry of the other scheme was used.
fn verdict(origin: &str, path: &str, options: JudgeOptions) -> (Verdict, bool) {
    let snapshot = snapshot();
    let judge = Judge::new(snapshot.clone(), &["a".parse().unwrap()], options).unwrap();
    let site = judge.site(&Origin::of(origin.as_bytes()).unwrap()).unwrap();
    let verdicts = site.judge(path.as_bytes()).unwrap();
    let joined = [origin, path].concat();
    let found = judge.judge(joined.as_bytes()).unwrap().get(0);
    assert_eq!(found, verdicts.get(0), "{joined}");
    (verdicts.get(0), verdicts.via_other_scheme())
}

#[test]
fn paths_follow_the_origin() {
    let of = |path| verdict(ORIGIN, path, JudgeOptions::default()).0;
    for path in ["/x", "/x/y#z", "/y?a", "/y/a#b", "?q", "/?q"] {
        assert_eq!(of(path), Verdict::Disallowed, "{path}");
    }
    for path in ["", "/", "#x", "/y", "/y#a", "/y?ab"] {
        assert_eq!(of(path), Verdict::Allowed, "{path}");
    }
}

#[test]
fn missing_slashes_are_added() {
    let snapshot = snapshot();
    let judge = judge_for(&snapshot, "a");
    let site = judge.site(&Origin::of(ORIGIN.as_bytes()).unwrap()).unwrap();
    assert_eq!(site.judge(b"x").unwrap().get(0), Verdict::Disallowed);
}

#[test]
fn unknown_origins_follow_the_options() {
    let unknown = "https://other.example";
    let plain = JudgeOptions::default();
    assert_eq!(verdict(unknown, "/x", plain), (Verdict::Unknown, false));
    let refused = plain.unknown(UnknownOrigin::Disallow);
    let found = verdict(unknown, "/x", refused);
    assert_eq!(found, (Verdict::Disallowed, false));
    let found = verdict("http://e.example", "/x", plain);
    assert_eq!(found, (Verdict::Unknown, false));
    let any_scheme = plain.any_scheme(true);
    let found = verdict("http://e.example", "/x", any_scheme);
    assert_eq!(found, (Verdict::Disallowed, true));
}

#[test]
fn sites_do_not_affect_the_judge() {
    let snapshot = snapshot();
    let judge = judge_for(&snapshot, "a");
    let known = judge.site(&Origin::of(ORIGIN.as_bytes()).unwrap()).unwrap();
    let unknown = judge
        .site(&Origin::of(b"https://other.example").unwrap())
        .unwrap();
    for _ in 0..2 {
        assert_eq!(known.judge(b"/x").unwrap().get(0), Verdict::Disallowed);
        assert_eq!(unknown.judge(b"/x").unwrap().get(0), Verdict::Unknown);
        let found = judge.judge(b"https://e.example/y").unwrap().get(0);
        assert_eq!(found, Verdict::Allowed);
    }
}

/// The rules of both judges have the same row in their snapshots, so a session that mixed up
/// its caches would give the verdicts of the wrong one.
#[test]
fn sessions_judge_sites_of_other_judges() {
    let of = |rule: &str| {
        let snapshot = snapshot_of_robots(ORIGIN, format!("user-agent: *\ndisallow: /*{rule}"));
        judge_for(snapshot, "a")
    };
    let (own, other) = (of("x"), of("y"));
    let origin = Origin::of(ORIGIN.as_bytes()).unwrap();
    let (own_site, other_site) = (own.site(&origin).unwrap(), other.site(&origin).unwrap());
    let mut session = own.session();
    // Enough lookups to promote the rules.
    for _ in 0..5000 {
        let found = session.path_verdict(&own_site, b"/x", 0).unwrap();
        assert_eq!(found, Verdict::Disallowed);
    }
    for _ in 0..3 {
        for (site, refused, allowed) in [(&own_site, "/x", "/y"), (&other_site, "/y", "/x")] {
            let found = session.path_verdict(site, refused.as_bytes(), 0).unwrap();
            assert_eq!(found, Verdict::Disallowed);
            let found = session.path_verdict(site, allowed.as_bytes(), 0).unwrap();
            assert_eq!(found, Verdict::Allowed);
        }
        let found = session.verdict(b"https://e.example/x", 0).unwrap();
        assert_eq!(found, Verdict::Disallowed);
        let found = session.verdict(b"https://e.example/y", 0).unwrap();
        assert_eq!(found, Verdict::Allowed);
    }
}
