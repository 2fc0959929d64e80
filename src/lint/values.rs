//! Checks of the values of sitemaps, licences and crawl-delays.

use crate::bytes::is_white_space;
use crate::lint::code::Code;
use crate::lint::finding::{FindingCollector, quote};
use crate::lint::patterns::{QUOTES, stripped};
use crate::robots::RobotsRef;
use crate::robots::crawl_delay::parse_seconds;
use bstr::ByteSlice;
use std::collections::HashSet;
use std::time::Duration;

/// The longest delay that crawlers accept: crawler-commons refuses every URL of a site with a
/// longer one.
const MAX_DELAY: Duration = Duration::from_secs(300);

/// Checks all values, except those of the lines in `skipped`.
pub(super) fn check(
    robots: &RobotsRef<'_>,
    skipped: &HashSet<u32>,
    findings: &mut FindingCollector,
) {
    for field in robots
        .other_fields()
        .iter()
        .filter(|field| !skipped.contains(&field.line()))
    {
        match field.name() {
            "sitemap" => check_sitemap(field.line(), field.value(), findings),
            "license" => check_license(field.line(), field.value(), findings),
            "crawl-delay" => check_delay(field.line(), field.value(), findings),
            _ => {}
        }
    }
}

fn check_sitemap(line: u32, value: &[u8], findings: &mut FindingCollector) {
    let problem = match value {
        b"" => "has no value",
        _ if value.chars().any(is_white_space) => "has a blank inside",
        _ if is_absolute(value) => return,
        _ => "is not an absolute URL",
    };
    findings.add(line, Code::SitemapUrl, || {
        let message = format!(
            "the sitemap {} {problem}, so many crawlers ignore it",
            quote(value)
        );
        let help = match stripped(value).filter(|url| is_absolute(url.as_bytes())) {
            Some(url) => {
                let is_quoted = value.to_str().is_ok_and(|text| text.starts_with(QUOTES));
                let others = match is_quoted {
                    true => "quotes",
                    false => "blanks and invisible characters",
                };
                format!("write `Sitemap: {url}`, without {others}")
            }
            None => "write one URL with scheme and host, such as \
                     `https://example.com/sitemap.xml`"
                .to_owned(),
        };
        (message, help)
    });
}

fn check_license(line: u32, value: &[u8], findings: &mut FindingCollector) {
    if is_absolute(value) && !value.chars().any(is_white_space) {
        return;
    }
    findings.add(line, Code::LicenseUrl, || {
        let message = match value {
            b"" => "the license line has no value, so programs that read RSL ignore it".to_owned(),
            _ => format!(
                "the license {} is not an absolute URL, so programs that read RSL ignore it",
                quote(value)
            ),
        };
        let help = "write the URL of an RSL file with scheme and host, such as \
                    `https://example.com/license.xml`";
        (message, help.to_owned())
    });
}

/// Whether a value is a URL with a scheme that crawlers fetch, and a host.
fn is_absolute(value: &[u8]) -> bool {
    let text = std::str::from_utf8(value)
        .ok()
        .filter(|text| text.contains("://"));
    let url = text.and_then(|text| url::Url::parse(text).ok());
    url.is_some_and(|url| matches!(url.scheme(), "http" | "https" | "ftp") && url.has_host())
}

fn check_delay(line: u32, value: &[u8], findings: &mut FindingCollector) {
    let problem = match parse_seconds(value) {
        None if value.is_empty() => "has no value, so crawlers ignore it",
        None => "is not a number of seconds, so crawlers ignore it",
        Some(delay) if delay > MAX_DELAY => {
            "is longer than 300 seconds: some crawlers cut it, others fetch nothing"
        }
        Some(_) => return,
    };
    findings.add(line, Code::CrawlDelay, || {
        let message = format!("the crawl-delay {} {problem}", quote(value));
        let help = match parse_seconds(value) {
            Some(_) => "write at most `300`",
            None => "write seconds with digits and at most one point, such as `10` or `0.5`",
        };
        (message, help.to_owned())
    });
}
