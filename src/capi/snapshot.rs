//! Snapshots: open, describe, close.

use super::pointers::{c_text, check_flags, close, output, reference, slice};
use super::status::{Failure, guard, guard_value, robosieve_status};
use crate::snapshot::Snapshot;
use std::ffi::{CStr, CString, c_char, c_void};
use std::path::{Path, PathBuf};
use std::ptr;
use std::sync::Arc;

/// An open snapshot. All functions may use it from several threads at once.
pub struct robosieve_snapshot {
    pub(super) snapshot: Arc<Snapshot>,
}

/// Flags of `robosieve_snapshot_open`.
#[repr(u32)]
pub enum robosieve_open_flag {
    /// Read the whole file and compare every checksum. This detects accidental damage anywhere in
    /// the file, and loads it into the page cache. It does not detect forgery.
    VerifyChecksums = 1,
}

/// Opens the snapshot at `path` by mapping the file into memory.
///
/// `path` ends with a NUL byte (UTF-8 on Windows). `flags` is 0, or values of
/// `robosieve_open_flag`. `*out` is the snapshot, or NULL after an error. Close it with
/// `robosieve_snapshot_close`.
///
/// The file must not change while it is open; replace it by renaming a new file over it. A process
/// whose snapshot is truncated ends with SIGBUS.
///
/// Cost: reads the header, some tens of microseconds at any size. With VERIFY_CHECKSUMS it reads
/// the whole file: on the calling thread up to 1 MiB, else on one thread per core. These threads
/// end before the function returns.
///
/// Errors: IO, NOT_A_SNAPSHOT, UNSUPPORTED_VERSION, CORRUPT, BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_snapshot_open(
    path: *const c_char,
    flags: u32,
    out: *mut *mut robosieve_snapshot,
) -> robosieve_status {
    guard(|| {
        // SAFETY: the caller keeps the contract of the module.
        let (out, path) = unsafe { (output(out, 1, "out")?, c_text(path, "path")) };
        out[0].write(ptr::null_mut());
        check_flags(flags, robosieve_open_flag::VerifyChecksums as u32)?;
        let path = path_of(path?)?;
        out[0].write(handle(Snapshot::open(&path)?, &path, flags)?);
        Ok(())
    })
}

/// A handle of a snapshot, whose checksums are compared if a flag says so. `name` is for errors.
fn handle(snapshot: Snapshot, name: &Path, flags: u32) -> Result<*mut robosieve_snapshot, Failure> {
    if flags & robosieve_open_flag::VerifyChecksums as u32 != 0 {
        verify_on_threads(name, snapshot.byte_len(), || snapshot.verify_checksums())?;
    }
    let snapshot = Arc::new(snapshot);
    Ok(Box::into_raw(Box::new(robosieve_snapshot { snapshot })))
}

/// Opens a snapshot whose bytes are in memory, such as those of an object store or of a resource in a
/// program.
///
/// `data` has `data_len` bytes, which are copied: it may be freed after the call. `flags` is as for
/// `robosieve_snapshot_open`, and so is `*out`.
///
/// Cost: one copy, and the memory of the bytes while the snapshot or a judge of it is open. To share
/// the memory between processes, map a file.
///
/// Errors: NOT_A_SNAPSHOT, UNSUPPORTED_VERSION, CORRUPT, BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_snapshot_open_bytes(
    data: *const c_void,
    data_len: usize,
    flags: u32,
    out: *mut *mut robosieve_snapshot,
) -> robosieve_status {
    guard(|| {
        // SAFETY: the caller keeps the contract of the module.
        let (out, data) = unsafe {
            (
                output(out, 1, "out")?,
                slice(data.cast::<u8>(), data_len, "data"),
            )
        };
        out[0].write(ptr::null_mut());
        check_flags(flags, robosieve_open_flag::VerifyChecksums as u32)?;
        let snapshot = Snapshot::new(data?.to_vec())?;
        out[0].write(handle(snapshot, Path::new("snapshot in memory"), flags)?);
        Ok(())
    })
}

/// The checksums of a shorter file are computed on the calling thread anyway.
const SINGLE_THREADED: u64 = 1 << 20;

/// Compares all checksums of the file at `path`, on threads that end with the call. The message of
/// a failure begins with the path.
///
/// The threads of rayon's global pool would stay. After a fork, they are missing in the child,
/// whose next call would wait for them forever.
pub(super) fn verify_on_threads(
    path: &Path,
    byte_len: u64,
    verify: impl FnOnce() -> crate::error::Result<()> + Send,
) -> Result<(), Failure> {
    let verify = || verify().map_err(|err| err.at(path));
    if byte_len <= SINGLE_THREADED {
        return Ok(verify()?);
    }
    let verified = rayon::ThreadPoolBuilder::new()
        .build_scoped(|thread| thread.run(), |pool| pool.install(verify));
    verified.map_err(|err| Failure {
        status: robosieve_status::Io,
        message: format!("{}: cannot start threads: {err}", path.display()),
    })??;
    Ok(())
}

