//! The reference judge: the specification in code, slow and obvious, and the oracle of the tests.
//!
//! It parses the whole robots.txt for every URL and keeps no state. It shares no code with the fast
//! path, so that a mistake in one is not in the other. It follows Google's open-source parser step
//! by step (google/robotstxt, `robots.cc`), and RFC 9309 where the profile says so. It also
//! implements the two extensions of this project: agent chains and extended tokens.

use crate::agent::{Agent, AgentMatch};
use crate::profile::Profile;

/// The answer of the reference judge.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Answer {
    /// Whether the agent may fetch the URL.
    pub allowed: bool,
    /// The number of the line that decided; 0 if none matched. It can be an empty rule that
    /// matches, although such a rule decides nothing.
    pub line: u32,
}

/// Judges `url`, a URL or a bare path (an empty one means `/`), by the body of a robots.txt. White
/// space around it is not part of it.
///
/// Cost: in the worst case the length of the body times the length of the path. Never panics.
///
/// ```
/// use robosieve::robots::reference;
/// use robosieve::{AgentMatch, Profile};
/// let robots = b"user-agent: *\ndisallow: /x";
/// let url = b"http://e.example/x/y";
/// let agent = "FooBot".parse()?;
/// let answer = reference::judge(robots, &agent, AgentMatch::Extended, Profile::Google, url);
/// assert_eq!((answer.allowed, answer.line), (false, 2));
/// # Ok::<(), robosieve::Error>(())
/// ```
pub fn judge(
    robots: &[u8],
    agent: &Agent,
    how: AgentMatch,
    profile: Profile,
    url: &[u8],
) -> Answer {
    let path = normal_path(&path_params_query(strip(url), profile), profile);
    if profile == Profile::Rfc9309 && path == b"/robots.txt" {
        return Answer {
            allowed: true,
            line: 0,
        };
    }
    let lines = key_values(robots, profile);
    // The agent obeys the groups of the first name of its chain that any line names.
    let name = agent.keys(how).find(|name| {
        lines
            .iter()
            .any(|l| l.key == Key::Agent && names(&l.value, name))
    });
    if name.is_none() && agent.ignores_star() {
        return Answer {
            allowed: true,
            line: 0,
        };
    }
    judge_lines(&lines, name, profile, &path)
}

/// The best match so far: its priority, -1 for none, and its line.
#[derive(Clone, Copy)]
struct BestMatch(isize, u32);

impl BestMatch {
    fn offer(&mut self, priority: isize, line: u32) {
        if self.0 < priority {
            *self = Self(priority, line);
        }
    }
}

fn judge_lines(lines: &[KeyValue], name: Option<&[u8]>, profile: Profile, path: &[u8]) -> Answer {
    let mut allow = BestMatch(-1, 0);
    let mut disallow = BestMatch(-1, 0);
    // Whether the current group names the agent, and whether a rule ended its user-agent lines.
    let mut addressed = false;
    let mut separator = false;
    for line in lines {
        match line.key {
            Key::Agent => {
                if separator {
                    addressed = false;
                    separator = false;
                }
                addressed |= name.map_or(is_global(&line.value), |name| names(&line.value, name));
            }
            Key::Allow | Key::Disallow => {
                separator = true;
                if addressed && line.key == Key::Allow {
                    offer_allow(&mut allow, line, profile, path);
                } else if addressed {
                    let priority = priority(&line.value, PathOf::Disallow, profile, path);
                    disallow.offer(priority, line.number);
                }
            }
            Key::ContentUsage | Key::ContentSignal => {}
        }
    }
    let line = if disallow.0 > allow.0 {
        disallow.1
    } else {
        allow.1
    };
    let refused = (allow.0 > 0 || disallow.0 > 0) && disallow.0 > allow.0;
    Answer {
        allowed: !refused,
        line,
    }
}

