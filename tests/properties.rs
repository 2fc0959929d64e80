//! Properties on random input: fast judges agree with the slow reference, origins with the `url`
//! crate, and snapshots read back what was written.

use crate::agreement::{judges_agree, snapshot_of};
use crate::generate::{AGENTS, ORIGIN, config, robots_txt, rule_path, url};
use crate::snapshots::judge_for;
use bstr::ByteSlice;
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use robosieve::job::{Input, Job, Output};
use robosieve::judge::explain;
use robosieve::preferences::{Preference, explain_preferences};
use robosieve::robots::reference;
use robosieve::{
    Agent, AgentMatch, Compiler, Origin, Profile, Result, RobotsRef, Snapshot, Verdict,
};
use std::io::Cursor;

/// An origin whose host is longer than a vector of 32 bytes.
const LONG_ORIGIN: &str = "https://a-host-with-a-name-that-no-vector-holds.of.32.bytes.example";

/// The same with another last label; no robots.txt is stored for it.
const LONG_UNKNOWN_ORIGIN: &str =
    "https://a-host-with-a-name-that-no-vector-holds.of.32.bytes.unknown";

/// Starts of lines: known and unknown origins, short and long, plain and odd, and texts that are no
/// origin.
const STARTS: &[&str] = &[
    ORIGIN,
    "https://h.example",
    "http://unknown.example",
    "https://unknown.example",
    LONG_ORIGIN,
    LONG_UNKNOWN_ORIGIN,
    "HTTP://H.example:80",
    "http://h.example.",
    "http://1.2.3",
    " http://h.example",
    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
    "/",
    "",
];

const TAILS: &[&str] = &[
    "", "/", "/x", "/xy#z", "/a b", "/x \t", "/x\r", "\r", "\rx", "?q", ";/x",
];

fn agree(body: &[u8], urls: &[String]) {
    let agents: Vec<Agent> = AGENTS.iter().map(|name| name.parse().unwrap()).collect();
    let urls: Vec<&[u8]> = urls.iter().map(String::as_bytes).collect();
    judges_agree(body, &agents, &urls);
}

fn judges_lines_independently(list: String) -> Result<(), TestCaseError> {
    let mut compiler = Compiler::default();
    for origin in [ORIGIN, "https://h.example", LONG_ORIGIN] {
        compiler
            .add_robots(origin, b"user-agent: *\ndisallow: /x")
            .unwrap();
    }
    let snapshot = Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap();
    let judge = judge_for(&snapshot, "a");
    let annotated = |line: &str| {
        let url = line.strip_suffix('\n').unwrap_or(line);
        let url = url.strip_suffix('\r').unwrap_or(url);
        format!(
            "{}\t{line}",
            judge.judge(url.as_bytes()).unwrap().get(0).letter()
        )
    };
    let alone: String = list.split_inclusive('\n').map(annotated).collect();
    let mut out = Vec::new();
    let input = Input::from_reader("list", Cursor::new(list));
    let written = Job::new(&judge).annotate(vec![input], Output::from_writer(&mut out));
    written.unwrap().commit().unwrap();
    prop_assert_eq!(String::from_utf8(out).unwrap(), alone);
    Ok(())
}

/// A failure that proptest found once: after a run of short lines, two long origins that differ
/// only in the last label.
#[test]
fn long_origins_are_judged_independently() {
    let short = format!("{ORIGIN}\n").repeat(8);
    judges_lines_independently(format!("{short}{LONG_ORIGIN}/\n{LONG_UNKNOWN_ORIGIN}")).unwrap();
}

/// SEMANTICS: white space around a URL is not part of it, whoever judges it.
#[test]
fn white_space_around_urls_is_ignored() {
    let body = b"user-agent: *\ndisallow: /x$\ncontent-usage: /x$ train-ai=n";
    let agent: Agent = "a".parse().unwrap();
    for profile in [Profile::Google, Profile::Rfc9309] {
        let judge = judge_for(snapshot_of(body, profile), "a");
        let robots = RobotsRef::parse(body, profile);
        let how = AgentMatch::Extended;
        for around in [" ", "\t", "\x0b", "\x0c", "\r\n"] {
            for url in [format!("{ORIGIN}/x{around}"), format!("{around}{ORIGIN}/x")] {
                let url = url.as_bytes();
                let found = judge.judge(url).unwrap().get(0);
                assert_eq!(found, Verdict::Disallowed, "{around:?}");
                assert!(!robots.allows(&agent, url), "{around:?}");
                assert_eq!(
                    explain(&robots, &agent, how, url).verdict,
                    Verdict::Disallowed
                );
                assert!(
                    !reference::judge(body, &agent, how, profile, url).allowed,
                    "{around:?}"
                );
                let stated = explain_preferences(&robots, &agent, how, url);
                assert_eq!(stated.preferences.train_ai, Preference::No, "{around:?}");
            }
        }
    }
}

