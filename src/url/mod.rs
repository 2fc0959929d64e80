//! URLs in the terms of robots.txt: an origin, and a path with its query.

mod authority;
pub(crate) mod escape;
pub(crate) mod origin;
pub(crate) mod split;

pub(crate) use authority::default_port;
pub(crate) use origin::Origin;
pub(crate) use split::{PlainOrigin, UrlParts, path_of, plain_origin, split, split_plain};
