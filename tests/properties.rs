//! Properties of everything, on made-up input: the fast path against the slow obvious judge, URLs against the `url`
//! crate, what is read against what was written.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;
use robosieve::*;
use std::io::Cursor;

/// Names that share beginnings, cases and letters outside the RFC's alphabet.
const AGENTS: &[&str] = &["a", "ab", "MJ12bot", "b c", "x:a", "ab:a", "*", "zz"];

/// The origin of all URLs but those that are about origins.
const ORIGIN: &str = "http://h.example";

/// Pieces that make rules and paths meet often, and that every special meaning depends on.
const PIECES: &[&str] = &[
    "/",
    "a",
    "b",
    "ab",
    ".",
    "?",
    "=",
    "*",
    "**",
    "$",
    "%",
    "%41",
    "%2a",
    "%2A",
    "%24",
    "%c3%A4",
    "ä",
    ";",
    "//",
    "index.htm",
    "/index.html",
    "robots.txt",
    "abcdefghij",
    "/a/b/c/d/e/f",
    "-",
    "\u{1}",
];

fn text_of(pieces: impl Strategy<Value = Vec<&'static str>>) -> impl Strategy<Value = String> {
    pieces.prop_map(|pieces| pieces.concat())
}

fn rule_path() -> impl Strategy<Value = String> {
    let lead = select(vec!["/", "/", "/", "*", "/*", "", "a"]);
    (lead, text_of(vec(select(PIECES), 0..6)), select(vec!["", "", "", "$", "*", "*$"]))
        .prop_map(|(lead, middle, end)| format!("{lead}{middle}{end}"))
}

fn url() -> impl Strategy<Value = String> {
    let start = select(vec!["", "/", "/", "/", "/", "?", ";"]);
    (start, text_of(vec(select(PIECES), 0..6)), select(vec!["", "", "", "#f", "#/x"])).prop_map(|(start, path, end)| {
        let path = if start.is_empty() { "" } else { &path };
        format!("{ORIGIN}{start}{path}{end}")
    })
}

fn robots_line() -> impl Strategy<Value = String> {
    let agent = select(vec!["a", "A/2", "ab", "*", "* x", "*x", "mj12bot", "MJ12bot/1", "b  c", "b", "", "zzz"]);
    let colon = select(vec![": ", ":", " : ", " ", "\t"]);
    prop_oneof![
        3 => (select(vec!["user-agent", "User-Agent", "useragent"]), colon.clone(), agent)
            .prop_map(|(key, colon, agent)| format!("{key}{colon}{agent}")),
        4 => (select(vec!["allow", "Allow", "allowed"]), colon.clone(), rule_path())
            .prop_map(|(key, colon, path)| format!("{key}{colon}{path}")),
        4 => (select(vec!["disallow", "DISALLOW", "disalow"]), colon, rule_path())
            .prop_map(|(key, colon, path)| format!("{key}{colon}{path}")),
        1 => select(vec!["sitemap: /s", "crawl-delay: 1", "# c", "", "noise", "x: y", "allow: /a # c", "\0disallow: /"])
            .prop_map(str::to_owned),
    ]
}

fn robots() -> impl Strategy<Value = String> {
    let end = select(vec!["\n", "\n", "\n", "\r\n", "\r", "\n\r", "\r\r\n"]);
    (select(vec!["", "", "", "\u{feff}"]), vec((robots_line(), end), 0..24))
        .prop_map(|(mark, lines)| lines.into_iter().fold(mark.to_owned(), |text, (line, end)| text + &line + end))
}

/// A host that no vector of 32 bytes holds.
const LONG: &str = "https://a-host-with-a-name-that-no-vector-holds.of.32.bytes.example";

/// What lines begin with: known and unknown origins, short and long, plain and odd, and what is none at all.
const STARTS: &[&str] = &[
    ORIGIN,
    "https://h.example",
    "http://unknown.example",
    "https://unknown.example",
    LONG,
    "https://a-host-with-a-name-that-no-vector-holds.of.32.bytes.unknown",
    "HTTP://H.example:80",
    "http://h.example.",
    "http://1.2.3",
    " http://h.example",
    "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0",
    "/",
    "",
];

const TAILS: &[&str] = &["", "/", "/x", "/xy#z", "/a b", "/x \t", "/x\r", "\r", "\rx", "?q", ";/x"];

fn snapshot_of(body: &[u8], profile: Profile) -> Snapshot {
    let mut compiler = Compiler::new(profile);
    compiler.add_robots(ORIGIN, body).unwrap();
    Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap()
}