/// A rule above 65,535 bytes, which no path field of a snapshot holds, and a line above the limit of
/// Google's parser: every judge reads them alike.
#[test]
fn long_lines_agree_with_the_reference() {
    let long = |len: usize| "a".repeat(len);
    let agents = ["*".parse().unwrap()];
    for len in [16_654, 16_655, 65_534, 65_535] {
        for (rule, other) in [("disallow", "allow"), ("allow", "disallow")] {
            for end in ["$", "*%2F$"] {
                let body = format!(
                    "user-agent: *\n{other}: /\n{other}: /{}\n{rule}: /{}{end}\n",
                    long(30_000),
                    long(len)
                );
                let urls: Vec<String> = [len - 1, len, len + 1]
                    .iter()
                    .flat_map(|len| {
                        ["", "/", "?/"].map(|end| format!("{ORIGIN}/{}{end}", long(*len)))
                    })
                    .collect();
                let urls: Vec<&[u8]> = urls.iter().map(String::as_bytes).collect();
                judges_agree(body.as_bytes(), &agents, &urls);
            }
        }
    }
}

/// A stored text is read with the profile of its snapshot, whose groups its delays belong to.
#[test]
fn crawl_delays_belong_to_the_groups_of_the_profile() {
    let body = b"user-agent: a\ncrawl-delay: 1\nallow: /\nuseragent: b\ncrawl-delay: 2\n";
    for (profile, a, b) in [
        (Profile::Google, Some(1), Some(2)),
        (Profile::Rfc9309, Some(2), None),
    ] {
        let snapshot = snapshot_of(body, profile);
        let origin = Origin::of(ORIGIN.as_bytes()).unwrap();
        let delay = |agent: &str| {
            let agent = agent.parse().unwrap();
            let delay = snapshot.crawl_delay(&origin, &agent, AgentMatch::Extended);
            delay.unwrap().map(|delay| delay.as_secs())
        };
        assert_eq!([delay("a"), delay("b")], [a, b], "{profile:?}");
    }
}

/// Asserts that three threads that share a parsed robots.txt get the answers of the reference.
fn threads_agree(body: &str, urls: &[String], profile: Profile, how: AgentMatch) {
    let robots = RobotsRef::parse(body.as_bytes(), profile);
    let mut expected = Vec::new();
    for name in AGENTS {
        let agent: Agent = name.parse().unwrap();
        for url in urls.iter().map(String::as_bytes) {
            let slow = reference::judge(body.as_bytes(), &agent, how, profile, url);
            expected.push((agent.clone(), url, slow.allowed));
        }
    }
    let ask = || {
        for pass in 1..=10 {
            for (agent, url, allowed) in &expected {
                let found = robots.allows_with(agent, how, url);
                let shown = url.as_bstr();
                assert_eq!(found, *allowed, "pass {pass}: {agent} {profile:?} {shown}");
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(ask);
        }
    });
}

