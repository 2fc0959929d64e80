//! Five other semantics of robots.txt, each after a parser that is or was in wide use.
//!
//! They show a site owner where parsers disagree. They are demonstrations, not engines: each reads
//! the lines from the first to the last, and keeps the grouping, the choice of the group and the
//! choice of the rule of its model. They leave out what hardly any file has, such as escapes that
//! are not UTF-8. `scripts/x browser` compares those whose model it can run.

use std::borrow::Cow;

/// A semantics, with its source.
pub struct Semantics {
    /// A short name.
    pub name: &'static str,
    /// The parser that has it.
    pub source: &'static str,
    /// Its rules, in a few sentences.
    pub rules: &'static str,
    /// Judges a path with its query for an agent, which is a name in lower case.
    pub judge: fn(&[Line], agent: &str, path: &str) -> Judgement,
}

/// The verdict of a semantics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// Whether the agent may fetch the path.
    pub allowed: bool,
    /// The number of the deciding line, from 1; 0 if none decides.
    pub line: u32,
}

/// All semantics, in the order of the page.
pub const SEMANTICS: [Semantics; 5] = [
    Semantics {
        name: "First match, no wildcards",
        source: "urllib.robotparser of Python 3.11",
        rules: "The first matching rule decides, in the order of the file. * and $ are plain \
                characters. The first group counts whose name occurs in the agent's name; later \
                groups of that name do not. A blank line ends a group.",
        judge: first_match_without_wildcards,
    },
    Semantics {
        name: "First match, with wildcards",
        source: "robotexclusionrulesparser 1.7 (Python)",
        rules: "The first matching rule decides, in the order of the file. * and a final $ are \
                wildcards. The first group counts whose name occurs in the agent's name. A blank \
                line or another field ends the user-agent lines of a group.",
        judge: first_match_with_wildcards,
    },
    Semantics {
        name: "Disallow only",
        source: "the standard of 1994, as in WWW::RobotRules 6.02 (Perl)",
        rules: "There is no Allow. A path with a disallowed prefix is disallowed, and * and $ \
                are plain characters. An empty Disallow allows all that no line above it \
                disallows. The first group counts whose name occurs in the agent's name.",
        judge: disallow_only,
    },
    Semantics {
        name: "Longest match, no wildcards",
        source: "Heritrix 3.9 and older (Java)",
        rules: "The longest matching rule decides, and allow wins between equals. Only a * at the \
                end is understood. The first named group counts whose name occurs in the agent's \
                name. All groups of one name are one.",
        judge: longest_match_without_wildcards,
    },
    Semantics {
        name: "Longest name, unanchored wildcards",
        source: "temoto/robotstxt (Go)",
        rules: "The group with the longest name that begins the agent's name counts. The longest \
                matching rule decides, and the earlier one between equals. A rule with * or $ \
                matches anywhere in the path. A path without / at its start gets one.",
        judge: longest_name,
    },
];

/// A line of a robots.txt.
#[derive(Clone, Debug)]
pub struct Line {
    number: u32,
    /// Whether it has no character at all.
    is_empty: bool,
    /// Whether it has nothing but white space. A line with a comment is not blank.
    is_blank: bool,
    /// The text before the first colon, in lower case. Empty if there is no colon.
    field: String,
    /// The text after the first colon, without its comment and surrounding white space.
    value: String,
}

/// The lines of a robots.txt. CR, LF and CR LF end a line.
pub fn lines_of(text: &str) -> Vec<Line> {
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut lines = Vec::new();
    for (number, line) in (1..).zip(text.split('\n')) {
        let code = line.split('#').next().unwrap_or_default();
        let (field, value) = code.split_once(':').unwrap_or_default();
        lines.push(Line {
            number,
            is_empty: line.is_empty(),
            is_blank: line.trim().is_empty(),
            field: field.trim_start().to_lowercase(),
            value: value.trim().to_owned(),
        });
    }
    lines
}

/// The path and the query of a URL, as written. A text without `://` is a path already.
pub fn path_of(url: &str) -> String {
    let url = url.trim().split('#').next().unwrap_or_default();
    let path = match url.split_once("://") {
        Some((_, rest)) => rest.find(['/', '?']).map_or("", |start| &rest[start..]),
        None => url,
    };
    if path.starts_with('/') {
        path.to_owned()
    } else {
        format!("/{path}")
    }
}

/// A rule of a group.
#[derive(Clone, Debug)]
struct Rule<'l> {
    line: u32,
    allow: bool,
    path: Cow<'l, str>,
}