/// Every way to a verdict gives that of the slow obvious judge, for all agents and both ways of matching names.
fn agree(body: &[u8], urls: &[String]) -> Result<(), TestCaseError> {
    let agents: Vec<Agent> = AGENTS.iter().map(|name| name.parse().unwrap()).collect();
    for profile in [Profile::Google, Profile::Rfc9309] {
        let snapshot = snapshot_of(body, profile);
        let parsed = Robots::parse(body, profile);
        for how in [AgentMatch::Extended, AgentMatch::Google] {
            let options = JudgeOptions::default().agent_match(how);
            let judge = Judge::new(snapshot.clone(), &agents, options).unwrap();
            let site = judge.site(&Origin::of(ORIGIN.as_bytes()).unwrap()).unwrap();
            for url in urls {
                let verdicts = judge.judge(url.as_bytes()).unwrap();
                let letters: String = verdicts.iter().map(Verdict::letter).collect();
                let path = url.strip_prefix(ORIGIN).unwrap();
                let by_site = site.judge(path.as_bytes()).unwrap();
                prop_assert_eq!(
                    by_site.iter().map(Verdict::letter).collect::<String>(),
                    letters,
                    "site: {:?} {}",
                    profile,
                    url
                );
                for (i, agent) in agents.iter().enumerate() {
                    let slow = reference::judge(body, agent, how, profile, url.as_bytes());
                    let expected = if slow.allowed { Verdict::Allowed } else { Verdict::Disallowed };
                    prop_assert_eq!(verdicts.get(i), expected, "snapshot: {} {:?} {}", agent, profile, url);
                    let why = explain(&parsed, agent, how, url.as_bytes());
                    prop_assert_eq!(why.verdict, expected, "explanation: {} {:?} {}", agent, profile, url);
                    if let (false, Some(rule)) = (slow.allowed, why.deciding) {
                        prop_assert_eq!(rule.line, slow.line, "line: {} {:?} {}", agent, profile, url);
                    }
                }
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_path_agrees_with_the_reference(body in robots(), urls in vec(url(), 1..6)) {
        agree(body.as_bytes(), &urls)?;
    }

    #[test]
    fn rules_alone_agree_with_the_reference(
        rules in vec((any::<bool>(), rule_path()), 1..12), urls in vec(url(), 1..8),
    ) {
        let lines = rules.iter().map(|(allow, path)| format!("{}: {path}\n", if *allow { "allow" } else { "disallow" }));
        agree(format!("user-agent: *\n{}", lines.collect::<String>()).as_bytes(), &urls)?;
    }

    #[test]
    fn any_bytes_agree_with_the_reference(body in vec(any::<u8>(), 0..300), path in vec(any::<u8>(), 0..40)) {
        let url = format!("{ORIGIN}/{}", String::from_utf8_lossy(&path).replace(['\n', '\r'], ""));
        agree(&body, &[url.trim_end().to_owned()])?;
    }

    #[test]
    fn the_stored_text_says_what_the_body_said(body in robots()) {
        let snapshot = snapshot_of(body.as_bytes(), Profile::Google);
        let entry = snapshot.origin(&Origin::of(ORIGIN.as_bytes()).unwrap()).unwrap().unwrap();
        let stored = snapshot.robots_text(&entry).unwrap().unwrap();
        let (a, b) = (Robots::parse(body.as_bytes(), Profile::Google), Robots::parse(&stored, Profile::Google));
        prop_assert_eq!(format!("{a:?}"), format!("{b:?}"));
    }

    #[test]
    fn origins_are_those_of_the_url_crate(url in origin_url()) {
        let parsed = ::url::Url::parse(&url).ok().filter(::url::Url::has_host);
        let expected = parsed.map(|url| url.origin().ascii_serialization());
        let found = Origin::of(url.as_bytes()).map(|origin| origin.to_string());
        // A label that only looks like Punycode is no name to IDNA, but DNS may know it, so it is taken as it stands.
        if expected.is_some() || !url.contains("xn--") {
            prop_assert_eq!(found, expected, "{}", url);
        }
    }

    /// However lines lie in a list, each has the verdict it has alone, and none is lost or given twice.
    #[test]
    fn lines_have_the_verdicts_they_have_alone(
        lines in vec((select(STARTS), select(TAILS), select(vec!["\n", "\r\n"]), 1..4usize), 0..150),
        ends in any::<bool>(),
    ) {
        let mut list: String = lines.iter().map(|(start, tail, end, count)| format!("{start}{tail}{end}").repeat(*count)).collect();
        if !ends {
            list.pop();
        }
        let mut compiler = Compiler::default();
        for origin in [ORIGIN, "https://h.example", LONG] {
            compiler.add_robots(origin, b"user-agent: *\ndisallow: /x").unwrap();
        }
        let snapshot = Snapshot::new(compiler.finish().unwrap().to_vec().unwrap()).unwrap();
        let judge = Judge::new(snapshot.clone(), &["a".parse().unwrap()], JudgeOptions::default()).unwrap();
        let alone: Vec<String> = list.split_inclusive('\n').map(|line| {
            let url = line.strip_suffix('\n').unwrap_or(line);
            let url = url.strip_suffix('\r').unwrap_or(url);
            format!("{}\t{line}", judge.judge(url.as_bytes()).unwrap().get(0).letter())
        }).collect();
        let mut out = Vec::new();
        Filter::new(&judge).annotate(vec![Input::from_reader("list", Cursor::new(list))], &mut out).unwrap();
        prop_assert_eq!(String::from_utf8(out).unwrap(), alone.concat());
    }

    #[test]
    fn nothing_that_a_line_holds_is_fatal(line in vec(any::<u8>(), 0..60), lead in select(vec!["", "http://", "http://h.example"])) {
        let line = [lead.as_bytes(), &line].concat();
        // A list that begins with one of these is compressed or UTF-16.
        let magic = [&b"\x1f\x8b"[..], b"\x28\xb5\x2f\xfd", b"\x1f\x9d", b"\xff\xfe", b"\xfe\xff", b"\xff\xd8\xff"];
        prop_assume!(!magic.iter().any(|magic| line.starts_with(magic)));
        let snapshot = snapshot_of(b"user-agent: *\ndisallow: /*a", Profile::Rfc9309);
        let judge = Judge::new(snapshot.clone(), &["a".parse().unwrap()], JudgeOptions::default()).unwrap();
        let mut out = Vec::new();
        Filter::new(&judge).annotate(vec![Input::from_reader("list", Cursor::new(line.clone()))], &mut out).unwrap();
        let unmarked: Vec<u8> = out.split_inclusive(|&b| b == b'\n').flat_map(|line| line[2..].to_vec()).collect();
        prop_assert_eq!(unmarked, line);
    }
}

/// RFC 9309 §2.2.3: `*` stands for any run of characters, also where the pattern has nothing else.
/// Each thread moves the rules of a site to another layout after some thousands of URLs, which must
/// decide as before.
#[test]
fn stars_alone_decide_however_many_urls_a_site_has() {
    let literal = |kind: &str| (0..128).map(|number| format!("{kind}: /other/{number}/\n")).collect::<String>();
    for stars in ["*", "**", "*$", "****************", "****************$"] {
        for (rules, expected) in [
            (format!("disallow: {stars}\n{}", literal("allow")), Verdict::Disallowed),
            (format!("disallow: /\nallow: {stars}\n{}", literal("disallow")), Verdict::Allowed),
        ] {
            let snapshot = snapshot_of(format!("user-agent: *\n{rules}").as_bytes(), Profile::Google);
            let judge = Judge::new(snapshot.clone(), &["a".parse().unwrap()], JudgeOptions::default()).unwrap();
            for number in 0..5_000 {
                let verdict = judge.judge(format!("{ORIGIN}/x/{number}").as_bytes()).unwrap().get(0);
                assert_eq!(verdict, expected, "URL {number} by {stars}");
            }
        }
    }
}

/// URLs of many spellings of few origins. Left out is what the two are meant to differ in: tabs, line ends and back-slashes,
/// which WHATWG's parser removes or turns around, `;`, which begins the path for robots.txt only, and an authority that is
/// missing (`http:///a`), for which it takes what follows.
fn origin_url() -> impl Strategy<Value = String> {
    let scheme = select(vec!["http", "https", "HTTP", "hTTps", "ftp"]);
    let user = select(vec!["", "", "", "u@", "u:p@", "@", "u@v@", "a%40b@", "h.example:80@"]);
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
    let port =
        select(vec!["", "", "", ":80", ":443", ":21", ":8080", ":0", ":", ":65535", ":65536", ":080", ":x", ":-1"]);
    let rest = select(vec!["", "/", "/a/b", "?q", "#f", "/@x", "?@x", "/a:80@b", "#@"]);
    (scheme, user, host, port, rest)
        .prop_map(|(scheme, user, host, port, rest)| format!("{scheme}://{user}{host}{port}{rest}"))
        .prop_filter("an authority", |url| !url.contains(":///"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_written_is_read(sites in vec(("[a-z]{1,6}", robots()), 1..20)) {
        let mut compiler = Compiler::default();
        for (name, body) in &sites {
            compiler.add_robots(&format!("https://{name}.example"), body.as_bytes()).unwrap();
        }
        let mut compiled = compiler.finish().unwrap();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("written.rsieve");
        compiled.write_to(&path).unwrap();
        prop_assert_eq!(std::fs::read(&path).unwrap(), compiled.to_vec().unwrap(), "in memory and on disk");
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
                format!("{:?}", Robots::parse(body.as_bytes(), Profile::Google)) == format!("{:?}", Robots::parse(&stored, Profile::Google))
            };
            prop_assert!(sites.iter().any(|(other, body)| other == name && same(body)), "{name}");
        }
    }
}
