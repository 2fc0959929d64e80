//! The archive: one JSON line per origin, in the format that `compile` documents.

use crate::Web;
use crate::random::{Decision, Dice};
use crate::sites::{SiteOrigin, Sites};
use crate::statistics::{CACHE_CONTROL, CAPTURE_SECONDS, OriginAnswer, REDIRECTS};
use serde::Serialize;

#[derive(Serialize)]
struct ArchiveLine<'a> {
    url: &'a str,
    fetched_at: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    headers: Option<ResponseHeaders<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    body: Option<&'a str>,
}

#[derive(Serialize)]
enum ResponseHeaders<'a> {
    Location(&'a str),
    #[serde(rename = "Cache-Control")]
    CacheControl(&'a str),
}

/// The page of a server that has no robots.txt and answers with status 200.
pub(super) const PAGE: &str = "<!DOCTYPE html>\n\
                               <html><head><title>Not here</title></head>\n\
                               <body><p>There is no such page.</p></body></html>\n";

/// Appends the line of an origin, without its line end.
pub(super) fn push_line(web: &Web, origin: u64, out: &mut Vec<u8>) {
    let dice = &mut Dice::new(web.options.seed, Decision::Capture, origin, 0);
    let (host, index) = Sites::of_origin(origin);
    let site_origin = Sites::origins(host)[index];
    let target = (!site_origin.serves).then(|| robots_url(web, host, Sites::origins(host)[0]));
    let (status, body) = match target {
        Some(_) => (Some(dice.weighted(REDIRECTS)), None),
        None => match web.answer(host) {
            (OriginAnswer::Robots | OriginAnswer::Page, body) => (Some(200), body),
            (OriginAnswer::Status(status), _) => (Some(status), None),
            (OriginAnswer::Failed, _) => (None, None),
        },
    };
    let headers = match &target {
        Some(target) => Some(ResponseHeaders::Location(target)),
        None => dice
            .chance(CACHE_CONTROL)
            .then_some(ResponseHeaders::CacheControl("max-age=3600")),
    };
    let line = ArchiveLine {
        url: &robots_url(web, host, site_origin),
        fetched_at: &time(dice.below(CAPTURE_SECONDS)),
        status,
        error: status.is_none().then_some("timeout"),
        headers,
        body: body
            .as_deref()
            .and_then(|body| std::str::from_utf8(body).ok()),
    };
    // Writing to memory does not fail.
    let _ = serde_json::to_writer(out, &line);
}

fn robots_url(web: &Web, host: u64, site_origin: SiteOrigin) -> String {
    let mut url = Vec::new();
    web.sites.push_origin(host, site_origin, true, &mut url);
    url.extend_from_slice(b"/robots.txt");
    String::from_utf8_lossy(&url).into_owned()
}

/// A time in January 2026.
fn time(seconds: u64) -> String {
    let day = 1 + seconds / 86_400;
    let hour = seconds / 3600 % 24;
    let minute = seconds / 60 % 60;
    let second = seconds % 60;
    format!("2026-01-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}