impl<'l> Rule<'l> {
    fn new(line: &Line, allow: bool, path: impl Into<Cow<'l, str>>) -> Self {
        Self {
            line: line.number,
            allow,
            path: path.into(),
        }
    }

    fn decides(&self, allowed: bool) -> Judgement {
        Judgement {
            allowed,
            line: self.line,
        }
    }
}

/// User-agent lines, and the rules below them.
#[derive(Clone, Debug, Default)]
struct Group<'l> {
    names: Vec<&'l str>,
    rules: Vec<Rule<'l>>,
}

impl Group<'_> {
    fn is_global(&self) -> bool {
        self.names.contains(&"*")
    }

    /// Whether one of its names occurs in the agent's name.
    fn has_part_of(&self, agent: &str) -> bool {
        self.names
            .iter()
            .any(|name| agent.contains(name.to_lowercase().as_str()))
    }
}

const ALLOWED_BY_DEFAULT: Judgement = Judgement {
    allowed: true,
    line: 0,
};

/// Python's `urllib.robotparser`. Both sides are compared without escapes.
fn first_match_without_wildcards(lines: &[Line], agent: &str, path: &str) -> Judgement {
    let mut groups: Vec<Group> = Vec::new();
    let mut open = Group::default();
    let mut has_agent = false;
    // Whether a line after the user-agent lines was seen.
    let mut has_rule = false;
    for line in lines {
        if line.is_empty {
            let group = std::mem::take(&mut open);
            groups.extend(has_rule.then_some(group));
            (has_agent, has_rule) = (false, false);
        }
        match line.field.trim_end() {
            "user-agent" => {
                if has_rule {
                    groups.push(std::mem::take(&mut open));
                    has_rule = false;
                }
                open.names.push(&line.value);
                has_agent = true;
            }
            field @ ("allow" | "disallow") if has_agent => {
                // An empty path matches everything, and allows it.
                let allow = field == "allow" || line.value.is_empty();
                let path = line.value.strip_suffix('?').unwrap_or(&line.value);
                open.rules.push(Rule::new(line, allow, path));
                has_rule = true;
            }
            "crawl-delay" | "request-rate" if has_agent => has_rule = true,
            _ => {}
        }
    }
    groups.extend(has_rule.then_some(open));

    // A group with the name `*` is the last resort, and the first of these counts.
    let named = groups
        .iter()
        .filter(|group| !group.is_global())
        .find(|group| group.has_part_of(agent));
    let Some(group) = named.or(groups.iter().find(|group| group.is_global())) else {
        return ALLOWED_BY_DEFAULT;
    };
    let path = unescaped(path.strip_suffix('?').unwrap_or(path), "");
    for rule in &group.rules {
        if path.starts_with(&unescaped(&rule.path, "")) {
            return rule.decides(rule.allow);
        }
    }
    ALLOWED_BY_DEFAULT
}

/// `robotexclusionrulesparser`. Both sides are compared without escapes, except that of the slash.
/// It reads the end of a field only: `x-disallow` is `disallow`.
fn first_match_with_wildcards(lines: &[Line], agent: &str, path: &str) -> Judgement {
    let mut groups: Vec<Group> = Vec::new();
    let mut open: Option<Group> = None;
    let mut is_after_agent = false;
    for line in lines {
        if line.is_blank {
            groups.extend(open.take());
            is_after_agent = false;
        }
        let fields = [
            "user-agent",
            "useragent",
            "disallow",
            "allow",
            "sitemap",
            "crawl-delay",
        ];
        let field = fields.iter().find(|field| line.field.ends_with(**field));
        match field.copied().unwrap_or_default() {
            "user-agent" | "useragent" => {
                if !is_after_agent {
                    groups.extend(open.replace(Group::default()));
                }
                if let Some(group) = open.as_mut().filter(|_| !line.value.is_empty()) {
                    group.names.push(&line.value);
                }
                is_after_agent = true;
            }
            field @ ("allow" | "disallow") => {
                if let Some(group) = &mut open {
                    group
                        .rules
                        .push(Rule::new(line, field == "allow", &*line.value));
                }
                is_after_agent = false;
            }
            "sitemap" | "crawl-delay" => is_after_agent = false,
            _ => {}
        }
    }
    groups.extend(open);
    groups.retain(|group| !group.names.is_empty() && !group.rules.is_empty());

    let named = groups
        .iter()
        .filter(|group| !group.is_global())
        .find(|group| group.has_part_of(agent));
    let Some(group) = named.or(groups.iter().find(|group| group.is_global())) else {
        return ALLOWED_BY_DEFAULT;
    };
    let path = unescaped(path.strip_suffix('?').unwrap_or(path), "/");
    for rule in &group.rules {
        // An empty rule matches everything, and says the opposite.
        if rule.path.is_empty() {
            return rule.decides(!rule.allow);
        }
        let pattern = unescaped(&rule.path, "/");
        let (pattern, is_anchored) = match pattern.strip_suffix(b"$") {
            Some(pattern) => (pattern, true),
            None => (&pattern[..], false),
        };
        if matches(pattern, is_anchored, &path) {
            return rule.decides(rule.allow);
        }
    }
    ALLOWED_BY_DEFAULT
}

