//! Filter lists: open, look up, close.

use super::pointers::{c_text, check_flags, close, output, reference, slice};
use super::rows::column;
use super::snapshot::{json_text, path_of, robosieve_open_flag, verify_on_threads};
use super::status::{Failure, guard, guard_value, robosieve_status};
use crate::filter_lists::FilterLists;
use crate::judge::Rows;
use serde_json::json;
use std::ffi::{CString, c_char, c_void};
use std::mem::MaybeUninit;
use std::ptr;

/// Open filter lists: a file of `robosieve lists`. All functions except `robosieve_lists_close` may
/// use them from several threads at once.
pub struct robosieve_lists {
    lists: FilterLists,
    /// The names of the lists, for C.
    names: Vec<CString>,
}

/// In the place of a list's number: no list names the row.
const NOT_LISTED: i32 = -1;

/// Opens the compiled filter lists at `path` by mapping the file into memory.
///
/// `path` ends with a NUL byte (UTF-8 on Windows). `flags` is 0, or values of
/// `robosieve_open_flag`. `*out` is the lists, or NULL after an error. Close them with
/// `robosieve_lists_close`. The file must not change while it is open, as that of a snapshot.
///
/// Cost: reads the header and the names of the lists. With VERIFY_CHECKSUMS it reads the whole file,
/// as `robosieve_snapshot_open` does.
///
/// Errors: IO, NOT_FILTER_LISTS, CORRUPT, BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_lists_open(
    path: *const c_char,
    flags: u32,
    out: *mut *mut robosieve_lists,
) -> robosieve_status {
    guard(|| {
        // SAFETY: the caller keeps the contract of the module.
        let (out, path) = unsafe { (output(out, 1, "out")?, c_text(path, "path")) };
        out[0].write(ptr::null_mut());
        check_flags(flags, robosieve_open_flag::VerifyChecksums as u32)?;
        let path = path_of(path?)?;
        let lists = FilterLists::open(&path)?;
        if flags & robosieve_open_flag::VerifyChecksums as u32 != 0 {
            verify_on_threads(&path, lists.byte_len(), || lists.verify_checksums())?;
        }
        // A name without a NUL byte is one of letters, digits and `-_.`; a forged file may have another.
        let names = lists.metadata().lists.iter();
        let names = names.map(|list| CString::new(list.name.as_str()).unwrap_or_default());
        let names = names.collect();
        out[0].write(Box::into_raw(Box::new(robosieve_lists { lists, names })));
        Ok(())
    })
}

/// The number of lists. 0 if `lists` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_lists_count(lists: *const robosieve_lists) -> usize {
    // SAFETY: the caller keeps the contract of the module.
    guard_value(0, || {
        unsafe { lists.as_ref() }.map_or(0, |handle| handle.names.len())
    })
}

/// The name of a list, from 0.
///
/// NULL if there is no such list, or `lists` is NULL. The text belongs to the lists and is valid until
/// they are closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_lists_name(
    lists: *const robosieve_lists,
    list: usize,
) -> *const c_char {
    guard_value(ptr::null(), || {
        // SAFETY: the caller keeps the contract of the module.
        let handle = unsafe { lists.as_ref() };
        handle
            .and_then(|handle| handle.names.get(list))
            .map_or(ptr::null(), |name| name.as_ptr())
    })
}