fn offer_allow(allow: &mut BestMatch, line: &KeyValue, profile: Profile, path: &[u8]) {
    let own = priority(&line.value, PathOf::Allow, profile, path);
    if own >= 0 || profile == Profile::Rfc9309 {
        return allow.offer(own, line.number);
    }
    let value = &line.value;
    if let Some(slash) = value.iter().rposition(|&b| b == b'/')
        && value[slash..].starts_with(b"/index.htm")
    {
        let folder = [&value[..=slash], b"$"].concat();
        allow.offer(priority(&folder, PathOf::Allow, profile, path), line.number);
    }
}

/// The line that has a path.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum PathOf {
    Allow,
    Disallow,
    ContentUsage,
}

/// The greatest length of a rule.
const LENGTH_LIMIT: usize = 65_535;

/// The length of the rule's path if it matches, else -1.
pub(crate) fn priority(value: &[u8], of: PathOf, profile: Profile, path: &[u8]) -> isize {
    let units = units(value);
    let mut patterns = vec![normal_rule(&units, profile)];
    let mut length = patterns[0].len();
    if profile == Profile::Rfc9309 {
        patterns.extend(in_query(&units, length, of));
    }
    if profile == Profile::Rfc9309 && length >= LENGTH_LIMIT {
        match of {
            // As if it had no path. One of the limit would win against a disallow that is cut.
            PathOf::Allow => return 0,
            PathOf::Disallow => {
                length = LENGTH_LIMIT;
                patterns.iter_mut().for_each(|p| p.truncate(length));
            }
            PathOf::ContentUsage => {}
        }
    }
    if patterns.iter().any(|pattern| matches(pattern, path)) {
        length as isize
    } else {
        -1
    }
}

/// The patterns under RFC 9309 for URLs whose query begins in a star of the rule: an escape of `/`
/// or `?` after that star is the character itself. Stars make them as long as the rule.
fn in_query(units: &[Unit], length: usize, of: PathOf) -> Vec<Vec<Token>> {
    let query = units
        .iter()
        .position(|unit| matches!(unit, Unit::Raw(b'?')));
    let before_query = &units[..query.unwrap_or(units.len())];
    let mut patterns: Vec<Vec<Token>> = Vec::new();
    for (at, unit) in before_query.iter().enumerate() {
        let ends_stars = !matches!(units.get(at + 1), Some(Unit::Raw(b'*')));
        let escape = |unit: &Unit| matches!(unit, Unit::Escape(b'/' | b'?'));
        if !matches!(unit, Unit::Raw(b'*')) || !ends_stars || !before_query[at..].iter().any(escape)
        {
            continue;
        }
        let mut pattern = normal_rule(&units[..=at], Profile::Rfc9309);
        pattern.push(Token::Byte(b'?'));
        match patterns.len() {
            // Two stars have an exact pattern. Then only a wider disallow is safe.
            0 | 1 => {
                let rest = units[at + 1..].iter().map(|unit| match unit {
                    Unit::Escape(b @ (b'/' | b'?')) => Unit::Raw(*b),
                    Unit::Raw(b) => Unit::Raw(*b),
                    Unit::Escape(b) => Unit::Escape(*b),
                });
                let rest = normal_rule(&rest.collect::<Vec<_>>(), Profile::Rfc9309);
                pattern.resize(length - rest.len(), Token::AnyRun);
                pattern.extend(rest);
            }
            2 if of == PathOf::Disallow => {}
            _ => break,
        }
        patterns.push(pattern);
    }
    patterns
}