/// `WWW::RobotRules`. It reads no further than the end of the first group that names the agent.
fn disallow_only(lines: &[Line], agent: &str, path: &str) -> Judgement {
    let mut own: Option<Vec<Rule>> = None;
    let mut global = Vec::new();
    let mut is_global = false;
    let mut has_agent = false;
    let mut has_rule = false;
    for line in lines {
        let field = line.field.trim_end();
        if line.is_blank || (field == "user-agent" && has_rule) {
            if own.is_some() {
                break;
            }
            (is_global, has_rule) = (false, false);
        }
        match field {
            "user-agent" => {
                has_agent = true;
                if own.is_none() && line.value == "*" {
                    is_global = true;
                } else if own.is_none() && agent.contains(&line.value.to_lowercase()) {
                    own = Some(Vec::new());
                }
            }
            "disallow" => {
                has_rule = true;
                // Rules before any user-agent line count as those of `*`.
                is_global |= !has_agent;
                let path: Cow<'_, str> = match line.value.as_str() {
                    value if value.is_empty() || value.starts_with('/') => value.into(),
                    value if value.contains("://") => continue,
                    value => format!("/{value}").into(),
                };
                let rule = Rule::new(line, false, path);
                match &mut own {
                    Some(rules) => rules.push(rule),
                    None if is_global => global.push(rule),
                    None => {}
                }
            }
            _ => {}
        }
    }
    for rule in own.unwrap_or(global) {
        if rule.path.is_empty() || path.starts_with(&*rule.path) {
            return rule.decides(rule.path.is_empty());
        }
    }
    ALLOWED_BY_DEFAULT
}

/// Heritrix until version 3.9.
fn longest_match_without_wildcards(lines: &[Line], agent: &str, path: &str) -> Judgement {
    // Groups, and the last group of each name.
    let mut groups: Vec<Group> = Vec::new();
    let mut names: Vec<(String, usize)> = Vec::new();
    let mut current: Option<usize> = None;
    for line in lines {
        match line.field.as_str() {
            "user-agent" => {
                let name = line.value.to_lowercase();
                let known = names.iter().position(|(known, _)| *known == name);
                let has_rules = |group: usize| !groups[group].rules.is_empty();
                let of_name = known.map(|known| names[known].1);
                let group = match (of_name.filter(|group| has_rules(*group)), current) {
                    (Some(group), _) => group,
                    (None, Some(group)) if !has_rules(group) => group,
                    _ => {
                        groups.push(Group::default());
                        groups.len() - 1
                    }
                };
                match known {
                    Some(known) => names[known].1 = group,
                    None => names.push((name, group)),
                }
                current = Some(group);
            }
            field @ ("allow" | "disallow") => {
                if let Some(group) = current {
                    let path = line.value.strip_suffix('*').unwrap_or(&line.value);
                    groups[group]
                        .rules
                        .push(Rule::new(line, field == "allow", path));
                }
            }
            _ => {}
        }
    }
    let named = names
        .iter()
        .find(|(name, _)| name != "*" && agent.contains(name.as_str()));
    let Some((_, group)) = named.or(names.iter().find(|(name, _)| name == "*")) else {
        return ALLOWED_BY_DEFAULT;
    };
    let mut best: Option<&Rule> = None;
    for rule in &groups[*group].rules {
        let rank = (rule.path.len(), rule.allow);
        if !rule.path.is_empty()
            && path.starts_with(&*rule.path)
            && best.is_none_or(|best| rank > (best.path.len(), best.allow))
        {
            best = Some(rule);
        }
    }
    best.map_or(ALLOWED_BY_DEFAULT, |rule| rule.decides(rule.allow))
}

