//! A snapshot over bytes whose type does not matter any more.

use super::read::Snapshot;

/// Bytes that lie anywhere: mapped, in a vector, behind a reference count.
pub(crate) struct Shared(Box<dyn AsRef<[u8]> + Send + Sync>);

impl AsRef<[u8]> for Shared {
    fn as_ref(&self) -> &[u8] {
        (*self.0).as_ref()
    }
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Shared").field(&self.as_ref().len()).finish()
    }
}

impl<D: AsRef<[u8]> + Send + Sync + 'static> Snapshot<D> {
    /// The same snapshot, without the type of its bytes.
    pub(crate) fn shared(self) -> Snapshot<Shared> {
        self.map_data(|data| Shared(Box::new(data)))
    }
}
