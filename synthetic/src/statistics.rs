//! The statistics of the synthetic web. `docs/dev/SYNTHETIC.md` names their sources and compares
//! the result with them.
//!
//! "Measured" figures are from 17,284 distinct robots.txt files of 2024 to 2026 and from 9.6
//! million real URLs. Figures that could not be measured are "assumed".

use crate::random::Quantiles;

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

/// Answers of origins that do not redirect (measured on 15,838 hosts, 2020 to 2025; the split of
/// 4xx and 5xx assumed). With redirects, 56 % of all captures are robots.txt files, as in Common
/// Crawl's archive of 2023.
pub(super) const ANSWERS: &[(u64, OriginAnswer)] = &[
    (750, OriginAnswer::Robots),
    (50, OriginAnswer::Page),
    (125, OriginAnswer::Status(404)),
    (45, OriginAnswer::Status(403)),
    (5, OriginAnswer::Status(410)),
    (3, OriginAnswer::Status(429)),
    (9, OriginAnswer::Status(503)),
    (3, OriginAnswer::Status(500)),
    (10, OriginAnswer::Failed),
];

/// One host in this many is popular (assumed). Such hosts do not fail, and have an individual file
/// that does not disallow everything.
pub(super) const POPULAR_ONE_IN: u64 = 100;
pub(super) const POPULAR_ANSWERS: &[(u64, OriginAnswer)] = &[
    (93, OriginAnswer::Robots),
    (5, OriginAnswer::Status(404)),
    (2, OriginAnswer::Status(403)),
];

/// One host in this many is not in the archive, although URLs have it (assumed).
pub(super) const UNKNOWN_EVERY: u64 = 20;
/// One host in this many has a name outside ASCII, or a port (measured: 0.1 % each).
pub(super) const IDN_EVERY: u64 = 997;
pub(super) const PORT_EVERY: u64 = 991;

/// Endings of host names. RFC 2606 reserves them all, so no generated URL is that of a real site.
pub(super) const ENDINGS: [&str; 4] = [".test", ".test", ".example", ".invalid"];

/// The share of sites whose robots.txt another site has too, byte for byte (measured: 58 % and 65 %
/// in the widest samples). Then the share of those that add only a Sitemap line to such a file
/// (assumed).
pub(super) const SHARED: f64 = 0.64;
pub(super) const SHARED_BUT_SITEMAP: f64 = 0.12;
/// Families of shared files per thousand sites (measured: 73).
pub(super) const FAMILIES_PER_THOUSAND: u64 = 73;
/// The largest families, the most common first (measured).
pub(super) const FAMILIES: &[&str] = &[
    "User-agent: *\nDisallow: /wp-admin/\nAllow: /wp-admin/admin-ajax.php\n",
    "User-agent: *\nDisallow:\n",
    "User-agent: *\nDisallow: /wp-admin/\n",
    "User-agent: *\nAllow: /\n",
    "User-agent: *\nDisallow: /\n",
];

/// The line of a group with only one rule; `None` if that rule has a pattern.
pub(super) type SingleRule = Option<&'static str>;
pub(super) const DISALLOW_NOTHING: &str = "Disallow:";
pub(super) const DISALLOW_ALL: &str = "Disallow: /";
const ALLOW_ALL: &str = "Allow: /";

