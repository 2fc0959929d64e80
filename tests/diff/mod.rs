//! The comparison of snapshots: its counts equal a slow count with the reference.

mod command;

use crate::agents::census::{names_in, reach_by_asking};
use crate::command::cells;
use crate::forging::overlapping_groups;
use crate::snapshots::snapshot_of_captures;
use robosieve::diff::{Diff, DiffOptions};
use robosieve::export::Coverage;
use robosieve::snapshot::OutcomeClass;
use robosieve::{Agent, Compiler, ErrorKind, Profile, Remedy, Snapshot};
use robosieve_synthetic::{Web, WebOptions};
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// One capture of a site, with its answer.
type Site<'a> = (&'a str, u16, String);

fn line((origin, status, body): &Site<'_>) -> String {
    json!({"url": format!("{origin}/robots.txt"), "status": status, "body": body}).to_string()
        + "\n"
}

fn compile(sites: &[Site<'_>]) -> Snapshot {
    let mut compiler = Compiler::default();
    let lines: String = sites.iter().map(line).collect();
    compiler.add_reader("sites", lines.as_bytes()).unwrap();
    Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap()
}

/// A generated web, and the same web later. Some sites are gone, new, failing or without a
/// robots.txt. Some have other rules for all or for one agent, some only another comment.
fn webs() -> [Vec<(String, u16, String)>; 2] {
    let web = Web::new(WebOptions::default().origins(260));
    let snapshot = snapshot_of_captures(web.archive());
    let (mut old, mut new) = (Vec::new(), Vec::new());
    for (i, entry) in snapshot.origins().map(Result::unwrap).enumerate() {
        let class = entry.outcome().class;
        let text = snapshot.robots_text(&entry).unwrap().unwrap_or_default();
        // The reference parses the file again for each question.
        if text.len() > 3000 {
            continue;
        }
        let status = match class {
            OutcomeClass::Rules => 200,
            OutcomeClass::ClientError => 404,
            _ => 503,
        };
        let text = String::from_utf8(text).unwrap();
        let site = |status, text: String| (entry.origin(), status, text);
        if i % 13 != 1 {
            old.push(site(status, text.clone()));
        }
        new.push(match i % 11 {
            0 => continue,
            1 => site(503, String::new()),
            2 => site(404, String::new()),
            3 => site(
                200,
                format!("{text}\nuser-agent: GPTBot\nuser-agent: MJ12bot\ndisallow: /\n"),
            ),
            4 => site(
                200,
                "user-agent: *\ndisallow: /\nuser-agent: Googlebot\ndisallow: /x".to_owned(),
            ),
            5 => site(
                status,
                format!("# another comment\n{text}\nsitemap: https://e.example/{i}\n"),
            ),
            6 => site(200, "user-agent: GPTBot\nallow: /".to_owned()),
            _ => site(status, text),
        });
    }
    [old, new]
}

/// The robots.txt of every origin; `None` if fetching failed.
fn answers(snapshot: &Snapshot) -> BTreeMap<String, (OutcomeClass, Option<Vec<u8>>)> {
    let answer = |entry: robosieve::snapshot::OriginEntry<'_>| {
        let class = entry.outcome().class;
        let text = match class {
            OutcomeClass::Rules => snapshot.robots_text(&entry).unwrap(),
            OutcomeClass::ClientError | OutcomeClass::Unresolved => Some(Vec::new()),
            _ => None,
        };
        (entry.origin(), (class, text))
    };
    snapshot
        .origins()
        .map(|entry| answer(entry.unwrap()))
        .collect()
}

/// The coverage of a robots.txt, computed once per text.
#[derive(Default)]
struct CoverageCache(HashMap<Vec<u8>, BTreeMap<String, Coverage>>);

impl CoverageCache {
    /// The coverage for a name, and whether the robots.txt names it.
    fn of(&mut self, text: &[u8], name: &str) -> (Coverage, bool) {
        let by_name = self.0.entry(text.to_vec()).or_insert_with(|| {
            let ask = |name: String| (name.clone(), reach_by_asking(text, &name));
            let mut by_name: BTreeMap<String, Coverage> =
                names_in(text).into_iter().map(ask).collect();
            by_name.insert("*".to_owned(), reach_by_asking(text, "*"));
            by_name
        });
        match by_name.get(name).filter(|_| name != "*") {
            Some(reach) => (*reach, true),
            None => (by_name["*"], false),
        }
    }
}

/// For each kind of transition (newly disallowed, newly allowed, newly partly, no longer partly) the
/// origins by name, by `*`, and where either robots.txt names the agent.
type Counts = [[u64; 3]; 4];

