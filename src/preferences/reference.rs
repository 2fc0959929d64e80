//! The reference for preferences: the specification in code, slow and obvious, and the oracle of
//! the tests.
//!
//! It parses the whole robots.txt for every URL, with the line parser of the reference judge
//! ([`reference`](crate::robots::reference)). It keeps no state and shares no code with the fast
//! path. Dictionaries are parsed step by step as in RFC 9651 §4.2.

use crate::agent::{Agent, AgentMatch};
use crate::preferences::{Preference, Preferences, SignalUse, Signals};
use crate::profile::Profile;
use crate::robots::reference::{
    Key, KeyValue, PathOf, is_global, key_values, names, normal_path, path_params_query, priority,
    strip,
};
use base64::Engine;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bstr::ByteSlice;

/// The preferences in the body of a robots.txt about the use of the content of `url`, a URL or a
/// bare path, by `agent`.
///
/// Cost: in the worst case the length of the body times the length of the path. Never panics.
///
/// ```
/// use robosieve::preferences::{reference as preferences_reference, Preference};
/// use robosieve::{AgentMatch, Profile};
/// let found = preferences_reference::preferences(
///     b"user-agent: *\ncontent-usage: train-ai=n",
///     &"FooBot".parse()?,
///     AgentMatch::Extended,
///     Profile::Google,
///     b"/x",
/// );
/// assert_eq!(found.train_ai, Preference::No);
/// # Ok::<(), robosieve::Error>(())
/// ```
pub fn preferences(
    robots: &[u8],
    agent: &Agent,
    how: AgentMatch,
    profile: Profile,
    url: &[u8],
) -> Preferences {
    let path = normal_path(&path_params_query(strip(url), profile), profile);
    let lines = key_values(robots, profile);
    let name = agent.keys(how).find(|name| {
        lines
            .iter()
            .any(|l| l.key == Key::Agent && names(&l.value, name))
    });
    let groups = groups(&lines);
    let is_addressed = |group: &[&KeyValue]| {
        group.iter().any(|line| {
            line.key == Key::Agent
                && match name {
                    Some(name) => names(&line.value, name),
                    None => is_global(&line.value) && !agent.ignores_star(),
                }
        })
    };
    // Lines before the first group belong to no agent. All groups that name the agent form one.
    let own: Vec<&KeyValue> = groups[1..]
        .iter()
        .filter(|group| is_addressed(group))
        .flatten()
        .copied()
        .collect();
    let (train_ai, search) = usage(&own, profile, &path);
    Preferences {
        train_ai,
        search,
        signals: signals(&own, &groups[0]),
    }
}

/// The preferences of a robots.txt, `robots`, combined with those in the header fields of a
/// response: the most restrictive statement of each use.
pub fn with_response(
    robots: Preferences,
    headers: &[(Vec<u8>, Vec<u8>)],
    agent: &Agent,
    how: AgentMatch,
) -> Preferences {
    let values = |field: &str| -> Vec<Vec<u8>> {
        let lines = headers
            .iter()
            .filter(|(name, _)| name.eq_ignore_ascii_case(field.as_bytes()));
        // RFC 9110 §5.5: NUL, CR and LF become blanks.
        lines
            .map(|(_, value)| {
                strip(
                    &value
                        .replace(b"\0", " ")
                        .replace(b"\r", " ")
                        .replace(b"\n", " "),
                )
                .to_vec()
            })
            .collect()
    };
    let rules = rules_for(&values("x-robots-tag"), agent, how);
    let has = |rule: &str| rules.iter().any(|found| found == rule);
    let is_image = values("content-type")
        .iter()
        .any(|value| value.to_ascii_lowercase().starts_with(b"image/"));
    let usage = [dictionary(strip(&values("content-usage").join(&b", "[..]))).unwrap_or_default()];
    let signal_lines: Vec<KeyValue> = values("content-signal")
        .into_iter()
        .map(|value| KeyValue::new(Key::ContentSignal, value))
        .collect();
    let of_response = signals(&signal_lines.iter().collect::<Vec<_>>(), &[]);
    Preferences {
        train_ai: stricter(
            robots.train_ai,
            preference(&usage, "train-ai"),
            has("noai") || has("noimageai") && is_image,
        ),
        search: stricter(
            robots.search,
            preference(&usage, "search"),
            has("noindex") || has("none"),
        ),
        signals: Signals {
            search: least(robots.signals.search, of_response.search),
            ai_input: least(robots.signals.ai_input, of_response.ai_input),
            ai_train: least(robots.signals.ai_train, of_response.ai_train),
            usage: least(robots.signals.usage, of_response.usage),
        },
    }
}