/// Finds the entry that decides about one URL, as a JSON object.
///
/// `{"is_exception":false,"lists":["ads"],"entry":"ads.example"}`: the lists that have the entry, and
/// the entry as a line of a list. A URL is listed if there is an entry that is not an exception.
///
/// `url` has `url_len` bytes of any kind. `*out` is the text in UTF-8, which is freed with
/// `robosieve_string_free`; NULL if there is no entry, the text is not a URL, or after an error.
///
/// Errors: BAD_ARGUMENT, CORRUPT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_lists_find(
    lists: *const robosieve_lists,
    url: *const c_char,
    url_len: usize,
    out: *mut *mut c_char,
) -> robosieve_status {
    guard(|| {
        // SAFETY: the caller keeps the contract of the module.
        let out = unsafe { output(out, 1, "out")? };
        out[0].write(ptr::null_mut());
        // SAFETY: as above.
        let (handle, url) = unsafe {
            (
                reference(lists, "lists")?,
                slice(url.cast::<u8>(), url_len, "url")?,
            )
        };
        if let Some(found) = handle.lists.find(url)? {
            let object = json!({
                "is_exception": found.is_exception(),
                "lists": found.lists().collect::<Vec<_>>(),
                "entry": found.entry()?,
            });
            out[0].write(json_text(&object)?);
        }
        Ok(())
    })
}

/// Finds the listed rows of a column of URLs with 32-bit offsets, the layout of Arrow's `Utf8` and
/// `Binary`.
///
/// The column is that of `robosieve_judge_rows32`. `listed` has room for `listed_len` numbers, at
/// least `row_count`. Each gets the number of the first list that names the row, or -1 if none does:
/// no list has it, an exception decides, or the row is not a URL.
///
/// Cost: a few tens of nanoseconds for most rows; less for a row of the same origin as the row before.
/// The calling thread does all the work.
///
/// Errors: BAD_ARGUMENT, BAD_COLUMN (both before any row is looked up), CORRUPT. After an error, the
/// content of `listed` is unspecified.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_lists_rows32(
    lists: *const robosieve_lists,
    data: *const c_void,
    data_len: usize,
    offsets: *const i32,
    row_count: usize,
    listed: *mut i32,
    listed_len: usize,
) -> robosieve_status {
    guard(|| {
        // SAFETY: the caller keeps the contract of the module.
        let (data, offsets) = unsafe { column(data, data_len, offsets, row_count)? };
        // SAFETY: as above.
        unsafe { find_rows(lists, Rows::Offsets32 { data, offsets }, listed, listed_len) }
    })
}

/// Finds the listed rows of a column of URLs with 64-bit offsets, the layout of Arrow's `LargeUtf8`
/// and `LargeBinary`. Everything else is as for `robosieve_lists_rows32`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_lists_rows64(
    lists: *const robosieve_lists,
    data: *const c_void,
    data_len: usize,
    offsets: *const i64,
    row_count: usize,
    listed: *mut i32,
    listed_len: usize,
) -> robosieve_status {
    guard(|| {
        // SAFETY: the caller keeps the contract of the module.
        let (data, offsets) = unsafe { column(data, data_len, offsets, row_count)? };
        // SAFETY: as above.
        unsafe { find_rows(lists, Rows::Offsets64 { data, offsets }, listed, listed_len) }
    })
}

/// # Safety
/// As the [module](super) states.
unsafe fn find_rows(
    lists: *const robosieve_lists,
    rows: Rows<'_>,
    listed: *mut i32,
    listed_len: usize,
) -> Result<(), Failure> {
    // SAFETY: as the caller guarantees.
    let lists = unsafe { &reference(lists, "lists")?.lists };
    let row_count = rows.len();
    if listed_len < row_count {
        let what = format!("listed has room for {listed_len} of {row_count} rows");
        return Err(Failure::bad_argument(what));
    }
    // SAFETY: as above.
    let out = unsafe { output(listed, row_count, "listed")? };
    lists.find_rows(rows, |row, found| {
        let list = found
            .filter(|found| !found.is_exception())
            .and_then(|found| found.list_numbers().next())
            .and_then(|list| i32::try_from(list).ok());
        out[row] = MaybeUninit::new(list.unwrap_or(NOT_LISTED));
    })?;
    Ok(())
}

/// Closes lists. NULL is allowed. No other call may use them at the same time or later.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_lists_close(lists: *mut robosieve_lists) {
    // SAFETY: the caller keeps the contract of the module.
    guard_value((), || unsafe { close(lists) });
}
