//! Handles: the numbers by which Java names objects of the library.
//!
//! A registry instead of addresses, so that a number that Java still holds after `close` finds nothing,
//! where an address would be read after its memory was freed. Each call takes a read lock once.

use crate::failure::Failure;
use jni::sys::jlong;
use std::any::Any;
use std::collections::BTreeMap;
use std::sync::{Arc, PoisonError, RwLock};

/// The open objects by handle, and the last handle that was given.
struct Open {
    objects: BTreeMap<jlong, Arc<dyn Any + Send + Sync>>,
    last: jlong,
}

static OPEN: RwLock<Open> = RwLock::new(Open {
    objects: BTreeMap::new(),
    last: 0,
});

/// Keeps an object open, and returns its handle. No number is given twice.
pub(crate) fn open(object: impl Any + Send + Sync) -> jlong {
    let mut open = OPEN.write().unwrap_or_else(PoisonError::into_inner);
    open.last += 1;
    let handle = open.last;
    open.objects.insert(handle, Arc::new(object));
    handle
}

/// The object of a handle. It lives until the caller drops it, also if Java closes it meanwhile.
///
/// # Errors
/// [`Failure::Closed`] after [`close`].
pub(crate) fn get<T: Any + Send + Sync>(handle: jlong) -> Result<Arc<T>, Failure> {
    let open = OPEN.read().unwrap_or_else(PoisonError::into_inner);
    let object = open.objects.get(&handle).map(Arc::clone);
    object
        .and_then(|object| object.downcast().ok())
        .ok_or(Failure::Closed)
}

/// Forgets an object. A handle that is closed already is ignored.
pub(crate) fn close(handle: jlong) {
    let mut open = OPEN.write().unwrap_or_else(PoisonError::into_inner);
    let object = open.objects.remove(&handle);
    // Unmapping a file takes time, so the lock is released first.
    drop(open);
    drop(object);
}