/// The most restrictive of three statements, the last being an objection or nothing. None applies
/// to a URL that may not be fetched.
fn stricter(robots: Preference, header: Preference, objects: bool) -> Preference {
    if robots == Preference::NotApplicable {
        Preference::NotApplicable
    } else if robots == Preference::No || header == Preference::No || objects {
        Preference::No
    } else if robots == Preference::Yes || header == Preference::Yes {
        Preference::Yes
    } else {
        Preference::Unknown
    }
}

/// The lesser of two values, of which none may exist.
fn least<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    }
}

/// The rules of `X-Robots-Tag` lines for an agent, in lower case.
fn rules_for(lines: &[Vec<u8>], agent: &Agent, how: AgentMatch) -> Vec<String> {
    let mut rules = Vec::new();
    for line in lines {
        let mut applies = true;
        for member in line.split_str(",").map(strip) {
            let mut rule = member;
            if let Some((name, rest)) = member.split_once_str(":") {
                let name = strip(name);
                let lower = name.to_str_lossy().to_ascii_lowercase();
                let has_value = matches!(
                    &*lower,
                    "unavailable_after" | "max-snippet" | "max-image-preview" | "max-video-preview"
                );
                let is_date =
                    lower.starts_with(|c: char| c.is_ascii_digit()) && word_count(name) > 1;
                if !name.is_empty() && !has_value && !is_date {
                    applies = is_global(name) || agent.keys(how).any(|key| names(name, key));
                    rule = strip(rest);
                }
            }
            if applies {
                rules.push(rule.to_str_lossy().to_ascii_lowercase());
            }
        }
    }
    rules
}

/// The number of words in a text.
fn word_count(text: &[u8]) -> usize {
    text.split(|b| strip(&[*b]).is_empty())
        .filter(|word| !word.is_empty())
        .count()
}

/// The lines before any group, and then the lines of each group.
fn groups(lines: &[KeyValue]) -> Vec<Vec<&KeyValue>> {
    let mut groups = vec![Vec::new()];
    let mut ended = true;
    for line in lines {
        if line.key == Key::Agent && ended {
            groups.push(Vec::new());
            ended = false;
        }
        // Only allow and disallow end a run of agent lines.
        ended |= matches!(line.key, Key::Allow | Key::Disallow);
        if let Some(group) = groups.last_mut() {
            group.push(line);
        }
    }
    groups
}

fn usage(lines: &[&KeyValue], profile: Profile, path: &[u8]) -> (Preference, Preference) {
    let parsed = lines
        .iter()
        .filter(|line| line.key == Key::ContentUsage)
        .map(|line| path_and_dictionary(&line.value));
    let matching: Vec<_> = parsed
        .map(|(own, text)| (priority(own, PathOf::ContentUsage, profile, path), text))
        .filter(|(n, _)| *n >= 0)
        .collect();
    // Only the lines with the longest path count.
    let longest = matching.iter().map(|(length, _)| *length).max();
    let counting = matching
        .iter()
        .filter(|(length, _)| Some(*length) == longest);
    let dictionaries: Vec<_> = counting
        .map(|(_, text)| dictionary(text).unwrap_or_default())
        .collect();
    (
        preference(&dictionaries, "train-ai"),
        preference(&dictionaries, "search"),
    )
}

/// The preference about one use; `n` wins over `y`. The last member with a key counts.
fn preference(dictionaries: &[Vec<(String, MemberValue)>], key: &str) -> Preference {
    let values: Vec<&MemberValue> = dictionaries
        .iter()
        .filter_map(|members| Some(&members.iter().rfind(|(k, _)| k == key)?.1))
        .collect();
    if values.contains(&&MemberValue::Token("n".to_owned())) {
        Preference::No
    } else if values.contains(&&MemberValue::Token("y".to_owned())) {
        Preference::Yes
    } else {
        Preference::Unknown
    }
}