fn slow_counts(old: &Snapshot, new: &Snapshot, chains: &[Vec<String>]) -> Vec<Counts> {
    let (before, after) = (answers(old), answers(new));
    let mut cache = CoverageCache::default();
    let mut counts = vec![Counts::default(); chains.len()];
    for (origin, (_, text)) in &before {
        let (Some(text), Some((_, Some(later)))) = (text, after.get(origin)) else {
            continue;
        };
        for (chain, counts) in chains.iter().zip(&mut counts) {
            // The first name of a chain that is named decides.
            let mut coverage_of = |text: &[u8]| {
                let named = chain
                    .iter()
                    .map(|name| cache.of(text, name))
                    .find(|(_, named)| *named);
                named.unwrap_or_else(|| cache.of(text, "*"))
            };
            let (first, second) = (coverage_of(text), coverage_of(later));
            let wholly = [first, second].map(|(coverage, _)| coverage == Coverage::Wholly);
            let not = [first, second].map(|(coverage, _)| coverage == Coverage::Not);
            let (kind, refuses_by_name) = match (wholly, not) {
                ([false, true], _) => (0, second.1),
                ([true, false], _) => (1, first.1),
                ([false, false], [true, false]) => (2, second.1),
                ([false, false], [false, true]) => (3, first.1),
                _ => continue,
            };
            counts[kind][usize::from(!refuses_by_name)] += 1;
            counts[kind][2] += u64::from(first.1 || second.1);
        }
    }
    counts
}

fn counts_of(row: &robosieve::diff::AgentChange) -> Counts {
    [
        &row.refused,
        &row.allowed,
        &row.newly_partly,
        &row.no_longer_partly,
    ]
    .map(|transition| {
        assert_eq!(
            transition.origins,
            transition.by_name + transition.by_global
        );
        [transition.by_name, transition.by_global, transition.named]
    })
}

fn compiled_webs() -> [Snapshot; 2] {
    webs().map(|sites| {
        let sites: Vec<Site<'_>> = sites
            .iter()
            .map(|(origin, status, body)| (&**origin, *status, body.clone()))
            .collect();
        compile(&sites)
    })
}

#[test]
fn name_changes_equal_a_slow_count() {
    let [old, new] = compiled_webs();
    let diff = Diff::of(&old, &new, &DiffOptions::default().top(usize::MAX)).unwrap();
    let texts =
        [&old, &new].map(|snapshot| answers(snapshot).into_values().filter_map(|(_, text)| text));
    let names: BTreeSet<String> = texts
        .into_iter()
        .flatten()
        .flat_map(|text| names_in(&text))
        .collect();
    assert!(names.contains("mj12bot") && !names.contains("mj"));
    let names: Vec<String> = names.into_iter().filter(|name| name != "*").collect();
    let chains: Vec<Vec<String>> = names.iter().map(|name| vec![name.clone()]).collect();
    let slow: BTreeMap<&String, Counts> =
        names.iter().zip(slow_counts(&old, &new, &chains)).collect();
    let expected: BTreeMap<&String, Counts> = slow
        .into_iter()
        .filter(|(_, counts)| counts.iter().any(|kind| kind[2] > 0))
        .collect();
    assert!(expected.len() > 5, "{expected:?}");
    let rows = diff.agents.iter().map(|row| (&row.name, counts_of(row)));
    assert_eq!(rows.collect::<BTreeMap<_, _>>(), expected);
    assert_eq!(diff.agents_changed, expected.len() as u64);
    let found = counts_of(&diff.others);
    assert_eq!(found, slow_counts(&old, &new, &[vec!["*".to_owned()]])[0]);
    assert!(diff.others.refused.origins > 0 && diff.others.allowed.origins > 0);
    for kind in 0..4 {
        assert!(
            expected.values().any(|counts| counts[kind] != [0; 3]),
            "kind {kind}: {expected:?}"
        );
    }
    assert!(
        diff.agents.is_sorted_by_key(|row| std::cmp::Reverse((
            row.refused.by_name,
            row.refused.by_global
        )))
    );
}

#[test]
fn agent_changes_equal_a_slow_count() {
    let [old, new] = compiled_webs();
    let given = [
        "FooBot",
        "MJ12bot",
        "GPTBot:CCBot",
        "Googlebot-Image:Googlebot",
        "*",
        "mj",
    ];
    let agents: Vec<Agent> = given.iter().map(|name| name.parse().unwrap()).collect();
    let diff = Diff::of(&old, &new, &DiffOptions::default().agents(agents.clone())).unwrap();
    // `mj` obeys the groups for `mj12bot`: the RFC truncates that name (SEMANTICS.md, "Groups and
    // agents").
    let names = |agent: &Agent| {
        agent
            .names()
            .map(|name| name.replace("mj12bot", "mj").replace("mj", "mj12bot"))
            .collect()
    };
    let slow = slow_counts(&old, &new, &agents.iter().map(names).collect::<Vec<_>>());
    assert_eq!(
        diff.agents
            .iter()
            .map(|row| row.name.as_str())
            .collect::<Vec<_>>(),
        given
    );
    assert_eq!(diff.agents.iter().map(counts_of).collect::<Vec<_>>(), slow);
    assert_eq!(counts_of(&diff.agents[4]), counts_of(&diff.others));
}

