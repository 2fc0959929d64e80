//! The figures that a made-up web follows; docs/DESIGN.md tells where they come from and how closely they are met.
//!
//! "Measured" figures are of 17,284 distinct robots.txt files of 2024 to 2026 and of 9.6 million real URLs. What could not be
//! measured is "assumed".

use crate::synthetic::kinds::{Answer, Form, Odd, Single};
use crate::synthetic::random::Quantiles;

/// What an origin answers that does not redirect (measured on 15,838 hosts, 2020 to 2025; the failures of 4xx and 5xx assumed).
/// With the redirects, 56 % of all captures are robots.txt files, as in Common Crawl's archive of 2023.
pub(super) const ANSWERS: &[(u64, Answer)] = &[
    (750, Answer::Robots),
    (50, Answer::Page),
    (125, Answer::Status(404)),
    (45, Answer::Status(403)),
    (5, Answer::Status(410)),
    (3, Answer::Status(429)),
    (9, Answer::Status(503)),
    (3, Answer::Status(500)),
    (10, Answer::Failed),
];

/// The most popular hosts, one in so many, are looked after (all assumed): they do not fail, and have a file of their own that does
/// not close them to all.
pub(super) const POPULAR_ONE_IN: u64 = 100;
pub(super) const POPULAR_ANSWERS: &[(u64, Answer)] =
    &[(93, Answer::Robots), (5, Answer::Status(404)), (2, Answer::Status(403))];

/// Every so many-th host is not in the archive, though URLs lead to it (assumed).
pub(super) const UNKNOWN_EVERY: u64 = 20;
/// Every so many-th host has a name outside ASCII, or a port of its own (measured: 0.1 % each).
pub(super) const IDN_EVERY: u64 = 997;
pub(super) const PORT_EVERY: u64 = 991;

/// Endings of host names; all are reserved by RFC 2606, so a made-up web sends nobody to a real site.
pub(super) const ENDINGS: [&str; 4] = [".test", ".test", ".example", ".invalid"];

/// Of the sites with a robots.txt, those whose file another site has too, byte for byte (measured: 58 % and 65 % in the widest
/// samples), and those that add no more than a Sitemap line of their own to such a file (assumed).
pub(super) const SHARED: f64 = 0.64;
pub(super) const SHARED_BUT_SITEMAP: f64 = 0.12;
/// For each thousand sites so many files that are shared (measured: 73 families for a thousand hosts).
pub(super) const FAMILIES_PER_THOUSAND: u64 = 73;
/// The largest families, from the most common one (measured, as kinds of file).
pub(super) const FAMILIES: &[&str] = &[
    "User-agent: *\nDisallow: /wp-admin/\nAllow: /wp-admin/admin-ajax.php\n",
    "User-agent: *\nDisallow:\n",
    "User-agent: *\nDisallow: /wp-admin/\n",
    "User-agent: *\nAllow: /\n",
    "User-agent: *\nDisallow: /\n",
];

/// Rules in the groups of all agents: measured 1 / 3 / 41 / 232 at 10, 50, 90 and 99 %; the tail beyond is bent so that means
/// fit, and ends where a file reaches the 500 KiB that are read.
pub(super) const GLOBAL_RULES: Quantiles =
    Quantiles(&[(0.0, 1.0), (0.2, 1.01), (0.5, 4.0), (0.9, 45.0), (0.99, 260.0), (0.9995, 1500.0), (1.0, 10_000.0)]);
/// The same in those of popular hosts (assumed, so that URLs meet 8 to 43 rules at the middle and 34 to 70 at 90 %, as measured).
pub(super) const POPULAR_RULES: Quantiles =
    Quantiles(&[(0.0, 1.0), (0.1, 5.0), (0.5, 32.0), (0.9, 80.0), (0.99, 350.0), (1.0, 4000.0)]);
/// The same in files that are shared (assumed, so that the average file is as small as Common Crawl's).
pub(super) const SHARED_RULES: Quantiles =
    Quantiles(&[(0.0, 1.0), (0.3, 1.01), (0.5, 3.0), (0.9, 20.0), (0.99, 80.0), (1.0, 300.0)]);