/// Whether a pattern in normal form matches a path in normal form. Every `*` of `text` is the
/// wildcard and every `$` a literal. If `anchored`, the match must end at the end of the path.
pub(crate) fn matches_normal(text: &[u8], anchored: bool, path: &[u8]) -> bool {
    let tokens = text.iter().map(|&b| {
        if b == b'*' {
            Token::AnyRun
        } else {
            Token::Byte(b)
        }
    });
    matches(
        &tokens
            .chain(anchored.then_some(Token::End))
            .collect::<Vec<_>>(),
        path,
    )
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Token {
    Byte(u8),
    AnyRun,
    End,
}

/// Whether the pattern matches, by the set of all path positions that each token can end at.
fn matches(pattern: &[Token], path: &[u8]) -> bool {
    // Equal bytes at the start of both lead to one position; some are longer than 65,535.
    let equal = pattern.iter().zip(path);
    let equal = equal.take_while(|(token, b)| **token == Token::Byte(**b));
    let equal = equal.count();
    let (pattern, path) = (&pattern[equal..], &path[equal..]);
    let mut reached = vec![false; path.len() + 1];
    reached[0] = true;
    for token in pattern {
        let mut next = vec![false; path.len() + 1];
        for at in (0..=path.len()).filter(|&at| reached[at]) {
            match *token {
                Token::Byte(b) if path.get(at) == Some(&b) => next[at + 1] = true,
                Token::Byte(_) => {}
                Token::AnyRun => {
                    next[at..].fill(true);
                    break;
                }
                Token::End => next[at] |= at == path.len(),
            }
        }
        reached = next;
        if !reached.contains(&true) {
            return false;
        }
    }
    true
}

/// The rule's path as tokens. Google's parser only makes escapes uniform. RFC 9309 compares most
/// characters and their escapes as equal and treats `%2A` and `%24` as literals, so `*` and `$`
/// become tokens before decoding.
fn normal_rule(units: &[Unit], profile: Profile) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut in_query = false;
    for (i, unit) in units.iter().enumerate() {
        in_query |= matches!(unit, Unit::Raw(b'?'));
        match unit {
            Unit::Raw(b'*') => tokens.push(Token::AnyRun),
            Unit::Raw(b'$') if i + 1 == units.len() => tokens.push(Token::End),
            unit => tokens.extend(unit.normal(profile, in_query).into_iter().map(Token::Byte)),
        }
    }
    tokens
}

pub(crate) fn normal_path(path: &[u8], profile: Profile) -> Vec<u8> {
    let star_is_escaped = profile == Profile::Rfc9309;
    let mut normal = Vec::new();
    let mut in_query = false;
    for unit in units(path) {
        in_query |= matches!(unit, Unit::Raw(b'?'));
        normal.extend(match unit {
            Unit::Raw(b'*') if star_is_escaped => b"%2A".to_vec(),
            unit => unit.normal(profile, in_query),
        });
    }
    normal
}

/// A raw byte, or an escape `%XX`.
enum Unit {
    Raw(u8),
    Escape(u8),
}

impl Unit {
    fn normal(&self, profile: Profile, in_query: bool) -> Vec<u8> {
        match *self {
            Self::Raw(b) if b < 0x80 => vec![b],
            Self::Escape(b) if profile == Profile::Rfc9309 && is_same_as_escape(b, in_query) => {
                vec![b]
            }
            Self::Raw(b) | Self::Escape(b) => format!("%{b:02X}").into_bytes(),
        }
    }
}

/// Whether a character and its escape are equal under RFC 9309 §2.2.2: all that RFC 3986 calls
/// unreserved, and the reserved ones that delimit nothing there.
fn is_same_as_escape(b: u8, in_query: bool) -> bool {
    match b {
        b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => true,
        b'/' | b'?' => in_query,
        b'#' | b'&' | b'=' | b'*' => false,
        b':' | b'[' | b']' | b'@' => true,
        b'!' | b'$' | b'\'' | b'(' | b')' | b'+' | b',' | b';' => true,
        _ => false,
    }
}

fn units(text: &[u8]) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let hex = text[at..]
            .strip_prefix(b"%")
            .and_then(|rest| std::str::from_utf8(rest.get(..2)?).ok());
        let hex = hex.filter(|two| two.bytes().all(|b| b.is_ascii_hexdigit()));
        let escape = hex.and_then(|two| u8::from_str_radix(two, 16).ok());
        units.push(escape.map_or(Unit::Raw(text[at]), Unit::Escape));
        at += if escape.is_some() { 3 } else { 1 };
    }
    units
}