/// `temoto/robotstxt`. A value is one word. A crawl-delay and an empty rule end user-agent lines too.
fn longest_name(lines: &[Line], agent: &str, path: &str) -> Judgement {
    let mut groups: Vec<Group> = Vec::new();
    let mut has_rule = false;
    for line in lines {
        let word = line.value.split([' ', '\t']).next().unwrap_or_default();
        match line.field.trim_end() {
            "user-agent" | "useragent" if !word.is_empty() => {
                if has_rule || groups.is_empty() {
                    groups.push(Group::default());
                    has_rule = false;
                }
                if let Some(group) = groups.last_mut() {
                    group.names.push(word);
                }
            }
            field @ ("allow" | "disallow" | "crawl-delay" | "crawldelay") => {
                has_rule = true;
                let path = word.trim_end_matches('*');
                let path: Cow<'_, str> = if word.starts_with(['/', '*']) {
                    path.into()
                } else {
                    format!("/{path}").into()
                };
                // A blank before the colon makes the colon the value.
                let is_rule = matches!(line.field.as_str(), "allow" | "disallow");
                if let Some(group) = groups.last_mut().filter(|_| is_rule && !word.is_empty()) {
                    group.rules.push(Rule::new(line, field == "allow", path));
                }
            }
            _ => {}
        }
    }
    // User-agent lines at the end of the file name no group.
    if !has_rule {
        groups.pop();
    }
    let longest = groups
        .iter()
        .flat_map(|group| &group.names)
        .map(|name| name.to_lowercase())
        .filter(|name| name != "*" && agent.starts_with(name.as_str()))
        .max_by_key(String::len);
    let name = longest.unwrap_or_else(|| "*".to_owned());
    let mut best: Option<(usize, &Rule)> = None;
    for group in groups
        .iter()
        .filter(|group| group.names.iter().any(|own| own.to_lowercase() == name))
    {
        for rule in &group.rules {
            let longest = best.map_or(0, |(longest, _)| longest);
            if let Some(length) =
                unanchored_length(&rule.path, path).filter(|length| *length > longest)
            {
                best = Some((length, rule));
            }
        }
    }
    best.map_or(ALLOWED_BY_DEFAULT, |(_, rule)| rule.decides(rule.allow))
}

/// The length of a rule if it matches a path. A rule with a wildcard is a regular expression
/// without `^`, so it matches anywhere, and the escapes of the expression count in its length.
fn unanchored_length(rule: &str, path: &str) -> Option<usize> {
    if !rule.contains(['*', '$']) {
        return path.starts_with(rule).then_some(rule.len());
    }
    let pattern = rule.strip_suffix('$').unwrap_or(rule).as_bytes();
    let is_anchored = pattern.len() < rule.len();
    let is_match =
        (0..=path.len()).any(|start| matches(pattern, is_anchored, &path.as_bytes()[start..]));
    let escapes = rule.chars().filter(|c| r"\.+?()|[]{}^*".contains(*c));
    is_match.then(|| rule.len() + escapes.count())
}

/// Whether a pattern matches the start of a path, or all of it. `*` stands for any bytes.
///
/// Each text between stars is searched at its first position after the one before.
fn matches(pattern: &[u8], is_anchored: bool, path: &[u8]) -> bool {
    let mut texts = pattern.split(|byte| *byte == b'*');
    let Some(mut rest) = path.strip_prefix(texts.next().unwrap_or_default()) else {
        return false;
    };
    let mut has_star = false;
    let mut texts = texts.peekable();
    while let Some(text) = texts.next() {
        has_star = true;
        if is_anchored && texts.peek().is_none() {
            return rest.ends_with(text);
        }
        match find(rest, text) {
            Some(start) => rest = &rest[start + text.len()..],
            None => return false,
        }
    }
    has_star || !is_anchored || rest.is_empty()
}

/// The first position of a text in another.
fn find(text: &[u8], searched: &[u8]) -> Option<usize> {
    if searched.is_empty() {
        return Some(0);
    }
    text.windows(searched.len())
        .position(|part| part == searched)
}