/// Groups for named agents, and 1: measured 1 / 1 / 7 / 40 groups a file.
pub(super) const GROUPS: Quantiles =
    Quantiles(&[(0.0, 1.0), (0.6, 1.01), (0.75, 2.5), (0.9, 7.0), (0.99, 42.0), (0.9995, 200.0), (1.0, 1000.0)]);
/// What such a group says in one rule (measured: `Disallow: /` is the most frequent rule, but the others are frequent too).
pub(super) const GROUP_SINGLES: &[(u64, Single)] =
    &[(78, Single::DisallowAll), (11, Single::DisallowNothing), (11, Single::AllowAll)];
/// Rules of such a group where it is more than `Disallow: /` (measured: 1 / 1 / 11 / 96 over all groups).
pub(super) const GROUP_RULES: Quantiles = Quantiles(&[(0.0, 2.0), (0.5, 6.0), (0.9, 40.0), (0.98, 96.0), (1.0, 200.0)]);
/// Files where they are more (assumed, so that 1 / 5 / 63 / 648 rules a file come out).
pub(super) const GROUPS_ARE_MORE: f64 = 0.15;
/// Files whose named groups are one, under a list of agents (assumed from 2.8 % of groups with several agents).
pub(super) const STACKED: f64 = 0.1;
/// Files without groups for all agents, and with one more of them at the end (measured: 3.1 % and 4.3 %).
pub(super) const NO_GLOBAL: f64 = 0.031;
pub(super) const SECOND_GLOBAL: f64 = 0.043;

/// What a group for all agents says in one rule (measured shares of `Disallow:`, `Allow: /` and `Disallow: /`).
pub(super) const SINGLES: &[(u64, Single)] =
    &[(35, Single::DisallowNothing), (20, Single::AllowAll), (3, Single::DisallowAll), (42, Single::Pattern)];

/// Files with wildcards, by how many rules they have for all agents; 41 % in all, measured.
pub(super) const WILD_FILES: &[(u64, f64)] = &[(2, 0.2), (20, 0.62), (100, 0.88), (u64::MAX, 0.95)];
/// Of their rules, those with wildcards (measured: 24.4 % of all rules).
pub(super) const WILD_RULES: f64 = 0.32;
/// How wildcards stand in patterns (measured over all rules: 12 % begin with `/*` or `*`, 5 % only end with `*`, 10 % end with it at
/// all, 7 % have two or more).
pub(super) const FORMS: &[(u64, Form)] = &[
    (12, Form::Anywhere),
    (15, Form::AnywhereTwice),
    (10, Form::AnywhereParameter),
    (6, Form::AnywhereEnding),
    (7, Form::BareParameter),
    (20, Form::Under),
    (13, Form::Within),
    (11, Form::WithinTwice),
    (6, Form::WithinEnding),
];
/// Files with `$` at the end of patterns, and of their rules, besides all that name an ending (measured: 13.9 % of files, 2.9 % of
/// rules).
pub(super) const ANCHORED_FILES: f64 = 0.19;
pub(super) const ANCHORED_RULES: f64 = 0.1;
/// Files with Allow lines, and of their rules (measured: 48 % of files, 9 % of rules).
pub(super) const ALLOWING_FILES: f64 = 0.6;
pub(super) const ALLOWING_RULES: f64 = 0.16;
/// Files with percent-escapes in patterns, and of their rules (measured: 3.8 % of files, 2.4 % of rules).
pub(super) const ESCAPING_FILES: f64 = 0.06;
pub(super) const ESCAPING_RULES: f64 = 0.5;
/// Patterns that begin with what sites keep crawlers from; with a query; with upper case (measured: 11 % and 23 %).
pub(super) const PRIVATE_RULES: f64 = 0.45;
pub(super) const QUERY_RULES: f64 = 0.1;
pub(super) const CAPITAL_RULES: f64 = 0.45;
/// Bytes of a pattern (measured 5 / 18 / 71 / 147).
pub(super) const PATTERN_LENGTH: Quantiles =
    Quantiles(&[(0.0, 2.0), (0.1, 5.0), (0.5, 18.0), (0.9, 62.0), (0.99, 135.0), (1.0, 300.0)]);