#[test]
fn origin_changes_equal_a_slow_count() {
    let [old, new] = compiled_webs();
    let diff = Diff::of(&old, &new, &DiffOptions::default()).unwrap();
    let (before, after) = (answers(&old), answers(&new));
    let common: Vec<_> = before
        .iter()
        .filter_map(|(origin, old)| Some((old, after.get(origin)?)))
        .collect();
    let expected = (before.len() as u64, after.len() as u64, common.len() as u64);
    assert_eq!((diff.old, diff.new, diff.common), expected);
    let only = |some: &BTreeMap<String, _>, others: &BTreeMap<String, _>| {
        some.keys()
            .filter(|origin| !others.contains_key(*origin))
            .cloned()
            .collect::<Vec<_>>()
    };
    for (found, expected) in [
        (&diff.gone, only(&before, &after)),
        (&diff.added, only(&after, &before)),
    ] {
        assert!(expected.len() > 10);
        assert_eq!(found.origins, expected.len() as u64);
        assert_eq!(found.examples[..], expected[..3]);
    }
    let changed = common.iter().filter(|(old, new)| old.0 != new.0).count() as u64;
    assert_eq!(diff.outcome_changed.origins, changed);
    assert_eq!(
        diff.outcomes
            .iter()
            .map(|change| change.origins)
            .sum::<u64>(),
        changed
    );
    for change in &diff.outcomes {
        let same = common
            .iter()
            .filter(|(old, new)| (old.0, new.0) == (change.from, change.to));
        assert_eq!(change.origins, same.count() as u64, "{change:?}");
    }
    let answered = common
        .iter()
        .filter(|(old, new)| old.1.is_some() && new.1.is_some())
        .count();
    assert_eq!(diff.answered, answered as u64);
}

#[test]
fn snapshots_equal_themselves() {
    let [old, _] = compiled_webs();
    let diff = Diff::of(&old, &old, &DiffOptions::default()).unwrap();
    assert!(diff.is_empty());
    assert!(diff.agents.is_empty());
    assert!(diff.agents_changed == 0);
    assert!(diff.outcomes.is_empty());
    assert_eq!(diff.common, diff.old);
    assert_eq!(counts_of(&diff.others), Counts::default());
}

/// Two robots.txt files, and whether any agent gets other rules.
const RULES: &[&str] = &[
    "user-agent: a\ndisallow: /x | user-agent: a\n\n# moved\ndisallow: /x\nsitemap: /s | same",
    "user-agent: a\ndisallow: /x\ndisallow: /y | \
     user-agent: A\ndisallow: /y\ndisallow: /x\ndisallow: /x/z | same",
    "user-agent: a\ndisallow: /x | user-agent: a\ndisallow: /y | changed",
    "user-agent: a\ndisallow: /a/long/path/1 | user-agent: a\ndisallow: /a/long/path/2 | changed",
    "user-agent: a\ndisallow: /*.php$ | user-agent: a\ndisallow: /*.asp$ | changed",
    "user-agent: a\ndisallow: /x | user-agent: b\ndisallow: /x | changed",
    "user-agent: a\ndisallow: /x | user-agent: a\nuser-agent: b\ndisallow: /x | changed",
    "user-agent: a\ndisallow: /x | user-agent: a\ndisallow: /x\nuser-agent: *\ndisallow: /x | \
     changed",
    "user-agent: *\ndisallow: /x | user-agent: *\nallow: /x | changed",
];

#[test]
fn rules_change_if_any_agent_is_affected() {
    for row in RULES {
        let [before, after, changed] = cells(row);
        // Other sites precede it, so that patterns and names are stored elsewhere.
        let other = (
            "https://a.example",
            200,
            "user-agent: 0\nuser-agent: aa\ndisallow: /another/long/one/*x".to_owned(),
        );
        let old = compile(&[("https://b.example", 200, before.to_owned())]);
        let new = compile(&[other, ("https://b.example", 200, after.to_owned())]);
        let diff = Diff::of(&old, &new, &DiffOptions::default()).unwrap();
        let expected = u64::from(changed == "changed");
        assert_eq!(diff.rules_changed.origins, expected, "{row:?}");
    }
}

/// Two sites with the same unions of rule sets: the results for the first are known when the second is
/// compared. `shared` ends the 601 lines of the large rule set, `own` is the rule of each name.
fn sites_with_unions(shared: &str, own: &str) -> Snapshot {
    let mut large: String = (0..600)
        .map(|number| format!("disallow: /{number}\n"))
        .collect();
    large.push_str(shared);
    let body = overlapping_groups(&large, |_| own.to_owned());
    compile(&["https://a.example", "https://b.example"].map(|origin| (origin, 200, body.clone())))
}

