//! The containers. A new one adds its folder and one line here.

use crate::container::files::Container;
use crate::container::source::Source;

/// All containers, in the order in which they are asked. Lists are last: they take every file that
/// no other container recognises.
const CONTAINERS: &[&dyn Container] = &[
    #[cfg(feature = "parquet")]
    &crate::parquet::ParquetFiles,
    &crate::warc::WarcFiles,
    LISTS,
];

pub(super) const LISTS: &dyn Container = &crate::lists::Lists;

/// The container of a file by its first bytes; `None` if more bytes have to decide.
pub(super) fn recognize(source: &Source, is_all: bool) -> Option<&'static dyn Container> {
    for container in CONTAINERS {
        // A later container is asked only after a clear no.
        if container.recognizes(source, is_all)? {
            return Some(*container);
        }
    }
    None
}