proptest! {
    #![proptest_config(config(1500))]

    #[test]
    fn all_judges_agree_with_the_reference(body in robots_txt(), urls in vec(url(), 1..6)) {
        agree(body.as_bytes(), &urls);
    }

    #[test]
    fn single_groups_agree_with_the_reference(
        rules in vec((any::<bool>(), rule_path()), 1..12), urls in vec(url(), 1..8),
    ) {
        let lines = rules.iter().map(|(allow, path)| format!("{}: {path}\n", if *allow { "allow" } else { "disallow" }));
        agree(format!("user-agent: *\n{}", lines.collect::<String>()).as_bytes(), &urls);
    }

    /// Threads ask one file about all agents at once, while its rules are compiled.
    #[test]
    fn threads_get_the_answers_of_the_reference(
        body in robots_txt(), urls in vec(url(), 1..4), is_rfc in any::<bool>(), is_google in any::<bool>(),
    ) {
        let profile = if is_rfc { Profile::Rfc9309 } else { Profile::Google };
        let how = if is_google { AgentMatch::Google } else { AgentMatch::Extended };
        threads_agree(&body, &urls, profile, how);
    }

    #[test]
    fn any_bytes_agree_with_the_reference(body in vec(any::<u8>(), 0..300), path in vec(any::<u8>(), 0..40)) {
        let url = format!("{ORIGIN}/{}", String::from_utf8_lossy(&path).replace(['\n', '\r'], ""));
        agree(&body, &[url.trim_end().to_owned()]);
    }

    #[test]
    fn stored_text_parses_like_the_body(body in robots_txt()) {
        let snapshot = snapshot_of(body.as_bytes(), Profile::Google);
        let entry = snapshot.origin(&Origin::of(ORIGIN.as_bytes()).unwrap()).unwrap().unwrap();
        let stored = snapshot.robots_text(&entry).unwrap().unwrap();
        let (a, b) = (RobotsRef::parse(body.as_bytes(), Profile::Google), RobotsRef::parse(&stored, Profile::Google));
        prop_assert_eq!(format!("{a:?}"), format!("{b:?}"));
    }

    #[test]
    fn origins_equal_the_url_crate(url in origin_url()) {
        let parsed = ::url::Url::parse(&url).ok().filter(::url::Url::has_host);
        // An escaped `;` stays escaped: without it, the path would begin there (SEMANTICS.md).
        let expected = parsed.map(|url| url.origin().ascii_serialization().replace(';', "%3B"));
        let found = Origin::of(url.as_bytes()).map(|origin| origin.to_string());
        // A label that only looks like Punycode is invalid in IDNA, but DNS may know it, so it is
        // accepted as it is.
        if expected.is_some() || !url.contains("xn--") {
            prop_assert_eq!(found, expected, "{}", url);
        }
    }

    /// The verdict of a line does not depend on its position in a list. No line is lost or
    /// repeated.
    #[test]
    fn lines_are_judged_independently(
        lines in vec((select(STARTS), select(TAILS), select(vec!["\n", "\r\n"]), 1..4usize), 0..150),
        is_terminated in any::<bool>(),
    ) {
        let mut list: String = lines.iter().map(|(start, tail, end, count)| format!("{start}{tail}{end}").repeat(*count)).collect();
        if !is_terminated {
            list.pop();
        }
        judges_lines_independently(list)?;
    }

    #[test]
    fn any_line_is_judged(line in vec(any::<u8>(), 0..60), lead in select(vec!["", "http://", "http://h.example"])) {
        let line = [lead.as_bytes(), &line].concat();
        // A list that starts with one of these is compressed or UTF-16.
        let magic = [&b"\x1f\x8b"[..], b"\x28\xb5\x2f\xfd", b"\x1f\x9d", b"\xff\xfe", b"\xfe\xff", b"\xff\xd8\xff"];
        prop_assume!(!magic.iter().any(|magic| line.starts_with(magic)));
        // A list that starts as a JSON array may be refused.
        prop_assume!(!line.trim_ascii_start().starts_with(b"["));
        let snapshot = snapshot_of(b"user-agent: *\ndisallow: /*a", Profile::Rfc9309);
        let judge = judge_for(&snapshot, "a");
        let mut out = Vec::new();
        let input = Input::from_reader("list", Cursor::new(line.clone()));
        let written = Job::new(&judge).annotate(vec![input], Output::from_writer(&mut out));
        written.unwrap().commit().unwrap();
        let unmarked: Vec<u8> = out.split_inclusive(|&b| b == b'\n').flat_map(|line| line[2..].to_vec()).collect();
        prop_assert_eq!(unmarked, line);
    }
}

/// RFC 9309 §2.2.3: `*` matches any run of characters, also as the whole pattern. After some
/// thousands of URLs a thread promotes the rules of a site to its cache, with the same verdicts.
#[test]
fn star_rules_survive_promotion() {
    let literal = |kind: &str| {
        (0..128)
            .map(|number| format!("{kind}: /other/{number}/\n"))
            .collect::<String>()
    };
    for stars in ["*", "**", "*$", "****************", "****************$"] {
        for (rules, expected) in [
            (
                format!("disallow: {stars}\n{}", literal("allow")),
                Verdict::Disallowed,
            ),
            (
                format!("disallow: /\nallow: {stars}\n{}", literal("disallow")),
                Verdict::Allowed,
            ),
        ] {
            let snapshot = snapshot_of(
                format!("user-agent: *\n{rules}").as_bytes(),
                Profile::Google,
            );
            let judge = judge_for(&snapshot, "a");
            for number in 0..5_000 {
                let verdict = judge
                    .judge(format!("{ORIGIN}/x/{number}").as_bytes())
                    .unwrap()
                    .get(0);
                assert_eq!(verdict, expected, "URL {number} by {stars}");
            }
        }
    }
}