/// The bytes of a text without percent-escapes, except those of the characters in `kept`.
fn unescaped<'t>(text: &'t str, kept: &str) -> Cow<'t, [u8]> {
    if !text.contains('%') {
        return Cow::Borrowed(text.as_bytes());
    }
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let hex = after.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        let code = hex
            .filter(|hex| hex.bytes().all(|digit| digit.is_ascii_hexdigit()))
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match code.filter(|code| *first == b'%' && !kept.as_bytes().contains(code)) {
            Some(code) => {
                bytes.push(code);
                rest = &after[2..];
            }
            // An escape that is kept has upper-case digits.
            None if code.is_some() && *first == b'%' => {
                bytes.extend(format!("%{}", hex.unwrap_or_default().to_uppercase()).bytes());
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    Cow::Owned(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The judgements of all semantics: `A` or `D`, with the deciding line.
    fn judged(robots: &str, agent: &str, path: &str) -> [String; 5] {
        let lines = lines_of(robots);
        SEMANTICS.map(|semantics| {
            let found = (semantics.judge)(&lines, agent, path);
            format!("{}{}", if found.allowed { 'A' } else { 'D' }, found.line)
        })
    }

    #[test]
    fn order_of_rules() {
        let robots = "User-agent: *\nDisallow: /a\nAllow: /a/b\n";
        assert_eq!(
            judged(robots, "foobot", "/a/b"),
            ["D2", "D2", "D2", "A3", "A3"]
        );
        let robots = "User-agent: *\nDisallow: /a\nAllow: /a\n";
        assert_eq!(
            judged(robots, "foobot", "/a"),
            ["D2", "D2", "D2", "A3", "D2"]
        );
    }

    #[test]
    fn wildcards() {
        let robots = "User-agent: *\nDisallow: /*.pdf$\n";
        assert_eq!(
            judged(robots, "foobot", "/x.pdf"),
            ["A0", "D2", "A0", "A0", "D2"]
        );
        assert_eq!(
            judged(robots, "foobot", "/x.pdf?a"),
            ["A0", "A0", "A0", "A0", "A0"]
        );
        let robots = "User-agent: *\nDisallow: /b*c\n";
        assert_eq!(
            judged(robots, "foobot", "/a/bxc"),
            ["A0", "A0", "A0", "A0", "D2"]
        );
        let robots = "User-agent: *\nDisallow: /b*\n";
        assert_eq!(
            judged(robots, "foobot", "/bc"),
            ["A0", "D2", "A0", "D2", "D2"]
        );
    }

    #[test]
    fn names() {
        let robots = "User-agent: *\nDisallow: /x\n\nUser-agent: bot\nDisallow: /y\n\n\
                      User-agent: Googlebot\nDisallow: /z\n";
        assert_eq!(
            judged(robots, "googlebot-image", "/z"),
            ["A0", "A0", "A0", "A0", "D8"]
        );
        assert_eq!(
            judged(robots, "googlebot-image", "/y"),
            ["D5", "D5", "D5", "D5", "A0"]
        );
        assert_eq!(judged(robots, "spider", "/x"), ["D2"; 5]);
    }

    #[test]
    fn groups_of_one_name() {
        let robots = "User-agent: a\nDisallow: /x\n\nUser-agent: a\nDisallow: /y\n";
        assert_eq!(judged(robots, "a", "/y"), ["A0", "A0", "A0", "D5", "D5"]);
    }

    #[test]
    fn blank_lines_and_empty_rules() {
        let robots = "User-agent: a\n\nDisallow: /x\n";
        assert_eq!(judged(robots, "a", "/x"), ["A0", "A0", "A0", "D3", "D3"]);
        let robots = "User-agent: *\nDisallow: \nDisallow: /x\n";
        assert_eq!(judged(robots, "a", "/x"), ["A2", "A2", "A2", "D3", "D3"]);
    }

    #[test]
    fn escapes() {
        let robots = "User-agent: *\nDisallow: /%61\n";
        assert_eq!(judged(robots, "a", "/a"), ["D2", "D2", "A0", "A0", "A0"]);
        assert_eq!(judged(robots, "a", "/%61b"), ["D2"; 5]);
    }

    #[test]
    fn patterns() {
        for (pattern, is_anchored, path, expected) in [
            ("/a", false, "/ab", true),
            ("/a", true, "/ab", false),
            ("/a*b", true, "/ab", true),
            ("/a*b", true, "/abc", false),
            ("/a*b*", true, "/abc", true),
            ("/ab*b", true, "/ab", false),
            ("*b*a", false, "/ab", false),
        ] {
            let found = matches(pattern.as_bytes(), is_anchored, path.as_bytes());
            assert_eq!(found, expected, "{pattern} {path}");
        }
    }

    #[test]
    fn paths() {
        for (url, path) in [
            ("https://e.example/a?b#c", "/a?b"),
            ("https://e.example", "/"),
            ("https://e.example?b", "/?b"),
            ("/a", "/a"),
            ("a", "/a"),
            ("", "/"),
        ] {
            assert_eq!(path_of(url), path);
        }
    }
}
