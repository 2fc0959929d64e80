//! The variants that are drawn at random with the weights in `statistics.rs`.

/// The answer of an origin to a request for its robots.txt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OriginAnswer {
    /// 200 with a robots.txt.
    Robots,
    /// 200 with an HTML page.
    Page,
    /// A status other than 2xx and 3xx.
    Status(u16),
    /// No answer.
    Failed,
}

/// The rule of a group with only one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SingleRule {
    DisallowNothing,
    AllowAll,
    DisallowAll,
    Pattern,
}

/// The position of the wildcards in a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WildcardForm {
    /// `/*word`
    Anywhere,
    /// `/*word*`
    AnywhereTwice,
    /// `/*?name=`
    AnywhereParameter,
    /// `/*.html`, with or without `$`
    AnywhereEnding,
    /// `*?name=`
    BareParameter,
    /// `/path*`
    Under,
    /// `/path*word`
    Within,
    /// `/path*word*`
    WithinTwice,
    /// `/path*.html`, with or without `$`
    WithinEnding,
}

/// An unusual property of a line in the list of URLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Oddity {
    Nothing,
    Escapes,
    Fragment,
    RawNonAscii,
    CapitalHost,
    DefaultPort,
    OtherPort,
    Space,
    User,
    NotAUrl,
}
