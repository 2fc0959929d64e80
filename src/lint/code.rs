//! The codes of findings, with severity, summary, and whether a snapshot can have them.

use crate::named_value::named_values;
use std::fmt;

/// The severity of a finding. The order is that of weight: `Note < Warning < Error`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Severity {
    /// Parsers agree, and the line has no effect or a surprising one.
    Note,
    /// Some parsers read the line in another way, or it probably means something else.
    Warning,
    /// The line, or the file, does not do what it says.
    Error,
}

named_values! {
    /// The name in outputs. SARIF has the same levels.
    Severity {
        Error = "error",
        Warning = "warning",
        Note = "note",
    }
}

/// Whether the texts of a snapshot can show a code. A snapshot stores condensed texts: comments,
/// blank lines, unknown fields and the original bytes of the file are missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum InSnapshot {
    /// All findings are found.
    Yes,
    /// Some are found; `docs/LINT.md` says which.
    Partly,
    /// None is found.
    No,
}

impl InSnapshot {
    /// The name in outputs: `yes`, `partly` or `no`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::Partly => "partly",
            Self::No => "no",
        }
    }
}

/// Whether findings of a code can have a [`Fix`](crate::lint::Fix).
///
/// A code with fixes can also have findings without one: `docs/LINT.md` says which have one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Fixable {
    /// No finding has a fix: the author must choose what to write.
    No,
    /// Fixes are safe.
    Safe,
    /// Fixes may change verdicts or preferences.
    Unsafe,
    /// Some fixes are safe, others are not.
    Either,
}

impl Fixable {
    /// The name in outputs: `no`, `safe`, `unsafe` or `either`.
    pub fn name(self) -> &'static str {
        match self {
            Self::No => "no",
            Self::Safe => "safe",
            Self::Unsafe => "unsafe",
            Self::Either => "either",
        }
    }

    /// Whether a finding may have a fix of this kind.
    pub(super) fn has(self, is_safe: bool) -> bool {
        match self {
            Self::No => false,
            Self::Safe => is_safe,
            Self::Unsafe => !is_safe,
            Self::Either => true,
        }
    }
}

/// What an author changes who follows the help of a finding.
///
/// A rule is called superfluous only if it stays so after any such change
/// ([`unsettled`](super::unsettled)).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MendedPart {
    /// Nothing that decides whether a rule is superfluous. Also the removal of superfluous lines.
    Nothing,
    /// The rules of its group.
    Rules,
    /// A name of its group.
    Names,
    /// The line begins a group of its own.
    NewGroup,
    /// Any group of the file: parsers begin to read the line, or others.
    File,
}

macro_rules! codes {
    ($($variant:ident $name:literal $severity:ident $in_snapshot:ident $fixable:ident $mended:ident
       $summary:literal;)+) => {
        /// The code of a finding. `docs/LINT.md` describes each with its source and examples.
        ///
        /// The order is that of the page. Names are stable; versions may add codes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Code { $(#[doc = $summary] $variant),+ }

        impl Code {
            /// All codes.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// The name in outputs, such as `outside-group`.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name),+ }
            }

            /// The severity of its findings.
            pub fn severity(self) -> Severity {
                match self { $(Self::$variant => Severity::$severity),+ }
            }

            /// Whether the texts of a snapshot can show it.
            pub fn in_snapshot(self) -> InSnapshot {
                match self { $(Self::$variant => InSnapshot::$in_snapshot),+ }
            }

            /// Whether its findings can have a fix.
            pub fn fixable(self) -> Fixable {
                match self { $(Self::$variant => Fixable::$fixable),+ }
            }

            /// What changes if its help is followed.
            pub(super) fn mended_part(self) -> MendedPart {
                match self { $(Self::$variant => MendedPart::$mended),+ }
            }

            /// One sentence about it.
            pub fn summary(self) -> &'static str {
                match self { $(Self::$variant => $summary),+ }
            }
        }
    };
}

impl Code {
    /// Whether its findings hold only if both profiles read the same groups from the file, such as
    /// those of lines without effect.
    pub(super) fn needs_same_groups(self) -> bool {
        matches!(
            self,
            Self::DuplicateRule
                | Self::NeverDecides
                | Self::RedundantRule
                | Self::EmptyRule
                | Self::EmptyGroup
                | Self::RepeatedAgent
                | Self::GroupReplacesGlobal
        )
    }

    /// Whether a mended path begins as the path does, up to its first escape or its last segment.
    pub(super) fn keeps_start_of_path(self) -> bool {
        matches!(
            self,
            Self::NonAscii | Self::BadEscape | Self::ProfilesDiffer
        )
    }

    /// Whether a mended rule matches no paths that the rule does not match, or is gone.
    pub(super) fn keeps_paths(self) -> bool {
        matches!(
            self,
            Self::ClosesSite | Self::RenderingFiles | Self::Fragment | Self::LeadingStar
        )
    }

    /// Whether its findings say that a line could be removed.
    pub(super) fn calls_line_superfluous(self) -> bool {
        matches!(
            self,
            Self::DuplicateRule
                | Self::NeverDecides
                | Self::RedundantRule
                | Self::EmptyRule
                | Self::EmptyGroup
        )
    }
}

