//! Units of a report: representatives of hosts and domains, top-level domains, weights, shared
//! units.

use crate::command::words;
use robosieve::{Compiler, Judge, JudgeOptions, Profile, Snapshot};
use robosieve_cli::report::{Grouping, Report, Reporter, UnitKind, UnitSet, Weights};

use super::{Capture, archive};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use std::collections::BTreeMap;

const REFUSES: &str = "user-agent: *\ndisallow: /";

/// The status and the body of a response: `refuses` has a robots.txt that disallows everything, and
/// `allows` one that disallows nothing.
fn response(word: &str) -> (u16, &'static str) {
    match word {
        "refuses" => (200, REFUSES),
        "allows" => (200, "user-agent: *\nallow: /"),
        "404" => (404, ""),
        "403" => (403, ""),
        "503" => (503, ""),
        other => panic!("{other}"),
    }
}

/// A snapshot of origins, each with the word of its response.
fn snapshot(web: &[(&str, &str)]) -> Snapshot {
    let captures: Vec<Capture<'_>> = web
        .iter()
        .map(|(origin, word)| {
            let (status, body) = response(word);
            (*origin, status, body)
        })
        .collect();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("robots.jsonl");
    std::fs::write(&path, archive(&captures)).unwrap();
    let mut compiler = Compiler::new(Profile::Google);
    compiler.add_path(&path).unwrap();
    Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap()
}

fn judge(snapshot: &Snapshot) -> Judge {
    Judge::new(snapshot, &["a".parse().unwrap()], JudgeOptions::default()).unwrap()
}

/// A report on these units, with groups.
fn report_by(judge: &Judge, by: UnitKind) -> Report {
    let mut reporter = Reporter::new(judge);
    reporter.by = by;
    reporter.groups = Some(Grouping::TopLevelDomain);
    reporter.of_snapshot().unwrap()
}

/// The wholly disallowed and the not disallowed units.
fn counts(web: &[(&str, &str)], by: UnitKind) -> (u64, u64) {
    let judge = judge(&snapshot(web));
    let report = report_by(&judge, by);
    let counts = report.agents[0].units;
    assert_eq!(
        counts.wholly + counts.partly + counts.not,
        report.units,
        "{web:?}"
    );
    assert_eq!(
        report.reasons.iter().map(|of| of.origins).sum::<u64>(),
        report.units,
        "{web:?}"
    );
    assert_eq!(counts.partly, 0, "{web:?}");
    (counts.wholly, counts.not)
}

/// The concentrations of a report by origin or host: agent, domain, units of it, and the figure.
fn concentrations(web: &[(String, &str)], by: UnitKind) -> Vec<(Option<String>, String, u64, u64)> {
    let web: Vec<(&str, &str)> = web
        .iter()
        .map(|(origin, word)| (origin.as_str(), *word))
        .collect();
    let judge = judge(&snapshot(&web));
    let report = report_by(&judge, by);
    report
        .concentrations
        .into_iter()
        .map(|of| (of.agent, of.domain, of.units, of.of))
        .collect()
}

#[test]
fn domain_that_dominates_a_figure_is_named() {
    // 30 domains that allow, 18 that disallow, and subdomains of one that disallow.
    let web = |subdomains: usize| -> Vec<(String, &str)> {
        let allow = (0..30).map(|i| (format!("https://allows{i}.com"), "allows"));
        let refuse = (0..18).map(|i| (format!("https://refuses{i}.com"), "refuses"));
        let large = (0..subdomains).map(|i| (format!("https://s{i}.large.co.uk"), "refuses"));
        allow.chain(refuse).chain(large).collect()
    };
    let agent = || Some("a".to_owned());
    let large = || "large.co.uk".to_owned();
    for by in [UnitKind::Origin, UnitKind::Host] {
        // 2 of 20 is a tenth, 3 of 21 is more; 5 of 53 is less, 6 of 54 is more.
        assert_eq!(concentrations(&web(2), by), []);
        assert_eq!(concentrations(&web(3), by), [(agent(), large(), 3, 21)]);
        assert_eq!(concentrations(&web(5), by), [(agent(), large(), 5, 23)]);
        assert_eq!(
            concentrations(&web(6), by),
            [(None, large(), 6, 54), (agent(), large(), 6, 24)]
        );
        // Figures of less than 20 units are not examined.
        let few = &web(6)[31..];
        assert_eq!(concentrations(&few[..19], by), []);
        assert_eq!(
            concentrations(&few[few.len() - 20..], by),
            [(None, large(), 6, 20), (agent(), large(), 6, 20)]
        );
    }
    assert_eq!(concentrations(&web(40), UnitKind::Domain), []);
}

