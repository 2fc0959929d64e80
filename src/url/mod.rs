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

/// The path of an origin's robots.txt (RFC 9309 §2.3).
pub(crate) const ROBOTS_PATH: &[u8] = b"/robots.txt";
