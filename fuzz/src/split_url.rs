//! Origins and paths of any text against the crate `url`, the parser of the WHATWG's standard.

use crate::generate::SEGMENTS;
use crate::input::expand;
use robosieve::judge::explain;
use robosieve::{Agent, AgentMatch, Origin, Profile, RobotsRef};
use url::Url;

/// Schemes, hosts in every spelling, ports, and the segments of paths of the random tests.
const TOKENS: &[&str] = &[
    "http://",
    "https://",
    "HTTP://",
    "ftp://",
    "://",
    "h.example",
    "H.Example.",
    "u:p@",
    "@",
    "xn--mller-kva",
    "xn--",
    "m\u{fc}ller",
    "\u{fb01}sh",
    "fa\u{df}",
    "\u{65e5}\u{672c}",
    "127.0.0.1",
    "0x7f.1",
    "[::1]",
    "[2001:DB8::1]",
    "[::ffff:1.2.3.4]",
    "%2e",
    "%00",
    "1e3",
    "256.1.1.1",
    "09.0.0.1",
    ":80",
    ":443",
    ":21",
    ":8080",
    ":65535",
    ":65536",
    ":080",
    ":",
    " ",
    "\t",
    "\u{ad}",
    "\u{3002}",
    "\u{200d}",
    "#f",
    "?q",
];

/// All tokens.
pub(crate) fn tokens() -> Vec<&'static str> {
    TOKENS.iter().chain(SEGMENTS).copied().collect()
}

/// A known difference to the standard, for texts that have it. They are compared no further.
struct Difference {
    /// What differs.
    #[expect(dead_code, reason = "documentation as data")]
    what: &'static str,
    has: fn(&str) -> bool,
}

const DIFFERENCES: [Difference; 6] = [
    Difference {
        what: "the standard removes tabs, line ends, and control characters at the ends",
        has: |url| {
            let outer = url.trim_matches(|c| c <= ' ');
            url.contains(['\t', '\n', '\r']) || outer != url.trim_matches([' ', '\x0b', '\x0c'])
        },
    },
    Difference {
        what: "the standard turns backslashes into slashes",
        has: |url| url.contains('\\'),
    },
    Difference {
        what: "the standard accepts `http:h`, `http:/h` and `http:///h`",
        has: |url| {
            let rest = url.split_once(':').map_or("", |(_, rest)| rest);
            !rest.starts_with("//") || rest.starts_with("///")
        },
    },
    Difference {
        what: "Google's parser begins the path at `;`, also in user information; escaped in hosts",
        has: |url| {
            let rest = url.split_once("://").map_or("", |(_, rest)| rest);
            let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
            let parsed = Url::parse(url).ok();
            let host = parsed.as_ref().and_then(Url::host_str).unwrap_or_default();
            authority.contains(';') || host.contains(';')
        },
    },
    Difference {
        what: "`%%41` has the normal form `%A`, which may complete another escape",
        has: |url| {
            let hex = |byte: &u8| byte.is_ascii_hexdigit();
            let bytes = url.as_bytes();
            let lone = |(at, byte): (usize, &u8)| {
                let next = bytes.get(at + 1);
                let second = bytes.get(at + 2);
                *byte == b'%'
                    && (next == Some(&b'%') || next.is_some_and(hex) && second == Some(&b'%'))
            };
            bytes.iter().enumerate().any(lone)
        },
    },
    Difference {
        what: "a label that only looks like Punycode is used as it is",
        has: |url| url.to_ascii_lowercase().contains("xn--"),
    },
];

/// The schemes with hosts and default ports, which the standard calls special.
const SCHEMES: [&str; 3] = ["http", "https", "ftp"];

pub(crate) fn run(input: &[u8]) {
    let text = expand(input, &tokens());
    // The fast functions see any bytes.
    let origin = Origin::of(&text);
    let mut column = b"x".to_vec();
    assert_eq!(Origin::append(&text, &mut column), origin.is_some());
    assert_eq!(
        &column[1..],
        origin.as_ref().map_or("", Origin::as_str).as_bytes()
    );
    if let Some(origin) = &origin {
        let again = Origin::of(origin.as_str().as_bytes());
        assert_eq!(again.as_ref(), Some(origin), "a canonical form stays");
        let robots = Origin::of(origin.robots_url().as_bytes());
        assert_eq!(
            robots.as_ref(),
            Some(origin),
            "the origin of its robots.txt"
        );
    }
    let Ok(url) = std::str::from_utf8(&text) else {
        return;
    };
    let parsed = Url::parse(url).ok().filter(Url::has_host);
    if DIFFERENCES.iter().any(|difference| (difference.has)(url)) {
        return;
    }
    let scheme = url
        .trim_start()
        .split(':')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    if !SCHEMES.contains(&scheme.as_str()) {
        return;
    }
    let expected = parsed
        .as_ref()
        .map(|url| url.origin().ascii_serialization());
    assert_eq!(origin.map(|origin| origin.to_string()), expected, "{url:?}");
    if let Some(parsed) = parsed {
        compare_paths(url, &parsed);
    }
}

/// The path and query of `url`, in normal form, equal those of the crate without its escapes.
fn compare_paths(url: &str, parsed: &Url) {
    let agent: Agent = "FooBot".parse().unwrap();
    let empty = RobotsRef::parse(b"", Profile::Rfc9309);
    let path = explain(&empty, &agent, AgentMatch::Extended, url.as_bytes()).path;
    // The standard resolves dot segments, and robots.txt files are compared with the path as it is.
    let has_dots = path.split(['/', '?']).any(|segment| {
        let segment = segment.to_ascii_lowercase().replace("%2e", ".");
        segment == "." || segment == ".."
    });
    if has_dots {
        return;
    }
    let query = parsed
        .query()
        .map(|query| format!("?{query}"))
        .unwrap_or_default();
    assert_eq!(
        unescaped(path.as_bytes()),
        unescaped(format!("{}{query}", parsed.path()).as_bytes()),
        "{url:?}"
    );
}

/// The bytes without percent-escapes.
fn unescaped(text: &[u8]) -> String {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some((&byte, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|two| std::str::from_utf8(two).ok());
        let hex = hex.filter(|two| byte == b'%' && two.bytes().all(|b| b.is_ascii_hexdigit()));
        match hex.and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(value) => {
                out.push(value);
                rest = &after[2..];
            }
            None => {
                out.push(byte);
                rest = after;
            }
        }
    }
    out.escape_ascii().to_string()
}