/// The sites of a web, each written as its origin and what it does.
fn sites(web: &str) -> Vec<(&str, &str)> {
    web.split(", ")
        .map(|site| site.split_once(' ').unwrap())
        .collect()
}

#[test]
fn hosts_count_by_one_origin() {
    for (web, expected) in [
        // https comes before http, whatever the answer is.
        ("http://a.example 404, https://a.example refuses", (1, 0)),
        ("http://a.example refuses, https://a.example 404", (0, 1)),
        ("http://a.example refuses, https://a.example 403", (0, 1)),
        ("http://a.example allows, https://a.example refuses", (1, 0)),
        // An origin that failed decides only if no origin answered.
        ("http://a.example allows, https://a.example 503", (0, 1)),
        ("http://a.example 503, https://a.example allows", (0, 1)),
        ("http://a.example 503, https://a.example 503", (1, 0)),
        // Other ports come last.
        (
            "https://a.example:8443 refuses, http://a.example allows",
            (0, 1),
        ),
        (
            "https://a.example:8443 refuses, http://a.example 503",
            (1, 0),
        ),
        (
            "http://a.example:443 refuses, https://a.example allows",
            (0, 1),
        ),
        (
            "http://a.example:81 allows, http://a.example:82 refuses",
            (0, 1),
        ),
        // Hosts count separately, and a final dot names the same host.
        (
            "https://a.example refuses, https://www.a.example allows",
            (1, 1),
        ),
        (
            "https://a.example. refuses, https://a.example allows",
            (0, 1),
        ),
        (
            "https://1.2.3.4 refuses, http://1.2.3.4 allows, http://[::1]:8 refuses",
            (2, 0),
        ),
    ] {
        assert_eq!(counts(&sites(web), UnitKind::Host), expected, "{web}");
    }
}

#[test]
fn domains_count_by_one_origin() {
    for (web, expected) in [
        // The domain itself, then www., then the host with the fewest labels.
        (
            "https://a.example refuses, https://www.a.example allows",
            (1, 0),
        ),
        (
            "http://a.example refuses, https://www.a.example allows",
            (1, 0),
        ),
        (
            "https://a.example 404, https://www.a.example refuses",
            (0, 1),
        ),
        (
            "https://a.example 503, https://www.a.example allows",
            (0, 1),
        ),
        (
            "https://x.www.a.example refuses, https://news.a.example allows",
            (0, 1),
        ),
        (
            "https://www.a.example refuses, https://b.a.example allows",
            (1, 0),
        ),
        // Then the shorter host, then the first by name.
        (
            "https://long.a.example refuses, https://tiny1.a.example allows",
            (1, 0),
        ),
        (
            "https://c.a.example refuses, https://b.a.example allows",
            (0, 1),
        ),
        // Public suffixes of several labels, also those of hosting providers.
        (
            "https://a.co.uk refuses, https://b.co.uk allows, https://w.b.co.uk refuses",
            (1, 1),
        ),
        (
            "https://a.github.io refuses, https://b.github.io allows",
            (1, 1),
        ),
        // Addresses, public suffixes and single labels are units of their own.
        (
            "https://1.2.3.4 refuses, https://2.2.3.4 refuses, https://[::4] allows",
            (2, 1),
        ),
        (
            "https://co.uk refuses, https://uk allows, https://localhost allows",
            (1, 2),
        ),
        (
            "https://xn--bcher-kva.example refuses, https://www.bücher.example allows",
            (1, 0),
        ),
        (
            "https://www.a.example. allows, http://a.example. refuses",
            (1, 0),
        ),
    ] {
        assert_eq!(counts(&sites(web), UnitKind::Domain), expected, "{web}");
    }
}

