//! The status that a call returns, the message of the last error, and the end of every panic.

use crate::error::{Error, ErrorKind, Remedy};
use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_char};
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The result of a call. Later versions may add numbers. "Errors: IO" in the documentation of a
/// function means `ROBOSIEVE_STATUS_IO`.
#[repr(i32)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum robosieve_status {
    /// The call succeeded.
    Ok = 0,
    /// An error of the operating system: the file is missing, or cannot be read or mapped.
    Io = 1,
    /// The file is not a snapshot.
    NotASnapshot = 2,
    /// The snapshot has a format version that this library does not read. Compile it again.
    UnsupportedVersion = 3,
    /// The bytes of the snapshot or of the filter lists contradict each other, or a checksum is wrong.
    /// Nothing read from them can be trusted.
    Corrupt = 4,
    /// The name of an agent is invalid.
    BadAgent = 5,
    /// An argument is invalid: NULL, misaligned, an unknown flag, or a buffer that is too small.
    BadArgument = 6,
    /// Offsets descend, or exceed the data.
    BadColumn = 7,
    /// The library has a bug: please report the message. The handles stay usable.
    Panic = 8,
    /// Any other error.
    Other = 9,
    /// The file does not have compiled filter lists of a version that this library reads.
    NotFilterLists = 10,
}

/// A call that failed: the status, and the message for `robosieve_last_error`.
#[derive(Debug)]
pub(super) struct Failure {
    pub status: robosieve_status,
    pub message: String,
}

impl Failure {
    pub(super) fn bad_argument(message: impl Into<String>) -> Self {
        Self {
            status: robosieve_status::BadArgument,
            message: message.into(),
        }
    }

    fn of_panic(payload: &(dyn Any + Send)) -> Self {
        let text = payload.downcast_ref::<&str>().copied();
        let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
        let message = format!(
            "robosieve panicked, which is a bug: {}",
            text.unwrap_or("no message")
        );
        Self {
            status: robosieve_status::Panic,
            message,
        }
    }
}

impl From<Error> for Failure {
    fn from(err: Error) -> Self {
        let status = match err.kind() {
            ErrorKind::Io(_) => robosieve_status::Io,
            ErrorKind::NotASnapshot { .. } => robosieve_status::NotASnapshot,
            ErrorKind::UnsupportedVersion { .. } | ErrorKind::UnknownSection { .. } => {
                robosieve_status::UnsupportedVersion
            }
            ErrorKind::NotFilterLists { .. } => robosieve_status::NotFilterLists,
            ErrorKind::Corrupt { .. } | ErrorKind::DamagedLists { .. } => robosieve_status::Corrupt,
            ErrorKind::BadAgent { .. } => robosieve_status::BadAgent,
            ErrorKind::BadColumn(_) => robosieve_status::BadColumn,
            _ => robosieve_status::Other,
        };
        let advice = match err.remedy() {
            Some(Remedy::CompileLists) => "; the command `robosieve lists` compiles them",
            Some(Remedy::CompileArchives) => "; the command `robosieve compile` makes one",
            _ => "",
        };
        Self {
            status,
            message: format!("{err}{advice}"),
        }
    }
}

thread_local! {
    static LAST_ERROR: RefCell<CString> = RefCell::default();
}

/// Runs the body of a function. A failure or a panic becomes a status, and its message the thread's
/// last error.
pub(super) fn guard(body: impl FnOnce() -> Result<(), Failure>) -> robosieve_status {
    // A panic inside a judge drops the working memory of that call, so the judge stays usable.
    let failure = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(())) => return robosieve_status::Ok,
        Ok(Err(failure)) => failure,
        Err(payload) => Failure::of_panic(&*payload),
    };
    set_last_error(failure.message);
    failure.status
}

/// Runs the body of a function without a status; `on_panic` is its result after a panic.
pub(super) fn guard_value<T>(on_panic: T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or_else(|payload| {
        set_last_error(Failure::of_panic(&*payload).message);
        on_panic
    })
}

fn set_last_error(message: String) {
    let mut bytes = message.into_bytes();
    bytes.retain(|byte| *byte != 0);
    let message = CString::new(bytes).unwrap_or_default();
    // The message is lost if the thread is ending and has freed its variables.
    let _ = LAST_ERROR.try_with(|last| *last.borrow_mut() = message);
}

/// The message of the last error on this thread, in UTF-8: a sentence with the file, the cause and
/// the remedy. Empty before the first error; a success does not change it.
///
/// It belongs to the library, and is valid until the next call of the library on this thread. It
/// can contain text from inputs, so escape control characters before you print it to a terminal.
#[unsafe(no_mangle)]
pub extern "C" fn robosieve_last_error() -> *const c_char {
    LAST_ERROR
        .try_with(|last| last.borrow().as_ptr())
        .unwrap_or(c"".as_ptr())
}

const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    };

/// The version of the library, such as "0.1.0". It belongs to the library and is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn robosieve_version() -> *const c_char {
    VERSION.as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last_error() -> String {
        // SAFETY: the message ends with a NUL byte, and no call follows before it is copied.
        unsafe { CStr::from_ptr(robosieve_last_error()) }
            .to_str()
            .unwrap()
            .to_owned()
    }

    #[test]
    fn panics_become_a_status_and_a_message() {
        let formatted = guard(|| panic!("at place {}", 7));
        assert_eq!(
            (formatted, last_error().as_str()),
            (
                robosieve_status::Panic,
                "robosieve panicked, which is a bug: at place 7"
            )
        );
        let fixed = guard(|| panic!("here"));
        assert_eq!(
            (fixed, last_error().as_str()),
            (
                robosieve_status::Panic,
                "robosieve panicked, which is a bug: here"
            )
        );
        let other = guard(|| std::panic::panic_any(5));
        assert_eq!(
            (other, last_error().as_str()),
            (
                robosieve_status::Panic,
                "robosieve panicked, which is a bug: no message"
            )
        );
        assert_eq!(guard_value(3, || panic!("there")), 3);
        assert!(last_error().ends_with("there"));
    }

    #[test]
    fn messages_lose_nul_bytes_and_survive_success() {
        let failed = guard(|| Err(Failure::bad_argument("a\0b")));
        assert_eq!(
            (failed, last_error().as_str()),
            (robosieve_status::BadArgument, "ab")
        );
        assert_eq!(guard(|| Ok(())), robosieve_status::Ok);
        assert_eq!(guard_value(1, || 2), 2);
        assert_eq!(last_error(), "ab");
    }

    #[test]
    fn errors_of_the_library_have_a_status_each() {
        use robosieve_status::{
            BadAgent, BadColumn, Corrupt, Io, NotASnapshot, Other, UnsupportedVersion,
        };
        let bad_agent = ErrorKind::BadAgent {
            name: String::new(),
            what: String::new(),
        };
        for (kind, status) in [
            (ErrorKind::Io(std::io::ErrorKind::NotFound.into()), Io),
            (
                ErrorKind::NotASnapshot {
                    what: String::new(),
                },
                NotASnapshot,
            ),
            (
                ErrorKind::UnsupportedVersion {
                    found: 1,
                    supported: 2,
                },
                UnsupportedVersion,
            ),
            (
                ErrorKind::Corrupt {
                    what: String::new(),
                },
                Corrupt,
            ),
            (bad_agent, BadAgent),
            (ErrorKind::BadColumn(String::new()), BadColumn),
            (ErrorKind::TooLarge(String::new()), Other),
        ] {
            assert_eq!(Failure::from(Error::from(kind)).status, status);
        }
    }
}