/// Many spellings of few origins. Left out are the intended differences to WHATWG's parser: it
/// removes tabs and line ends, turns backslashes into slashes, accepts an empty authority
/// (`http:///a`), and does not start the path at `;`.
fn origin_url() -> impl Strategy<Value = String> {
    let scheme = select(vec!["http", "https", "HTTP", "hTTps", "ftp"]);
    let user = select(vec![
        "",
        "",
        "",
        "u@",
        "u:p@",
        "@",
        "u@v@",
        "a%40b@",
        "h.example:80@",
    ]);
    let host = prop_oneof![
        select(vec![
            "h.example",
            "H.Example",
            "h.example.",
            "müller.example",
            "xn--mller-kva.example",
            "127.0.0.1",
            "127.1",
            "0x7f.1",
            "[::1]",
            "[2001:DB8::1]",
            "[::ffff:1.2.3.4]",
            "h%2eexample",
            "a%3Bb.example",
            "a_b.example",
            "",
            "-a.example",
            "1.2.3.4.5",
            "1.2.3",
            "a..b",
            "ﬁsh.example",
            "h.example%",
            "faß.example",
            "xn--a",
            "日本.example",
            "256.1.1.1",
            "1e3",
            "a,b",
            "a b",
            "a|b",
            "a^b",
            "[::1",
            "::1",
            "%00.example",
            "a<b",
            "09.0.0.1",
            "0.0.0.0x",
        ])
        .prop_map(str::to_owned),
        "[a-z0-9.-]{1,12}",
        "[a-zA-Z0-9._~!$&'()*+,=%é-]{1,8}",
    ];
    let port = select(vec![
        "", "", "", ":80", ":443", ":21", ":8080", ":0", ":", ":65535", ":65536", ":080", ":x",
        ":-1",
    ]);
    let rest = select(vec![
        "", "/", "/a/b", "?q", "#f", "/@x", "?@x", "/a:80@b", "#@",
    ]);
    (scheme, user, host, port, rest)
        .prop_map(|(scheme, user, host, port, rest)| format!("{scheme}://{user}{host}{port}{rest}"))
        .prop_filter("an authority", |url| !url.contains(":///"))
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn written_snapshots_read_back(sites in vec(("[a-z]{1,6}", robots_txt()), 1..20)) {
        let dir = tempfile::tempdir().unwrap();
        let compile = |compiler: Compiler| {
            let mut compiler = compiler.temp_dir(dir.path());
            for (name, body) in &sites {
                compiler.add_robots(&format!("https://{name}.example"), body.as_bytes()).unwrap();
            }
            compiler.finish().unwrap()
        };
        let path = dir.path().join("written.rsieve");
        compile(Compiler::default().memory(0)).write_to(&path).unwrap();
        let in_memory = compile(Compiler::default()).to_vec().unwrap();
        prop_assert_eq!(std::fs::read(&path).unwrap(), in_memory, "in memory and on disk");
        let snapshot = Snapshot::open(&path).unwrap();
        snapshot.verify().unwrap();
        let mut names: Vec<String> = sites.iter().map(|(name, _)| format!("https://{name}.example")).collect();
        names.sort();
        names.dedup();
        let found: Vec<String> = snapshot.origins().map(|entry| entry.unwrap().origin().to_string()).collect();
        prop_assert_eq!(found, names);
        for (name, _) in &sites {
            let entry = snapshot.origin(&Origin::of(format!("https://{name}.example/x").as_bytes()).unwrap()).unwrap().unwrap();
            let stored = snapshot.robots_text(&entry).unwrap().unwrap();
            let same = |body: &str| {
                format!("{:?}", RobotsRef::parse(body.as_bytes(), Profile::Google)) == format!("{:?}", RobotsRef::parse(&stored, Profile::Google))
            };
            prop_assert!(sites.iter().any(|(other, body)| other == name && same(body)), "{name}");
        }
    }
}