/// Form of the files (measured): line ends, byte order mark, no line end at the end, Sitemap and Crawl-delay lines, comments.
pub(super) const CRLF: f64 = 0.18;
pub(super) const BYTE_ORDER_MARK: f64 = 0.006;
pub(super) const OPEN_END: f64 = 0.45;
pub(super) const SITEMAP: f64 = 0.82;
pub(super) const CRAWL_DELAY: f64 = 0.15;
pub(super) const CRAWL_DELAYS: &[u64] = &[1, 2, 5, 10, 10, 10, 20, 20, 30, 60];
/// Comment lines, and 1: measured 0 / 0 / 5 / 28.
pub(super) const COMMENTS: Quantiles = Quantiles(&[(0.0, 1.0), (0.65, 1.01), (0.9, 6.0), (0.99, 28.0), (1.0, 120.0)]);

/// Agents, and in how many of the files groups name them (measured), as they are written.
pub(super) const AGENTS: &[(u64, &str)] = &[
    (1592, "GPTBot"),
    (1565, "CCBot"),
    (1422, "Googlebot"),
    (1119, "AhrefsBot"),
    (1040, "AdsBot-Google"),
    (994, "ChatGPT-User"),
    (965, "Google-Extended"),
    (806, "MJ12bot"),
    (795, "anthropic-ai"),
    (682, "FacebookBot"),
    (661, "AdsBot-Google-Mobile"),
    (656, "ia_archiver"),
    (652, "dotbot"),
    (648, "msnbot"),
    (645, "Mediapartners-Google"),
    (644, "Claude-Web"),
    (615, "PerplexityBot"),
    (606, "Twitterbot"),
    (590, "Bytespider"),
    (588, "cohere-ai"),
    (583, "ClaudeBot"),
    (568, "bingbot"),
    (558, "PetalBot"),
    (552, "Amazonbot"),
    (539, "SemrushBot"),
    (490, "Baiduspider"),
    (459, "Yandex"),
    (446, "omgilibot"),
    (437, "Applebot"),
    (436, "omgili"),
    (381, "BLEXBot"),
    (359, "Googlebot-Image"),
    (357, "360Spider"),
    (327, "Applebot-Extended"),
    (298, "Nutch"),
    (286, "Slurp"),
    (282, "ImagesiftBot"),
    (273, "Diffbot"),
    (266, "facebookexternalhit"),
    (247, "YouBot"),
    (243, "Sogou web spider"),
    (237, "WebCopier"),
    (233, "Offline Explorer"),
    (229, "magpie-crawler"),
    (228, "rogerbot"),
    (223, "MSIECrawler"),
    (222, "HTTrack"),
    (219, "Pinterest"),
    (217, "DataForSeoBot"),
    (215, "TurnitinBot"),
];

/// Bytes of path and query of a URL: between the two largest lists measured, 8 / 32 / 79 / 121 and 17 / 51 / 103 / 178.
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
pub(super) const QUERY_LENGTH: Quantiles =
    Quantiles(&[(0.0, 3.0), (0.1, 7.0), (0.5, 15.0), (0.9, 60.0), (0.99, 170.0), (1.0, 2000.0)]);
/// URLs made to meet a rule of their host's robots.txt, so that with the rest some 5 % are refused (measured 1.4 to 4.8 %).
pub(super) const AIMED: f64 = 0.02;
/// URLs whose path has upper-case words (measured 14 % and 52 %).
pub(super) const CAPITAL_PATH: f64 = 0.25;
/// What else is out of the ordinary, of 100,000 lines (measured, between the two lists; lines that are no URLs assumed).
pub(super) const ODDITIES: &[(u64, Odd)] = &[
    (98_000, Odd::Nothing),
    (1_200, Odd::Escapes),
    (500, Odd::Fragment),
    (100, Odd::RawNonAscii),
    (50, Odd::CapitalHost),
    (50, Odd::DefaultPort),
    (40, Odd::OtherPort),
    (30, Odd::NotAUrl),
    (20, Odd::Space),
    (10, Odd::User),
];
/// Of a host's URLs, those on its main origin; the others are on those that redirect or are served besides (assumed).
pub(super) const MAIN_ORIGIN: f64 = 0.9;

/// How origins redirect; answers with a `max-age`; the time an archive is made in, less than a month (assumed).
pub(super) const REDIRECTS: &[(u64, u16)] = &[(86, 301), (10, 302), (4, 308)];
pub(super) const CACHE_CONTROL: f64 = 0.1;
pub(super) const CAPTURE_SECONDS: u64 = 14 * 86_400;