#[cfg(unix)]
pub(super) fn path_of(path: &CStr) -> Result<PathBuf, Failure> {
    use std::os::unix::ffi::OsStrExt;
    Ok(std::ffi::OsStr::from_bytes(path.to_bytes()).into())
}

#[cfg(not(unix))]
pub(super) fn path_of(path: &CStr) -> Result<PathBuf, Failure> {
    let path = path
        .to_str()
        .map_err(|_| Failure::bad_argument("path is not UTF-8"))?;
    Ok(path.into())
}

/// The number of origins. 0 if `snapshot` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_snapshot_origin_count(
    snapshot: *const robosieve_snapshot,
) -> u64 {
    // SAFETY: the caller keeps the contract of the module.
    unsafe { fact(snapshot, |snapshot| snapshot.origin_count().into()) }
}

/// The checksum in the header, which identifies the content: equal archives compiled by the same
/// version give the same number. 0 if `snapshot` is NULL. Cost: one read.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_snapshot_checksum(snapshot: *const robosieve_snapshot) -> u64 {
    // SAFETY: the caller keeps the contract of the module.
    unsafe { fact(snapshot, Snapshot::checksum) }
}

/// The length of the file in bytes. 0 if `snapshot` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_snapshot_byte_len(snapshot: *const robosieve_snapshot) -> u64 {
    // SAFETY: the caller keeps the contract of the module.
    unsafe { fact(snapshot, Snapshot::byte_len) }
}

/// A number of a snapshot; 0 for NULL.
///
/// # Safety
/// As the [module](super) states.
unsafe fn fact(snapshot: *const robosieve_snapshot, number: impl FnOnce(&Snapshot) -> u64) -> u64 {
    // SAFETY: as above.
    guard_value(0, || {
        unsafe { snapshot.as_ref() }.map_or(0, |handle| number(&handle.snapshot))
    })
}

/// The stored description as JSON: the program that wrote the snapshot, its profile, the time of
/// its captures, and counts.
///
/// `*out` is the text, or NULL after an error. Free it with `robosieve_string_free`.
///
/// Errors: CORRUPT, BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_snapshot_metadata(
    snapshot: *const robosieve_snapshot,
    out: *mut *mut c_char,
) -> robosieve_status {
    guard(|| {
        // SAFETY: the caller keeps the contract of the module.
        let (out, handle) = unsafe { (output(out, 1, "out")?, reference(snapshot, "snapshot")) };
        out[0].write(ptr::null_mut());
        out[0].write(json_text(&handle?.snapshot.metadata()?)?);
        Ok(())
    })
}

/// A value as a JSON text that the caller frees.
pub(super) fn json_text(value: &impl serde::Serialize) -> Result<*mut c_char, Failure> {
    let text = serde_json::to_string(value).map_err(|err| other_failure(&err))?;
    // JSON writes the character NUL as `\u0000`.
    Ok(CString::new(text)
        .map_err(|err| other_failure(&err))?
        .into_raw())
}

fn other_failure(err: &dyn std::error::Error) -> Failure {
    Failure {
        status: robosieve_status::Other,
        message: err.to_string(),
    }
}

/// Closes a snapshot. NULL is allowed. Judges of the snapshot stay usable: each keeps the mapping.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_snapshot_close(snapshot: *mut robosieve_snapshot) {
    // SAFETY: the caller keeps the contract of the module.
    guard_value((), || unsafe { close(snapshot) });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A snapshot of more than [`SINGLE_THREADED`] bytes, whose texts do not compress well.
    fn large() -> Vec<u8> {
        let mut compiler = crate::compile::Compiler::default();
        let mut state = 1u64;
        for number in 0..400 {
            let mut body = String::from("user-agent: *\n");
            for _ in 0..100 {
                state = state
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                body += &format!("disallow: /{:x}\n", state);
            }
            compiler
                .add_robots(&format!("https://{number}.example"), body.as_bytes())
                .unwrap();
        }
        compiler.finish().unwrap().to_vec().unwrap()
    }

    #[test]
    fn large_snapshots_are_verified_as_a_whole() {
        let mut bytes = large();
        assert!(bytes.len() as u64 > SINGLE_THREADED, "{}", bytes.len());
        let path = Path::new("large.rsieve");
        let verify = |bytes: Vec<u8>| {
            let snapshot = Snapshot::new(bytes).unwrap();
            verify_on_threads(path, snapshot.byte_len(), || snapshot.verify_checksums())
        };
        verify(bytes.clone()).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        let failure = verify(bytes).unwrap_err();
        assert_eq!(failure.status, robosieve_status::Corrupt);
        assert!(
            failure.message.starts_with("large.rsieve: "),
            "{}",
            failure.message
        );
    }
}