codes! {
    Html "html" Error No No Nothing "The file, or a part of it, is HTML or XML.";
    Utf16 "utf-16" Error No No Nothing "The file is UTF-16 text, in which parsers find no field.";
    OtherFormat "other-format" Error No No Nothing
        "The file is an archive, an image, JSON or another format.";
    TooLarge "too-large" Error No No File
        "The file has more than 500 KiB, and parsers ignore the rest.";
    LongLine "long-line" Error No No File
        "The line has more than 16,663 bytes, and parsers drop the rest.";
    ByteOrderMark "byte-order-mark" Warning No Safe Nothing
        "The file begins with a UTF-8 byte order mark.";
    CarriageReturn "carriage-return" Note No Safe Nothing
        "A carriage return without a line feed ends a line.";
    ControlCharacter "control-character" Warning No Either File "The line has a control character.";
    MissingColon "missing-colon" Error Partly Either File "The line has no colon after its field.";
    UnknownField "unknown-field" Warning Partly No Nothing
        "Neither RFC 9309 nor a known extension has the field.";
    MisspeltField "misspelt-field" Error Partly Either File
        "The field is a misspelling of a known one, or has invisible characters.";
    SeveralFields "several-fields" Error Yes Unsafe File
        "The line has several fields, and parsers read the first only.";
    OutsideGroup "outside-group" Error Yes No File
        "The line precedes the first user-agent line, so it applies to nobody.";
    EmptyAgent "empty-agent" Error Yes No File
        "The user-agent line has no value, so it names nobody.";
    AgentName "agent-name" Warning Yes Either Names
        "The name of the agent has characters that RFC 9309 does not allow.";
    AgentVersion "agent-version" Warning Yes Safe Nothing
        "The name of the agent has a version, which parsers drop.";
    MisspeltAgent "misspelt-agent" Warning Yes Unsafe Names
        "The registry of crawlers lacks the name, and has a similar one.";
    UnknownAgent "unknown-agent" Note Yes No Nothing "The registry of crawlers lacks the name.";
    RepeatedAgent "repeated-agent" Warning Yes Safe Nothing
        "The agent is named twice, so its groups apply together.";
    JoinedGroups "joined-groups" Warning Partly No NewGroup
        "A blank line or another field separates user-agent lines of one group.";
    BlankLine "blank-line" Warning No Safe Nothing
        "A blank line separates a user-agent line from its rules.";
    EmptyGroup "empty-group" Note Yes Safe Rules "The group has no rules, so it allows everything.";
    GroupReplacesGlobal "group-replaces-global" Note Yes No Nothing
        "Rules of * do not apply to the agents of the group, which has none for their paths.";
    ClosesSite "closes-site" Note Yes No Rules "No crawler may fetch anything.";
    RenderingFiles "rendering-files" Note Yes No Rules
        "The rule disallows style sheets or scripts that pages need to be rendered.";
    StrayCharacter "stray-character" Error Yes Unsafe Rules
        "The path has quotes or characters that show nothing.";
    Fragment "fragment" Error No No Rules
        "A # inside the path begins a comment, which cuts the rule.";
    NoLeadingSlash "no-leading-slash" Error Yes Unsafe Rules
        "The path begins with neither / nor *, so it matches nothing.";
    LeadingStar "leading-star" Note Yes Unsafe Rules
        "The path begins with *, and RFC 9309 has a / there.";
    DoubleSlash "double-slash" Note Yes No Rules
        "The path begins with //, so it matches only paths that begin with two slashes.";
    FullUrl "full-url" Error Yes No Rules "The path is a whole URL, so it matches nothing.";
    SpaceInPattern "space-in-pattern" Warning Yes No Rules
        "The path has a blank, which no URL has.";
    EmptyRule "empty-rule" Note Yes Safe Nothing "The rule has no path, so it has no effect.";
    NonAscii "non-ascii" Warning Yes Safe Rules
        "The path has characters outside ASCII that are not percent-encoded.";
    BadEscape "bad-escape" Warning Yes No Rules "A % in the path begins no escape.";
    UnsupportedWildcard "unsupported-wildcard" Warning Yes Unsafe Rules
        "The path uses a wildcard or regular expression that parsers do not support.";
    DuplicateRule "duplicate-rule" Note Yes Safe Nothing
        "The rule repeats an earlier one for the same agents.";
    NeverDecides "never-decides" Warning Yes Safe Nothing
        "Another rule decides on every URL that the rule matches.";
    RedundantRule "redundant-rule" Note Yes Safe Nothing
        "Without the rule, a shorter one decides in the same way.";
    ProfilesDiffer "profiles-differ" Note Yes Unsafe Rules
        "Google's parser and RFC 9309 read the rule differently.";
    SitemapUrl "sitemap-url" Error Yes No Nothing "The sitemap is not an absolute URL.";
    CrawlDelay "crawl-delay" Warning Yes No Nothing
        "The crawl-delay is not a usable number of seconds.";
    IgnoredDelay "ignored-delay" Note Yes No Nothing
        "The crawl-delay is for crawlers of Google only, which ignore it.";
    ObsoleteField "obsolete-field" Note Yes No Nothing
        "No crawler reads the host line any more.";
    LicenseUrl "license-url" Error Yes No Nothing "The license is not an absolute URL.";
    UsageValue "usage-value" Error Yes Unsafe Nothing
        "The content-usage line has a value that states no preference.";
    UsageKey "usage-key" Warning Yes No Nothing
        "The content-usage line has a key that its vocabulary does not have.";
    SignalValue "signal-value" Error Yes No Nothing
        "The content-signal line has a value that states no signal.";
    SignalKey "signal-key" Warning Yes No Nothing
        "The content-signal line has a key that content signals do not have.";
    UselessPermission "useless-permission" Warning Yes No Nothing
        "The line agrees to a use of pages that may not be fetched.";
}

impl Code {
    /// The code with this name.
    ///
    /// ```
    /// use robosieve::lint::Code;
    /// assert_eq!(Code::find("outside-group"), Some(Code::OutsideGroup));
    /// assert_eq!(Code::find("?"), None);
    /// ```
    pub fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|code| code.name() == name)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