/// `/path dictionary`, or a dictionary alone, which is for `/`.
fn path_and_dictionary(value: &[u8]) -> (&[u8], &[u8]) {
    if !value.starts_with(b"/") {
        return (b"/", value);
    }
    let (path, rest) = value.split_at(
        value
            .iter()
            .position(|b| b" \t".contains(b))
            .unwrap_or(value.len()),
    );
    (path, rest.trim_start_with(|c| c == ' ' || c == '\t'))
}

fn signals(own: &[&KeyValue], before: &[&KeyValue]) -> Signals {
    // The lines of the groups, or else those before them.
    let sources = [own, before];
    Signals {
        search: yes_or_no(sources, "search"),
        ai_input: yes_or_no(sources, "ai-input"),
        ai_train: yes_or_no(sources, "ai-train"),
        usage: match first_word(sources, "use", &["immediate", "reference", "full"]) {
            Some("immediate") => Some(SignalUse::Immediate),
            Some("reference") => Some(SignalUse::Reference),
            Some(_) => Some(SignalUse::Full),
            None => None,
        },
    }
}

/// Whether a signal permits its use; `no` wins over `yes`.
fn yes_or_no(sources: [&[&KeyValue]; 2], key: &str) -> Option<bool> {
    first_word(sources, key, &["no", "yes"]).map(|word| word == "yes")
}

/// The first of these words that is a value of a key, in the first source that has any of them.
fn first_word<'w>(sources: [&[&KeyValue]; 2], key: &str, words: &[&'w str]) -> Option<&'w str> {
    sources.into_iter().find_map(|lines| {
        let values = signal_values(lines, key);
        words
            .iter()
            .copied()
            .find(|word| values.iter().any(|value| value == word))
    })
}

/// The values of a key in all `content-signal` lines, in lower case.
fn signal_values(lines: &[&KeyValue], wanted: &str) -> Vec<String> {
    let mut values = Vec::new();
    for line in lines
        .iter()
        .filter(|line| line.key == Key::ContentSignal && !line.value.starts_with(b"/"))
    {
        for (key, value) in line
            .value
            .split_str(",")
            .filter_map(|member| member.split_once_str("="))
        {
            if strip(key).eq_ignore_ascii_case(wanted.as_bytes()) {
                values.push(String::from_utf8_lossy(strip(value)).to_ascii_lowercase());
            }
        }
    }
    values
}

/// The value of a member. Only tokens matter here.
#[derive(PartialEq, Eq)]
enum MemberValue {
    Token(String),
    Other,
}

/// The members of a dictionary in order, repeated keys included; `None` if it is malformed (RFC
/// 9651 §4.2.2).
fn dictionary(text: &[u8]) -> Option<Vec<(String, MemberValue)>> {
    let mut input = DictionaryText(text);
    input.skip(b" ");
    let mut members = Vec::new();
    while input.peek().is_some() {
        let key = input.key()?;
        let value = if input.take(b'=') {
            input.item_or_inner_list()?
        } else {
            input.parameters()?;
            MemberValue::Other
        };
        members.push((key, value));
        input.skip(b" \t");
        if input.peek().is_none() {
            break;
        }
        if !input.take(b',') {
            return None;
        }
        input.skip(b" \t");
        // A comma at the end is an error.
        input.peek()?;
    }
    Some(members)
}

/// The rest of a dictionary that is not parsed yet.
struct DictionaryText<'a>(&'a [u8]);

impl<'a> DictionaryText<'a> {
    fn peek(&self) -> Option<u8> {
        self.0.first().copied()
    }

    fn next(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    fn take(&mut self, wanted: u8) -> bool {
        self.peek() == Some(wanted) && self.next().is_some()
    }

    fn skip(&mut self, bytes: &[u8]) {
        self.run(|b| bytes.contains(&b));
    }

    fn run(&mut self, is_in: impl Fn(u8) -> bool) -> &'a [u8] {
        let (run, rest) = self.0.split_at(
            self.0
                .iter()
                .position(|&b| !is_in(b))
                .unwrap_or(self.0.len()),
        );
        self.0 = rest;
        run
    }