#[test]
fn members_of_unions_are_compared() {
    let old = sites_with_unions("disallow: /b\n", "allow: /c\n");
    for (shared, own, changed) in [
        ("disallow: /b\n# a comment\n", "allow: /c\n", 0),
        ("disallow: /d\n", "allow: /c\n", 2),
        ("disallow: /b\n", "allow: /d\n", 2),
    ] {
        let new = sites_with_unions(shared, own);
        let diff = Diff::of(&old, &new, &DiffOptions::default()).unwrap();
        assert_eq!(diff.rules_changed.origins, changed, "{shared:?} {own:?}");
    }
}

#[test]
fn profiles_are_not_compared() {
    let compiled = |profile| {
        let mut compiler = Compiler::new(profile);
        compiler.add_robots("https://a.example", b"").unwrap();
        Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap()
    };
    let (old, new) = (compiled(Profile::Google), compiled(Profile::Rfc9309));
    let err = Diff::of(&old, &new, &DiffOptions::default()).unwrap_err();
    assert!(matches!(err.kind(), ErrorKind::BadDiff(_)), "{err}");
    assert_eq!(err.remedy(), Some(Remedy::CompileWithProfile("rfc9309")));
}

/// Each origin with a robots.txt before and after, and the transition of `a`: its kind, and whether
/// it is by name, or by `*` with a group that names it, or without.
const TRANSITIONS: &[&str] = &[
    " | user-agent: a\ndisallow: / | refused | by name",
    "user-agent: *\ndisallow: /x | user-agent: a\ndisallow: / | refused | by name",
    "user-agent: a\ndisallow: /x | user-agent: *\ndisallow: / | refused | named",
    "user-agent: *\ndisallow: /x | user-agent: *\ndisallow: / | refused | by *",
    "user-agent: a\ndisallow: / | user-agent: *\ndisallow: /x | allowed | by name",
    "user-agent: *\ndisallow: / | user-agent: a\nallow: / | allowed | named",
    "user-agent: *\ndisallow: / |  | allowed | by *",
    "user-agent: *\nallow: / | user-agent: a\ndisallow: /x | newly_partly | by name",
    "user-agent: a\nallow: / | user-agent: *\ndisallow: /x | newly_partly | named",
    " | user-agent: *\ndisallow: /x | newly_partly | by *",
    "user-agent: a\ndisallow: /x | user-agent: *\nallow: / | no_longer_partly | by name",
    "user-agent: *\ndisallow: /x | user-agent: a\nallow: / | no_longer_partly | named",
    "user-agent: *\ndisallow: /x |  | no_longer_partly | by *",
    "user-agent: *\ndisallow: / | user-agent: a\ndisallow: / | none | by *",
    "user-agent: a\ndisallow: /x | user-agent: a\ndisallow: /y | none | by *",
    "user-agent: b\ndisallow: / | user-agent: b\nallow: / | none | by *",
];

#[test]
fn transitions_are_told_apart_by_name_and_by_star() {
    let rows: Vec<[&str; 4]> = TRANSITIONS.iter().map(|row| cells(row)).collect();
    let origins: Vec<String> = (0..rows.len())
        .map(|i| format!("https://{i}.example"))
        .collect();
    let [old, new] = [0, 1].map(|column| {
        let sites = origins.iter().zip(&rows);
        let sites = sites.map(|(origin, row)| (&**origin, 200, row[column].to_owned()));
        compile(&sites.collect::<Vec<_>>())
    });
    let requested = DiffOptions::default().agents(vec!["a".parse().unwrap()]);
    for options in [requested, DiffOptions::default()] {
        let diff = Diff::of(&old, &new, &options).unwrap();
        let row =
            serde_json::to_value(diff.agents.iter().find(|row| row.name == "a").unwrap()).unwrap();
        for (kind, origins, by_name, named) in [
            ("refused", 4, 2, 3),
            ("allowed", 3, 1, 2),
            ("newly_partly", 3, 1, 2),
            ("no_longer_partly", 3, 1, 2),
        ] {
            let of_kind = || rows.iter().filter(|row| row[2] == kind);
            assert_eq!(of_kind().count(), origins);
            let found = of_kind().filter(|row| row[3] == "by name").count();
            assert_eq!(found, by_name);
            assert_eq!(of_kind().filter(|row| row[3] != "by *").count(), named);
            let found = ["origins", "by_name", "by_global", "named"]
                .map(|key| row[kind][key].as_u64().unwrap());
            let expected = [origins, by_name, origins - by_name, named].map(|count| count as u64);
            assert_eq!(found, expected, "{kind}: {row}");
        }
    }
}