/// Google's `GetPathParamsQuery`. RFC 3986 §3.2.1 allows `;` in user information, where Google's
/// parser begins the path.
pub(crate) fn path_params_query(url: &[u8], profile: Profile) -> Vec<u8> {
    let url = match profile {
        Profile::Google => url.to_vec(),
        Profile::Rfc9309 => without_user_information(url),
    };
    let find_any = |set: &[u8], from: usize| (from..url.len()).find(|&i| set.contains(&url[i]));
    let search_start = if url.starts_with(b"//") { 2 } else { 0 };
    let early_path = find_any(b"/?;", search_start).unwrap_or(usize::MAX);
    let protocol_end = (search_start..url.len())
        .find(|&i| url[i..].starts_with(b"://"))
        .filter(|&protocol| protocol <= early_path)
        .map_or(search_start, |protocol| protocol + 3);
    let Some(path_start) = find_any(b"/?;", protocol_end) else {
        return b"/".to_vec();
    };
    let hash = find_any(b"#", search_start).unwrap_or(url.len());
    if hash < path_start {
        return b"/".to_vec();
    }
    let slash: &[u8] = if url[path_start] == b'/' { b"" } else { b"/" };
    [slash, &url[path_start..hash]].concat()
}

/// `scheme://user@host/…` as `scheme://host/…`, and `//user@host/…` as `//host/…`.
fn without_user_information(url: &[u8]) -> Vec<u8> {
    let authority = match url.windows(3).position(|three| three == b"://") {
        _ if url.starts_with(b"//") => 2,
        Some(colon) if !url[..colon].iter().any(|b| b"/?;#".contains(b)) => colon + 3,
        _ => return url.to_vec(),
    };
    let end = (authority..url.len())
        .find(|&i| b"/?#".contains(&url[i]))
        .unwrap_or(url.len());
    let host = (authority..end)
        .rev()
        .find(|&i| url[i] == b'@')
        .map_or(authority, |at| at + 1);
    [&url[..authority], &url[host..]].concat()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Key {
    Agent,
    Allow,
    Disallow,
    /// This field and the next are for `preferences/reference.rs`; verdicts ignore them.
    ContentUsage,
    ContentSignal,
}

#[derive(Debug)]
pub(crate) struct KeyValue {
    pub(crate) key: Key,
    pub(crate) value: Vec<u8>,
    number: u32,
}

impl KeyValue {
    /// A line that is in no robots.txt.
    pub(crate) fn new(key: Key, value: Vec<u8>) -> Self {
        Self {
            key,
            value,
            number: 0,
        }
    }
}

fn is_white(b: u8) -> bool {
    b == b' ' || (9..=13).contains(&b)
}

pub(crate) fn strip(text: &[u8]) -> &[u8] {
    let start = text.iter().take_while(|&&b| is_white(b)).count();
    let end = text[start..]
        .iter()
        .rev()
        .skip_while(|&&b| is_white(b))
        .count();
    &text[start..start + end]
}

/// The lines with known fields. In a body over 500 KiB the last line is cut, so it is ignored,
/// unless the limit cut only a comment or bytes after the line limit, which is Google's alone.
pub(crate) fn key_values(body: &[u8], profile: Profile) -> Vec<KeyValue> {
    const LIMIT: usize = 512_000;
    const LINE_LIMIT: usize = 16_663;
    let over = body.len() > LIMIT && body[LIMIT] != b'\n' && body[LIMIT] != b'\r';
    let lines = numbered_lines(&body[..body.len().min(LIMIT)]);
    let last = lines.len() - 1;
    let mut out = Vec::new();
    for (i, (number, line)) in lines.into_iter().enumerate() {
        let kept = match profile {
            Profile::Google => &line[..line.len().min(LINE_LIMIT)],
            Profile::Rfc9309 => line,
        };
        let text = kept.split(|&b| b == 0 || b == b'#').next().unwrap_or(kept);
        let cut = over && i == last && text.len() == line.len();
        // A long line that a NUL cuts may be one that the size limit cut, in a stored text.
        let cut = cut || (text.len() > LINE_LIMIT && line.get(text.len()) == Some(&0));
        if !cut && let Some((key, value)) = key_value(strip(text), profile) {
            out.push(KeyValue {
                key,
                value: value.to_vec(),
                number,
            });
        }
    }
    out
}

fn numbered_lines(body: &[u8]) -> Vec<(u32, &[u8])> {
    let bom = [0xef, 0xbb, 0xbf];
    let skip = (0..3).take_while(|&i| body.get(i) == Some(&bom[i])).count();
    let body = &body[skip..];
    let mut lines = Vec::new();
    let mut start = 0;
    let mut number = 0;
    let mut last_was_cr = false;
    for (i, &b) in body.iter().enumerate() {
        if b != b'\n' && b != b'\r' {
            continue;
        }
        let is_crlf = i == start && last_was_cr && b == b'\n';
        if !is_crlf {
            number += 1;
            lines.push((number, &body[start..i]));
        }
        start = i + 1;
        last_was_cr = b == b'\r' && !is_crlf;
    }
    lines.push((number + 1, &body[start..]));
    lines
}

fn key_value(text: &[u8], profile: Profile) -> Option<(Key, &[u8])> {
    let has_colon = text.contains(&b':');
    let (key, value) = match text.iter().position(|&b| b == b':') {
        Some(colon) => (&text[..colon], &text[colon + 1..]),
        None => {
            let blank = |b: &u8| *b == b' ' || *b == b'\t';
            let runs: Vec<&[u8]> = text.split(blank).filter(|run| !run.is_empty()).collect();
            let [key, value] = runs[..] else { return None };
            (key, value)
        }
    };
    let key = strip(key).to_ascii_lowercase();
    if profile == Profile::Rfc9309 {
        let key = match key.as_slice() {
            b"user-agent" if has_colon => Key::Agent,
            b"allow" if has_colon => Key::Allow,
            b"disallow" if has_colon => Key::Disallow,
            b"content-usage" => Key::ContentUsage,
            b"content-signal" => Key::ContentSignal,
            _ => return None,
        };
        return Some((key, strip(value)));
    }
    // As in Google's parser, a key needs only to begin with a field, in any of these spellings.
    let begins = |names: &[&str]| names.iter().any(|name| key.starts_with(name.as_bytes()));
    let key = if begins(&["user-agent", "useragent", "user agent"]) {
        Key::Agent
    } else if begins(&["allow"]) {
        Key::Allow
    } else if begins(&[
        "disallow",
        "dissallow",
        "dissalow",
        "disalow",
        "diasllow",
        "disallaw",
    ]) {
        Key::Disallow
    } else if key == b"content-usage" {
        Key::ContentUsage
    } else if key == b"content-signal" {
        Key::ContentSignal
    } else {
        return None;
    };
    Some((key, strip(value)))
}

pub(crate) fn is_global(value: &[u8]) -> bool {
    value.first() == Some(&b'*') && (value.len() == 1 || is_white(value[1]))
}

/// Whether the value of a user-agent line names the agent `name` (in lower case).
pub(crate) fn names(value: &[u8], name: &[u8]) -> bool {
    let in_alphabet = |b: &u8| b.is_ascii_alphabetic() || *b == b'_' || *b == b'-';
    if is_global(value) {
        return false;
    }
    if name.iter().all(in_alphabet) {
        let token: Vec<u8> = value.iter().copied().take_while(in_alphabet).collect();
        return token.eq_ignore_ascii_case(name);
    }
    let end = value
        .iter()
        .position(|b| b"/*#".contains(b))
        .unwrap_or(value.len());
    let words: Vec<&[u8]> = value[..end]
        .split(|&b| is_white(b))
        .filter(|word| !word.is_empty())
        .collect();
    words.join(&b' ').eq_ignore_ascii_case(name)
}
