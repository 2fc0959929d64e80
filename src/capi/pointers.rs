//! Checks of the pointers and lengths that C programs give.

use super::status::Failure;
use std::ffi::{CStr, c_char};
use std::mem::MaybeUninit;

/// The value behind a pointer.
///
/// # Safety
/// As the [module](super) states.
pub(super) unsafe fn reference<'a, T>(pointer: *const T, name: &str) -> Result<&'a T, Failure> {
    check(pointer, 1, name)?;
    // SAFETY: not NULL and aligned; the caller guarantees the rest.
    Ok(unsafe { &*pointer })
}

/// The items behind a pointer. Without items, the pointer may be anything.
///
/// # Safety
/// As the [module](super) states.
pub(super) unsafe fn slice<'a, T>(
    pointer: *const T,
    len: usize,
    name: &str,
) -> Result<&'a [T], Failure> {
    if len == 0 {
        return Ok(&[]);
    }
    check(pointer, len, name)?;
    // SAFETY: not NULL, aligned, and of a possible length; the caller guarantees the rest.
    Ok(unsafe { std::slice::from_raw_parts(pointer, len) })
}

/// An output buffer, which need not be initialised.
///
/// # Safety
/// As the [module](super) states.
pub(super) unsafe fn output<'a, T>(
    pointer: *mut T,
    len: usize,
    name: &str,
) -> Result<&'a mut [MaybeUninit<T>], Failure> {
    if len == 0 {
        return Ok(&mut []);
    }
    check(pointer, len, name)?;
    // SAFETY: not NULL, aligned, and of a possible length; the caller guarantees the rest.
    Ok(unsafe { std::slice::from_raw_parts_mut(pointer.cast(), len) })
}

/// A text that ends with a NUL byte.
///
/// # Safety
/// As the [module](super) states.
pub(super) unsafe fn c_text<'a>(pointer: *const c_char, name: &str) -> Result<&'a CStr, Failure> {
    check(pointer, 1, name)?;
    // SAFETY: not NULL; the caller guarantees the rest.
    Ok(unsafe { CStr::from_ptr(pointer) })
}

/// Frees a value that `Box::into_raw` gave away; NULL is allowed.
///
/// # Safety
/// As the [module](super) states: nothing uses the value any more.
pub(super) unsafe fn close<T>(pointer: *mut T) {
    if !pointer.is_null() {
        // SAFETY: the caller guarantees that it comes from `Box::into_raw`, and that this is its
        // end.
        drop(unsafe { Box::from_raw(pointer) });
    }
}

fn check<T>(pointer: *const T, len: usize, name: &str) -> Result<(), Failure> {
    if pointer.is_null() {
        return Err(Failure::bad_argument(format!("{name} is NULL")));
    }
    if !pointer.is_aligned() {
        let what = format!(
            "{name} is not aligned: its address must be a multiple of {}",
            align_of::<T>()
        );
        return Err(Failure::bad_argument(what));
    }
    if len > isize::MAX as usize / size_of::<T>().max(1) {
        return Err(Failure::bad_argument(format!(
            "{name} cannot have {len} items: that exceeds the address space"
        )));
    }
    Ok(())
}

/// Rejects flags that this version does not have.
pub(super) fn check_flags(flags: u32, known: u32) -> Result<(), Failure> {
    match flags & !known {
        0 => Ok(()),
        unknown => Err(Failure::bad_argument(format!(
            "flags has bits that this version does not know: {unknown:#x}"
        ))),
    }
}
