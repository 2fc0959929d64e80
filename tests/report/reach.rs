//! Coverage of an origin (disallowed wholly, partly or not), against the reference on every short
//! path.

use crate::generate::{concat, config};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use robosieve::export::{Coverage, ExportPosition, ExportTable, ExportValue, Exporter};
use robosieve::robots::reference;
use robosieve::{Agent, AgentMatch, Compiler, Judge, JudgeOptions, Profile, Snapshot};

const ORIGIN: &str = "https://h.example";

/// The coverage of a robots.txt for FooBot.
fn reach(robots: &str, profile: Profile) -> Coverage {
    let mut compiler = Compiler::new(profile);
    compiler.add_robots(ORIGIN, robots.as_bytes()).unwrap();
    let snapshot = Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap();
    let agents = ["FooBot".parse().unwrap()];
    let judge = Judge::new(snapshot.clone(), &agents, JudgeOptions::default()).unwrap();
    let exporter = Exporter::new(&judge, ExportTable::Origins).unwrap();
    let exporter = exporter.choose_columns(&["FooBot.access"]).unwrap();
    let batches = exporter
        .read(&mut ExportPosition::default())
        .unwrap()
        .unwrap();
    assert_eq!((batches.len(), batches[0].rows()), (1, 1));
    match batches[0].value(0, 0) {
        ExportValue::Text("blocked") => Coverage::Wholly,
        ExportValue::Text("partial") => Coverage::Partly,
        ExportValue::Text("allowed") => Coverage::Not,
        other => panic!("{other:?} is not an access"),
    }
}

/// The coverage by exhaustive search: all paths of up to five bytes after the `/`, of the letters
/// of rules and one other letter.
fn by_trying(robots: &str, profile: Profile) -> Coverage {
    let mut paths = vec![
        "/robots.txt".to_owned(),
        "/robots.txtc".to_owned(),
        "/robots.txt/a".to_owned(),
    ];
    let mut tails = vec![String::new()];
    for _ in 0..=5 {
        paths.extend(tails.iter().map(|tail| format!("/{tail}")));
        tails = tails
            .iter()
            .flat_map(|tail| ["a", "/", "c"].map(|letter| format!("{tail}{letter}")))
            .collect();
    }
    let agent: Agent = "FooBot".parse().unwrap();
    let (mut refused, mut allowed) = (false, false);
    for path in paths {
        let url = format!("{ORIGIN}{path}");
        match reference::judge(
            robots.as_bytes(),
            &agent,
            AgentMatch::Extended,
            profile,
            url.as_bytes(),
        )
        .allowed
        {
            true => allowed |= path != "/robots.txt",
            false => refused = true,
        }
        if refused && allowed {
            return Coverage::Partly;
        }
    }
    if refused {
        Coverage::Wholly
    } else {
        Coverage::Not
    }
}

