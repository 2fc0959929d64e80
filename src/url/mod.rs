//! URLs as robots.txt sees them: an origin, and a path with its query.

mod authority;
pub(crate) mod escape;
pub(crate) mod origin;
pub(crate) mod split;

pub(crate) use origin::Origin;
pub(crate) use split::{Parts, PlainOrigin, path_of, plain_origin, split, split_plain};