#[test]
fn odd_hosts_are_units() {
    let odd =
        words("https://a..example https://.. https://. https://.com https://a.b.. https://%20");
    let mut compiler = Compiler::default();
    // Some of them are not origins.
    let added = odd
        .iter()
        .filter(|origin| compiler.add_robots(origin, REFUSES.as_bytes()).is_ok())
        .count() as u64;
    let judge = judge(&Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap());
    assert!(added > 0);
    for by in [UnitKind::Origin, UnitKind::Host, UnitKind::Domain] {
        let report = report_by(&judge, by);
        assert!(
            (1..=added).contains(&report.units),
            "{by:?}: {}",
            report.units
        );
        assert_eq!(
            report
                .groups
                .unwrap()
                .iter()
                .map(|group| group.units)
                .sum::<u64>(),
            report.units
        );
    }
}

const WORDS: [&str; 5] = ["refuses", "allows", "404", "403", "503"];

fn origin() -> impl Strategy<Value = String> {
    let host = select(vec![
        "a.example",
        "www.a.example",
        "b.a.example",
        "a.co.uk",
        "www.a.co.uk",
        "b.com",
        "7.7.7.7",
    ]);
    (
        select(vec!["http", "https"]),
        host,
        select(vec!["", ":81", ":444"]),
    )
        .prop_map(|(scheme, host, port)| format!("{scheme}://{host}{port}"))
}

/// The unit of an origin of [`origin`], without the public suffix list.
fn unit_of(origin: &str, by: UnitKind) -> String {
    let host = origin
        .split("://")
        .nth(1)
        .unwrap()
        .split(':')
        .next()
        .unwrap();
    match by {
        UnitKind::Origin => origin.to_owned(),
        UnitKind::Host => host.to_owned(),
        _ => {
            let domains = ["a.example", "a.co.uk", "b.com", "7.7.7.7"];
            domains
                .into_iter()
                .find(|domain| host.ends_with(domain))
                .unwrap()
                .to_owned()
        }
    }
}

