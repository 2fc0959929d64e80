//! A rule's path in normal form, and its priority.

use crate::profile::Profile;
use crate::robots::line::MAX_BODY;
use crate::url::escape::{normalize_rule, query_forms};
use std::borrow::Cow;

/// The greatest priority of a rule: a snapshot stores the length of a path in 16 bits.
///
/// Profile `Google` reads 16,663 bytes of a line, which are 49,989 bytes if all are escaped. Under
/// RFC 9309 a line may be as long as the file.
pub(crate) const MAX_PRIORITY: usize = u16::MAX as usize;

/// A rule's path in normal form: every `*` is the wildcard, every `$` a literal, the anchor a flag.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Pattern<'a> {
    /// The path without the final `$`.
    pub text: Cow<'a, [u8]>,
    /// The path ended in `$`: a match must end at the end of the URL.
    pub anchored: bool,
}

impl<'a> Pattern<'a> {
    /// The normal form of the path in an `allow` or `disallow` line.
    pub(crate) fn new(value: &'a [u8], profile: Profile) -> Self {
        let (text, anchored) = normalize_rule(value, profile);
        Self { text, anchored }
    }

    /// The same pattern, which borrows its text.
    #[inline]
    pub(crate) fn borrowed(&self) -> Pattern<'_> {
        Pattern {
            text: Cow::Borrowed(&self.text),
            anchored: self.anchored,
        }
    }

    /// The same pattern with a text of its own.
    pub(crate) fn into_owned(self) -> Pattern<'static> {
        Pattern {
            text: Cow::Owned(self.text.into_owned()),
            anchored: self.anchored,
        }
    }

    /// The patterns of a rule: the first is its path in normal form. A URL matches the rule if it
    /// matches any of them.
    ///
    /// An `allow: …/index.html` of profile `Google` has a second pattern for its folder. A rule of
    /// `Rfc9309` has further ones for [queries that begin in a star](query_forms).
    ///
    /// No rule is wider than it is written if that allows more. So a disallow above
    /// [`MAX_PRIORITY`] is cut, which disallows more, and such an allow is like one without a path.
    pub(crate) fn of_rule(value: &'a [u8], is_allow: bool, profile: Profile) -> RulePatterns<'a> {
        let mut pattern = Self::new(value, profile);
        let mut further = match profile {
            Profile::Google if is_allow => FurtherPatterns::of(pattern.index_folder()),
            Profile::Google => FurtherPatterns::default(),
            Profile::Rfc9309 => FurtherPatterns::of(pattern.in_query(value, is_allow)),
        };
        // Allow wins between equal lengths, but not against a disallow that was cut.
        if pattern.priority() <= MAX_PRIORITY - usize::from(is_allow) {
            return RulePatterns { pattern, further };
        }
        if is_allow {
            return RulePatterns {
                pattern: Pattern::new(b"", profile),
                further: FurtherPatterns::default(),
            };
        }
        further.cut();
        pattern.cut();
        RulePatterns { pattern, further }
    }

    /// Cuts a pattern above [`MAX_PRIORITY`], so that it matches more.
    fn cut(&mut self) {
        if self.priority() > MAX_PRIORITY {
            self.text.to_mut().truncate(MAX_PRIORITY);
            self.anchored = false;
        }
    }

    /// The further patterns of the path `value` under `Rfc9309`, of which this is the first.
    fn in_query(&self, value: &[u8], is_allow: bool) -> Vec<Pattern<'static>> {
        if !self.text.contains(&b'*') || !value.contains(&b'%') {
            return Vec::new();
        }
        let forms = query_forms(value, self.text.len(), is_allow).into_iter();
        let forms = forms.map(|text| Pattern {
            text: text.into(),
            anchored: self.anchored,
        });
        forms.collect()
    }

    /// The number of bytes of the path, wildcards and `$` included. Of the rules that match, the
    /// one with the highest priority decides (RFC 9309 §2.2.2).
    pub(crate) fn priority(&self) -> usize {
        self.text.len() + usize::from(self.anchored)
    }

    /// Whether it can match any URL: the path of every URL begins with `/`.
    pub(crate) fn can_match(&self) -> bool {
        matches!(self.text.first(), Some(b'/' | b'*'))
    }

    /// The second pattern of `allow: …/index.html` in profile `Google`: the folder itself, `…/$`.
    pub(crate) fn index_folder(&self) -> Option<Pattern<'static>> {
        let slash = index_page(&self.text)?;
        Some(Pattern {
            text: Cow::Owned(self.text[..=slash].to_vec()),
            anchored: true,
        })
    }
}

/// The offset of the last `/` of a path, if `index.htm` follows it.
pub(crate) fn index_page(path: &[u8]) -> Option<usize> {
    memchr::memrchr(b'/', path).filter(|&slash| path[slash..].starts_with(b"/index.htm"))
}

/// The most that the further patterns of a file under `Rfc9309` may take: their bytes, and
/// [`FURTHER_COST`] for each. So a hostile file has no more rules and bytes of patterns than a set
/// [may have](crate::matcher::rule_set::MAX_SET_LEN). Real files have a few of them at most.
pub(crate) const MAX_FURTHER: usize = 2 * MAX_BODY;

/// What a further pattern takes without its bytes: the most that a set stores for a rule.
const FURTHER_COST: usize = 64;