/// Rules in groups for all agents: measured 1 / 3 / 41 / 232 at 10, 50, 90 and 99 %. The tail is
/// adjusted to the means, and ends at the size limit of 500 KiB.
pub(super) const GLOBAL_RULES: Quantiles = Quantiles(&[
    (0.0, 1.0),
    (0.2, 1.01),
    (0.5, 4.0),
    (0.9, 45.0),
    (0.99, 260.0),
    (0.9995, 1500.0),
    (1.0, 10_000.0),
]);
/// The same on popular hosts (assumed, so that the host of a URL has 8 to 43 rules at the median
/// and 34 to 70 at 90 %, as measured).
pub(super) const POPULAR_RULES: Quantiles = Quantiles(&[
    (0.0, 1.0),
    (0.1, 5.0),
    (0.5, 32.0),
    (0.9, 80.0),
    (0.99, 350.0),
    (1.0, 4000.0),
]);
/// The same in shared files (assumed, so that the average file is as small as Common Crawl's).
pub(super) const SHARED_RULES: Quantiles = Quantiles(&[
    (0.0, 1.0),
    (0.3, 1.01),
    (0.5, 3.0),
    (0.9, 20.0),
    (0.99, 80.0),
    (1.0, 300.0),
]);
/// Groups for named agents, plus 1: measured 1 / 1 / 7 / 40 groups per file.
pub(super) const GROUPS: Quantiles = Quantiles(&[
    (0.0, 1.0),
    (0.6, 1.01),
    (0.75, 2.5),
    (0.9, 7.0),
    (0.99, 42.0),
    (0.9995, 200.0),
    (1.0, 1000.0),
]);
/// The rule of such a group with only one (measured: `Disallow: /` is the most frequent).
pub(super) const GROUP_SINGLES: &[(u64, SingleRule)] = &[
    (78, Some(DISALLOW_ALL)),
    (11, Some(DISALLOW_NOTHING)),
    (11, Some(ALLOW_ALL)),
];
/// Rules of such a group with more than one (measured: 1 / 1 / 11 / 96 over all groups).
pub(super) const GROUP_RULES: Quantiles = Quantiles(&[
    (0.0, 2.0),
    (0.5, 6.0),
    (0.9, 40.0),
    (0.98, 96.0),
    (1.0, 200.0),
]);
/// Files with such larger groups (assumed, so that a file has 1 / 5 / 63 / 648 rules).
pub(super) const GROUPS_ARE_MORE: f64 = 0.15;
/// Files with one group for a list of agents (assumed, because 2.8 % of groups have several
/// agents).
pub(super) const STACKED: f64 = 0.1;
/// Files without a group for all agents, and with a second one at the end (measured: 3.1 % and 4.3
/// %).
pub(super) const NO_GLOBAL: f64 = 0.031;
pub(super) const SECOND_GLOBAL: f64 = 0.043;

/// The rule of a group for all agents with only one (measured: `Disallow:`, `Allow: /`,
/// `Disallow: /`).
pub(super) const SINGLES: &[(u64, SingleRule)] = &[
    (35, Some(DISALLOW_NOTHING)),
    (20, Some(ALLOW_ALL)),
    (3, Some(DISALLOW_ALL)),
    (42, None),
];

/// Files with wildcards, by their number of rules for all agents (measured: 41 % of all files).
pub(super) const WILD_FILES: &[(u64, f64)] = &[(2, 0.2), (20, 0.62), (100, 0.88), (u64::MAX, 0.95)];
/// The share of their rules with wildcards (measured: 24.4 % of all rules).
pub(super) const WILD_RULES: f64 = 0.32;
/// Patterns with wildcards (measured over all rules: 12 % begin with `/*` or `*`, 10 % end with
/// `*`, 5 % have only a final `*`, 7 % have two or more). `P` is a plain pattern, `W` two words,
/// `Q` the name of a query parameter, `E` a file extension.
pub(super) const FORMS: &[(u64, &str)] = &[
    (12, "/*/W"),
    (15, "/*-W*"),
    (10, "/*?Q="),
    (6, "/*E"),
    (7, "*?Q="),
    (20, "P*"),
    (13, "P*/W/"),
    (11, "P*W*"),
    (6, "P*E"),
];
/// Files with `$` at the end of patterns, and the share of their rules, in addition to all patterns
/// with a file extension (measured: 13.9 % of files, 2.9 % of rules).
pub(super) const ANCHORED_FILES: f64 = 0.19;
pub(super) const ANCHORED_RULES: f64 = 0.1;
/// Files with Allow lines, and the share of their rules (measured: 48 % of files, 9 % of rules).
pub(super) const ALLOWING_FILES: f64 = 0.6;
pub(super) const ALLOWING_RULES: f64 = 0.16;
/// Files with percent-escapes in patterns, and the share of their rules (measured: 3.8 % of files,
/// 2.4 % of rules).
pub(super) const ESCAPING_FILES: f64 = 0.06;
pub(super) const ESCAPING_RULES: f64 = 0.5;
/// Patterns with a typical disallowed prefix; with a query; with upper case (measured: 11 % and 23
/// % for the last two).
pub(super) const PRIVATE_RULES: f64 = 0.45;
pub(super) const QUERY_RULES: f64 = 0.1;
pub(super) const CAPITAL_RULES: f64 = 0.45;
/// Bytes of a pattern (measured 5 / 18 / 71 / 147).
pub(super) const PATTERN_LENGTH: Quantiles = Quantiles(&[
    (0.0, 2.0),
    (0.1, 5.0),
    (0.5, 18.0),
    (0.9, 62.0),
    (0.99, 135.0),
    (1.0, 300.0),
]);