    /// §4.2.3.3.
    fn key(&mut self) -> Option<String> {
        self.peek()
            .filter(|b| b.is_ascii_lowercase() || *b == b'*')?;
        let key =
            self.run(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b"_-.*".contains(&b));
        Some(String::from_utf8_lossy(key).into_owned())
    }

    /// §4.2.1.1 and §4.2.1.2.
    fn item_or_inner_list(&mut self) -> Option<MemberValue> {
        if !self.take(b'(') {
            return self.item();
        }
        loop {
            self.skip(b" ");
            if self.take(b')') {
                self.parameters()?;
                return Some(MemberValue::Other);
            }
            self.item()?;
            self.peek().filter(|b| b" )".contains(b))?;
        }
    }

    /// §4.2.3.
    fn item(&mut self) -> Option<MemberValue> {
        let value = self.bare_item()?;
        self.parameters()?;
        Some(value)
    }

    /// §4.2.3.2.
    fn parameters(&mut self) -> Option<()> {
        while self.take(b';') {
            self.skip(b" ");
            self.key()?;
            if self.take(b'=') {
                self.bare_item()?;
            }
        }
        Some(())
    }

    /// §4.2.3.1.
    fn bare_item(&mut self) -> Option<MemberValue> {
        match self.peek()? {
            b'-' | b'0'..=b'9' => self.number().map(|_| MemberValue::Other),
            b'"' => self.string().map(|()| MemberValue::Other),
            b'*' | b'A'..=b'Z' | b'a'..=b'z' => Some(self.token()),
            b':' => self.bytes().map(|()| MemberValue::Other),
            b'?' => self.boolean().map(|()| MemberValue::Other),
            b'@' => self.date().map(|()| MemberValue::Other),
            b'%' => self.display_string().map(|()| MemberValue::Other),
            _ => None,
        }
    }

    /// §4.2.4. Returns whether it is an integer.
    fn number(&mut self) -> Option<bool> {
        self.take(b'-');
        let whole = self.run(|b| b.is_ascii_digit()).len();
        if !self.take(b'.') {
            return (1..=15).contains(&whole).then_some(true);
        }
        let fraction = self.run(|b| b.is_ascii_digit()).len();
        ((1..=12).contains(&whole) && (1..=3).contains(&fraction)).then_some(false)
    }

    /// §4.2.5.
    fn string(&mut self) -> Option<()> {
        self.next();
        loop {
            match self.next()? {
                b'"' => return Some(()),
                b'\\' => drop(self.next().filter(|b| b"\"\\".contains(b))?),
                0x20..=0x7e => {}
                _ => return None,
            }
        }
    }

    /// §4.2.6.
    fn token(&mut self) -> MemberValue {
        let token = self.run(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~:/".contains(&b));
        MemberValue::Token(String::from_utf8_lossy(token).into_owned())
    }

    /// §4.2.7: missing padding and bits after the last byte are not errors.
    fn bytes(&mut self) -> Option<()> {
        self.next();
        let text = self.run(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b));
        let config = GeneralPurposeConfig::new()
            .with_decode_padding_mode(DecodePaddingMode::Indifferent)
            .with_decode_allow_trailing_bits(true);
        GeneralPurpose::new(&base64::alphabet::STANDARD, config)
            .decode(text)
            .ok()?;
        self.take(b':').then_some(())
    }

    /// §4.2.8.
    fn boolean(&mut self) -> Option<()> {
        self.next();
        self.next().filter(|b| b"01".contains(b)).map(|_| ())
    }

    /// §4.2.9.
    fn date(&mut self) -> Option<()> {
        self.next();
        self.number().filter(|is_integer| *is_integer).map(|_| ())
    }

    /// §4.2.10.
    fn display_string(&mut self) -> Option<()> {
        self.next();
        self.take(b'"').then_some(())?;
        let mut bytes = Vec::new();
        loop {
            match self.next()? {
                b'"' => return String::from_utf8(bytes).ok().map(|_| ()),
                b'%' => {
                    let digits = [self.next()?, self.next()?];
                    let lower = digits
                        .iter()
                        .all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(b));
                    let text = std::str::from_utf8(&digits).ok().filter(|_| lower)?;
                    bytes.push(u8::from_str_radix(text, 16).ok()?);
                }
                b @ 0x20..=0x7e => bytes.push(b),
                _ => return None,
            }
        }
    }
}
