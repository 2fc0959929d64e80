//! URLs in the terms of robots.txt: an origin, and a path with its query.

mod authority;
pub(crate) mod escape;
pub(crate) mod origin;
mod page_url;
pub(crate) mod split;

pub(crate) use authority::default_port;
pub(crate) use origin::Origin;
pub(crate) use page_url::page_url;
pub(crate) use split::{
    PlainOrigin, UrlParts, is_url_or_path, path_of, plain_origin, split, split_plain,
};

use std::net::Ipv4Addr;

/// The path of an origin's robots.txt (RFC 9309 §2.3).
pub(crate) const ROBOTS_PATH: &[u8] = b"/robots.txt";

/// Whether a host in canonical form is an IPv4 or IPv6 address: it has no subdomains, and is not in
/// any domain. Most names are dismissed by their last byte.
pub(crate) fn is_address(host: &[u8]) -> bool {
    match host.last() {
        Some(b']') => true,
        Some(last) if last.is_ascii_digit() => {
            std::str::from_utf8(host).is_ok_and(|text| text.parse::<Ipv4Addr>().is_ok())
        }
        _ => false,
    }
}
