//! The kinds of things that a made-up web has, which its profile gives the shares of.

/// What an origin answers to a request for its robots.txt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    /// 200 with robots.txt.
    Robots,
    /// 200 with a page of HTML.
    Page,
    /// Another status than 2xx and 3xx.
    Status(u16),
    /// None.
    Failed,
}

/// What a group says that has one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Single {
    DisallowNothing,
    AllowAll,
    DisallowAll,
    Pattern,
}

/// Where the wildcards of a pattern stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
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

/// What is out of the ordinary about a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Odd {
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