/// Shares of files (measured) with CRLF line ends, with a byte order mark, without a final line
/// end, with Sitemap lines and with Crawl-delay lines.
pub(super) const CRLF: f64 = 0.18;
pub(super) const BYTE_ORDER_MARK: f64 = 0.006;
pub(super) const OPEN_END: f64 = 0.45;
pub(super) const SITEMAP: f64 = 0.82;
pub(super) const CRAWL_DELAY: f64 = 0.15;
pub(super) const CRAWL_DELAYS: &[u64] = &[1, 2, 5, 10, 10, 10, 20, 20, 30, 60];
/// Comment lines, plus 1: measured 0 / 0 / 5 / 28.
pub(super) const COMMENTS: Quantiles = Quantiles(&[
    (0.0, 1.0),
    (0.65, 1.01),
    (0.9, 6.0),
    (0.99, 28.0),
    (1.0, 120.0),
]);

/// Agents in their usual spelling, and the number of files that name each (measured).
#[rustfmt::skip]
pub(super) const AGENTS: &[(u64, &str)] = &[
    (1592, "GPTBot"), (1565, "CCBot"), (1422, "Googlebot"), (1119, "AhrefsBot"),
    (1040, "AdsBot-Google"), (994, "ChatGPT-User"), (965, "Google-Extended"), (806, "MJ12bot"),
    (795, "anthropic-ai"), (682, "FacebookBot"), (661, "AdsBot-Google-Mobile"),
    (656, "ia_archiver"), (652, "dotbot"), (648, "msnbot"), (645, "Mediapartners-Google"),
    (644, "Claude-Web"), (615, "PerplexityBot"), (606, "Twitterbot"), (590, "Bytespider"),
    (588, "cohere-ai"), (583, "ClaudeBot"), (568, "bingbot"), (558, "PetalBot"), (552, "Amazonbot"),
    (539, "SemrushBot"), (490, "Baiduspider"), (459, "Yandex"), (446, "omgilibot"),
    (437, "Applebot"), (436, "omgili"), (381, "BLEXBot"), (359, "Googlebot-Image"),
    (357, "360Spider"), (327, "Applebot-Extended"), (298, "Nutch"), (286, "Slurp"),
    (282, "ImagesiftBot"), (273, "Diffbot"), (266, "facebookexternalhit"), (247, "YouBot"),
    (243, "Sogou web spider"), (237, "WebCopier"), (233, "Offline Explorer"),
    (229, "magpie-crawler"), (228, "rogerbot"), (223, "MSIECrawler"), (222, "HTTrack"),
    (219, "Pinterest"), (217, "DataForSeoBot"), (215, "TurnitinBot"),
];

/// Bytes of path and query of a URL: between the two largest lists measured, 8 / 32 / 79 / 121 and
/// 17 / 51 / 103 / 178.
pub(super) const PATH_LENGTH: Quantiles = Quantiles(&[
    (0.0, 1.0),
    (0.04, 1.01),
    (0.1, 8.0),
    (0.5, 36.0),
    (0.9, 82.0),
    (0.99, 150.0),
    (0.9995, 400.0),
    (1.0, 4000.0),
]);
/// URLs with a query, and its bytes (measured 12 % and 3.3 %; 8 / 13 / 51 / 149).
pub(super) const QUERY: f64 = 0.08;
pub(super) const QUERY_LENGTH: Quantiles = Quantiles(&[
    (0.0, 3.0),
    (0.1, 7.0),
    (0.5, 15.0),
    (0.9, 60.0),
    (0.99, 170.0),
    (1.0, 2000.0),
]);
/// URLs generated to match a rule of their host, so that about 5 % of all are disallowed (measured:
/// 1.4 to 4.8 %).
pub(super) const AIMED: f64 = 0.02;
/// URLs with upper-case words in the path (measured: 14 % and 52 %).
pub(super) const CAPITAL_PATH: f64 = 0.25;
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

/// Unusual properties, per 100,000 lines (measured, between the two lists; lines that are not URLs
/// are assumed).
pub(super) const ODDITIES: &[(u64, Oddity)] = &[
    (98_000, Oddity::Nothing),
    (1_200, Oddity::Escapes),
    (500, Oddity::Fragment),
    (100, Oddity::RawNonAscii),
    (50, Oddity::CapitalHost),
    (50, Oddity::DefaultPort),
    (40, Oddity::OtherPort),
    (30, Oddity::NotAUrl),
    (20, Oddity::Space),
    (10, Oddity::User),
];
/// The share of a host's URLs on its main origin; the rest is on its other origins (assumed).
pub(super) const MAIN_ORIGIN: f64 = 0.9;

/// Statuses of redirects; the share of answers with a `max-age`; the duration of a crawl, less than
/// a month (assumed).
pub(super) const REDIRECTS: &[(u64, u16)] = &[(86, 301), (10, 302), (4, 308)];
pub(super) const CACHE_CONTROL: f64 = 0.1;
pub(super) const CAPTURE_SECONDS: u64 = 14 * 86_400;