#[test]
fn documented_examples_hold() {
    use Coverage::{Not, Partly, Wholly};
    for (rules, google, rfc9309) in [
        ("", Not, Not),
        ("disallow:", Not, Not),
        ("disallow: /", Wholly, Wholly),
        ("disallow: *", Wholly, Wholly),
        ("disallow: /*", Wholly, Wholly),
        ("disallow: /*$", Wholly, Wholly),
        ("disallow: /$", Partly, Partly),
        ("disallow: /a", Partly, Partly),
        ("disallow: a", Not, Not),
        // Allows with an effect.
        ("disallow: /\nallow: /a", Partly, Partly),
        ("disallow: /\nallow: /$", Partly, Partly),
        ("disallow: /\nallow: /*?", Partly, Partly),
        // Allows without an effect.
        ("disallow: /\nallow:", Wholly, Wholly),
        ("disallow: /\nallow: a", Wholly, Wholly),
        ("disallow: /*********\nallow: /a", Wholly, Wholly),
        (
            "disallow: /a\ndisallow: /\nallow: /a\ndisallow: /aa*\ndisallow: /a*",
            Wholly,
            Wholly,
        ),
        // Allows that override every disallow.
        ("disallow: /\nallow: /", Not, Not),
        ("disallow: /a\nallow: /*a", Not, Not),
        ("disallow: /a\nallow: /?a", Partly, Partly),
        ("disallow: /a\nallow: /a", Not, Not),
        ("disallow: *\nallow: */", Not, Not),
        ("disallow: **\nallow: */a", Partly, Partly),
        ("disallow: /*a\nallow: /**a", Not, Not),
        ("disallow: */a\nallow: /*/a", Partly, Partly),
        (
            "disallow: */a\nallow: /*/a\nallow: //a\nallow: /a*",
            Not,
            Not,
        ),
        ("disallow: /*a$\nallow: /*a*", Not, Not),
        // `/robots.txt` itself does not count.
        ("disallow: /\nallow: /robots.txt$", Wholly, Wholly),
        ("disallow: /\nallow: /robots.txt", Partly, Partly),
        ("disallow: /robots.txt$", Partly, Not),
        ("disallow: /robots.txt", Partly, Partly),
        // For Google a rule for an index page also matches its directory.
        ("disallow: /\nallow: /index.html", Partly, Partly),
    ] {
        let robots = format!("user-agent: *\n{rules}");
        assert_eq!(reach(&robots, Profile::Google), google, "google: {rules:?}");
        assert_eq!(
            reach(&robots, Profile::Rfc9309),
            rfc9309,
            "rfc9309: {rules:?}"
        );
    }
}

#[test]
fn unmerged_groups_are_combined() {
    // Thousands of names in overlapping groups: merging them for each name would multiply the file,
    // so they stay separate.
    let names: String = (0..3000u32)
        .map(|i| format!("user-agent: a{}\n", letters(i)))
        .collect();
    let disallows: String = (0..3000).map(|i| format!("disallow: /{i}\n")).collect();
    for (of_foobot, expected) in [
        ("disallow: /", Coverage::Wholly),
        ("allow: /", Coverage::Not),
        ("allow: /1", Coverage::Partly),
    ] {
        let many = (0..3000u32)
            .map(|i| format!("user-agent: a{}\nallow: /{i}/x\n", letters(i)))
            .collect::<String>();
        let disallows = if expected == Coverage::Partly {
            disallows.as_str()
        } else {
            "disallow: /\n"
        };
        let robots = format!(
            "{names}user-agent: FooBot\n{disallows}{many}user-agent: FooBot\n{of_foobot}\n"
        );
        assert_eq!(reach(&robots, Profile::Google), expected, "{of_foobot}");
    }
}

fn letters(i: u32) -> String {
    i.to_string()
        .bytes()
        .map(|b| char::from(b - b'0' + b'a'))
        .collect()
}

fn rule() -> impl Strategy<Value = String> {
    let lead = select(vec!["/", "/", "/", "*", "/*"]);
    let middle = concat(&["a", "/", "*"], 0..3);
    let path = prop_oneof![
        9 => (lead, middle, select(vec!["", "", "", "$"]))
            .prop_map(|(lead, middle, end)| format!("{lead}{middle}{end}")),
        1 => select(vec!["/robots.txt", "/robots.txt$", "/robots.txt*", "", "a"])
            .prop_map(str::to_owned),
    ];
    (select(vec!["allow", "disallow"]), path).prop_map(|(kind, path)| format!("{kind}: {path}\n"))
}

proptest! {
    #![proptest_config(config(400))]
    #[test]
    fn coverage_equals_exhaustive_search(rules in vec(rule(), 1..6)) {
        let robots = format!("user-agent: *\n{}", rules.concat());
        for profile in [Profile::Google, Profile::Rfc9309] {
            let found = reach(&robots, profile);
            prop_assert_eq!(found, by_trying(&robots, profile), "{:?}: {}", profile, robots);
        }
    }
}