/// The sort key of an origin for the order of the documentation.
fn sort_key(origin: &str, word: &str, unit: &str) -> (bool, usize, usize, usize, String) {
    let (scheme, rest) = origin.split_once("://").unwrap();
    let (host, port) = rest.split_once(':').unwrap_or((rest, ""));
    let host_rank = match host {
        _ if host == unit => 0,
        _ if host == format!("www.{unit}") => 1,
        _ => 2,
    };
    let scheme_rank = match (scheme, port) {
        ("https", "") => 0,
        ("http", "") => 1,
        _ => 2,
    };
    (
        word == "503",
        host_rank,
        host.len(),
        scheme_rank,
        origin.to_owned(),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// Counts, groups and weights equal those of a direct computation.
    #[test]
    fn units_equal_a_direct_computation(
        web in vec((origin(), select(WORDS.to_vec())), 1..24),
        shared in vec(origin(), 0..12),
    ) {
        let web: BTreeMap<String, &str> = web.into_iter().collect();
        let captures: Vec<(&str, &str)> = web.iter().map(|(origin, word)| (origin.as_str(), *word)).collect();
        let (snapshot, other) = (snapshot(&captures), snapshot_of(&shared));
        let judge = judge(&snapshot);
        let listed = "a.example\t4\nwww.a.example\t2\na.co.uk\t1\n7.7.7.7\t0.5\nabsent.example\t8\n";
        let weights = Weights::read(listed.as_bytes()).unwrap();
        for by in [UnitKind::Origin, UnitKind::Host, UnitKind::Domain] {
            let mut units: BTreeMap<String, Vec<(&str, &str)>> = BTreeMap::new();
            for (origin, word) in &web {
                units.entry(unit_of(origin, by)).or_default().push((origin, word));
            }
            let set = UnitSet::of(&snapshot, by).unwrap();
            let set = set.intersect(&UnitSet::of(&other, by).unwrap());
            for is_shared in [false, true] {
                let kept = |unit: &&String| {
                    !is_shared || shared.iter().any(|origin| unit_of(origin, by) == **unit)
                };
                let expected = units.keys().filter(kept).map(|unit| {
                    let of = &units[unit];
                    let first = of.iter().min_by_key(|(origin, word)| sort_key(origin, word, unit));
                    let (origin, word) = first.unwrap();
                    (unit_of(origin, UnitKind::Host), unit, *word)
                });
                let expected: Vec<(String, &String, &str)> = expected.collect();
                let refused = |word: &str| matches!(word, "refuses" | "503");
                let mut reporter = Reporter::new(&judge);
                reporter.by = by;
                reporter.weights = Some(&weights);
                reporter.groups = Some(Grouping::TopLevelDomain);
                reporter.within = is_shared.then_some(&set);
                let report = reporter.of_snapshot().unwrap();
                let agent = &report.agents[0];
                let count = |cause: &str| {
                    expected.iter().filter(|(_, _, word)| *word == cause).count() as u64
                };
                prop_assert_eq!(report.units, expected.len() as u64);
                prop_assert_eq!(agent.units.wholly_by_global, count("refuses"));
                prop_assert_eq!(agent.units.wholly_by_status, count("503"));
                prop_assert_eq!(agent.units.wholly, count("refuses") + count("503"));
                let weight = |(host, unit, _): &&(String, &String, &str)| {
                    weights.of(if by == UnitKind::Origin { host } else { unit }).unwrap_or(0.0)
                };
                let weighted = agent.weighted.unwrap();
                let sum = |wanted: bool| {
                    let units = expected.iter().filter(|(.., word)| refused(word) == wanted);
                    units.map(|unit| weight(&unit)).sum::<f64>()
                };
                prop_assert_eq!((weighted.wholly, weighted.not), (sum(true), sum(false)));
                let facts = report.weights.unwrap();
                let found = (facts.entries, facts.listed, facts.matched);
                prop_assert_eq!(found, (5, 15.5, sum(true) + sum(false)));
                let mut tlds: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
                for (host, _, word) in &expected {
                    let tld = if host == "7.7.7.7" { "(ip)" } else { host.rsplit('.').next().unwrap() };
                    let (units, wholly) = tlds.entry(tld).or_default();
                    *units += 1;
                    *wholly += u64::from(refused(word));
                }
                let groups = report.groups.unwrap();
                let groups: BTreeMap<&str, (u64, u64)> = groups
                    .iter()
                    .map(|group| (group.name.as_str(), (group.units, group.agents[0].wholly)))
                    .collect();
                prop_assert_eq!(groups, tlds);
                reporter.groups = None;
                let point = reporter.series_point("now").unwrap();
                prop_assert_eq!((point.units, point.agents[0].units), (report.units, agent.units));
                let found = (point.together, point.agents[0].weighted);
                prop_assert_eq!(found, (report.together, agent.weighted));
            }
        }
    }
}

/// A snapshot of origins with the same robots.txt.
fn snapshot_of(origins: &[String]) -> Snapshot {
    let mut compiler = Compiler::default();
    origins
        .iter()
        .for_each(|origin| compiler.add_robots(origin, b"").unwrap());
    Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap()
}

#[test]
fn groups_beyond_the_largest_are_counted_together() {
    let web: Vec<(String, &str)> = [("com", 5), ("org", 3), ("net", 3), ("de", 1)]
        .iter()
        .flat_map(|(tld, count)| {
            (0..*count).map(move |i| {
                (
                    format!("https://a{i}.{tld}"),
                    if i == 0 { "refuses" } else { "404" },
                )
            })
        })
        .chain([("https://9.9.9.9".to_owned(), "503")])
        .collect();
    let web: Vec<(&str, &str)> = web
        .iter()
        .map(|(origin, word)| (origin.as_str(), *word))
        .collect();
    let judge = judge(&snapshot(&web));
    let groups = |top: usize| {
        let mut reporter = Reporter::new(&judge);
        reporter.groups = Some(Grouping::TopLevelDomain);
        reporter.top = top;
        let report = reporter.of_snapshot().unwrap();
        let groups = report.groups.unwrap().into_iter();
        groups
            .map(|group| (group.name, group.units, group.agents[0].wholly))
            .collect::<Vec<_>>()
    };
    let group = |name: &str, units: u64, wholly: u64| (name.to_owned(), units, wholly);
    assert_eq!(
        groups(3),
        [
            group("com", 5, 1),
            group("net", 3, 1),
            group("org", 3, 1),
            group("(other)", 2, 2)
        ]
    );
    let all = [
        group("com", 5, 1),
        group("net", 3, 1),
        group("org", 3, 1),
        group("(ip)", 1, 1),
        group("de", 1, 1),
    ];
    assert_eq!(groups(20), all);
}

#[test]
fn weights_have_two_forms() {
    let read = |text: &str| Weights::read(text.as_bytes()).unwrap();
    let tranco = read("1,google.com\r\n2,example.com\r\n\r\n4,xn--bcher-kva.example\r\n");
    assert_eq!(
        ["google.com", "example.com", "bcher.example"].map(|name| tranco.of(name)),
        [Some(1.0), Some(0.5), None]
    );
    assert_eq!(tranco.of("xn--bcher-kva.example"), Some(0.25));
    let weights =
        read("\u{feff}Host\tVisits\nEXAMPLE.com.\t7\nbücher.example, 1e3 \n[::1],0\n1.2.3.4\t.5");
    assert_eq!((weights.len(), weights.of("example.com")), (4, Some(7.0)));
    assert_eq!(weights.of("xn--bcher-kva.example"), Some(1000.0));
    assert_eq!(
        (weights.of("[::1]"), weights.of("1.2.3.4")),
        (Some(0.0), Some(0.5))
    );
    assert!(read("").is_empty() && read("rank,domain\n").is_empty());
}

#[test]
fn bad_weights_name_the_line() {
    for (text, cause) in [
        ("a.example\n", "line 1: \"a.example\" has no TAB or comma"),
        (
            "a.example,1\nb.example,x\n",
            "line 2: \"x\" is not a weight",
        ),
        ("a.example,-1\n", "line 1: \"-1\" is not a weight"),
        (
            "a.example,NaN\nb.example,1",
            "line 1: \"NaN\" is not a weight",
        ),
        (
            "host,weight\nhost,weight\n",
            "line 2: \"weight\" is not a weight",
        ),
        (
            "a.example,1\na.example,inf\n",
            "line 2: \"inf\" is not a weight",
        ),
        (
            "a.example,1\nb.example,2\nA.example.,3\n",
            "line 3: line 1 has \"a.example\" too",
        ),
        ("1,a.example\n0,b.example\n", "line 2: \"0\" is not a rank"),
        (
            "1,a.example\nb.example,2\n",
            "line 2: \"b.example\" is not a rank",
        ),
        (
            "https://a.example/,2\n",
            "line 1: \"https://a.example/\" is not a host or domain",
        ),
        ("a.example:8080,2\n", "is not a host or domain"),
        (",2\n", "line 1: \"\" is not a host or domain"),
        ("1,\n", "line 1: \"\" is not a host or domain"),
        ("\0\u{1b}\t1\n", "is not a host or domain"),
    ] {
        let err = Weights::read(text.as_bytes()).unwrap_err().to_string();
        assert!(err.contains(cause), "{text:?}: {err}");
    }
}