/// The [patterns of a rule](Pattern::of_rule).
#[derive(Clone, Debug)]
pub(crate) struct RulePatterns<'a> {
    pub pattern: Pattern<'a>,
    pub further: FurtherPatterns,
}

/// The patterns of a rule after the first: nearly always none, so they take two words. With a
/// vector, an export took 1.04 times as long.
#[derive(Clone, Debug, Default)]
pub(crate) struct FurtherPatterns(Option<Box<[Pattern<'static>]>>);

impl FurtherPatterns {
    fn of(patterns: impl IntoIterator<Item = Pattern<'static>>) -> Self {
        let patterns: Vec<_> = patterns.into_iter().collect();
        Self((!patterns.is_empty()).then(|| patterns.into_boxed_slice()))
    }

    /// The patterns by value.
    pub(crate) fn into_vec(self) -> Vec<Pattern<'static>> {
        self.0.map_or_else(Vec::new, Vec::from)
    }

    fn cut(&mut self) {
        if let Some(patterns) = &mut self.0 {
            patterns.iter_mut().for_each(Pattern::cut);
        }
    }
}

impl std::ops::Deref for FurtherPatterns {
    type Target = [Pattern<'static>];

    fn deref(&self) -> &Self::Target {
        self.0.as_ref().map_or(&[], |patterns| patterns)
    }
}

impl<'a> From<Pattern<'a>> for RulePatterns<'a> {
    fn from(pattern: Pattern<'a>) -> Self {
        Self {
            pattern,
            further: FurtherPatterns::default(),
        }
    }
}

impl<'a> RulePatterns<'a> {
    /// The patterns of the path in a `content-usage` line.
    pub(crate) fn of_usage(path: &'a [u8], profile: Profile) -> Self {
        let pattern = Pattern::new(path, profile);
        let further = match profile {
            Profile::Google => FurtherPatterns::default(),
            Profile::Rfc9309 => FurtherPatterns::of(pattern.in_query(path, true)),
        };
        Self { pattern, further }
    }

    /// Drops the further patterns if they take more than `left`; otherwise reduces it.
    pub(crate) fn limit_further(&mut self, left: &mut usize) {
        let bytes: usize = self.further.iter().map(|further| further.text.len()).sum();
        match left.checked_sub(bytes + self.further.len() * FURTHER_COST) {
            Some(rest) => *left = rest,
            None => self.further = FurtherPatterns::default(),
        }
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Pattern<'a>> {
        std::iter::once(&self.pattern).chain(&*self.further)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Both sides of the greatest length of a rule, in plain bytes and in escaped ones.
    #[test]
    fn no_rule_above_the_limit_allows_more() {
        let patterns = |value: &str, is_allow| {
            let patterns = Pattern::of_rule(value.as_bytes(), is_allow, Profile::Rfc9309);
            let read = |p: &Pattern<'_>| (p.text.len(), p.anchored);
            patterns.iter().map(read).collect::<Vec<_>>()
        };
        let (allow, disallow) = (true, false);
        let path = |len: usize| format!("/{}", "a".repeat(len - 1));
        for (len, end) in [(MAX_PRIORITY, ""), (MAX_PRIORITY - 1, "$")] {
            let value = path(len) + end;
            assert_eq!(patterns(&value, disallow), [(len, end == "$")]);
            assert_eq!(patterns(&value, allow), [(0, false)]);
            assert_eq!(
                patterns(&(path(len - 1) + end), allow),
                [(len - 1, end == "$")]
            );
            let longer = path(len + 1) + end;
            assert_eq!(patterns(&longer, allow), [(0, false)]);
            let cut = Pattern::of_rule(longer.as_bytes(), disallow, Profile::Rfc9309).pattern;
            assert!(cut.text.len() + usize::from(cut.anchored) <= MAX_PRIORITY);
            assert!(cut.matches(path(len + 1).as_bytes()));
        }
        // Three bytes for each; the profile that reads 16,663 bytes of a line never has so many.
        let raw = format!("/{}", "\u{e4}".repeat(10_923));
        assert_eq!(patterns(&raw, allow), [(0, false)]);
        assert_eq!(patterns(&raw, disallow), [(MAX_PRIORITY, false)]);
        let in_query = format!("/*%2F{}", "a".repeat(MAX_PRIORITY));
        assert_eq!(patterns(&in_query, allow), [(0, false)]);
        assert_eq!(patterns(&in_query, disallow), [(MAX_PRIORITY, false); 2]);
    }

    #[test]
    fn further_patterns_are_limited_per_file() {
        let rule = "disallow: /*%2F\n";
        let text = format!("user-agent: *\n{}", rule.repeat(30_000));
        let robots = crate::robots::RobotsRef::parse(text.as_bytes(), Profile::Rfc9309);
        let rules = robots.groups()[0].rules();
        let further = rules.iter().filter(|rule| !rule.further().is_empty());
        assert_eq!(
            (rules.len(), further.count()),
            (30_000, MAX_FURTHER / (FURTHER_COST + 5))
        );
    }

    #[test]
    fn index_pages_also_allow_their_folder() {
        let folder = |text: &str| {
            Pattern::new(text.as_bytes(), Profile::Google)
                .index_folder()
                .map(|p| (p.text.to_vec(), p.priority()))
        };
        assert_eq!(folder("/a/index.html"), Some((b"/a/".to_vec(), 4)));
        assert_eq!(folder("/index.htm*x$"), Some((b"/".to_vec(), 2)));
        assert_eq!(folder("/index.html/a"), None);
    }
}
