//! Errors, and the exceptions that Java gets for them.

use jni::errors::{Error as JniError, ErrorPolicy};
use jni::strings::JNIString;
use jni::{Env, jni_str};
use robosieve::ErrorKind;
use std::any::Any;

/// Why a native method failed.
pub(crate) enum Failure {
    /// The library's error.
    Library(robosieve::Error),
    /// An argument has a value that is not possible.
    Argument(String),
    /// The object was closed.
    Closed,
    /// A call into the virtual machine failed, such as an allocation of an array.
    Java(JniError),
    /// The message of a panic is on standard error.
    Bug,
}

impl From<robosieve::Error> for Failure {
    fn from(err: robosieve::Error) -> Self {
        match err.kind() {
            ErrorKind::BadAgent { .. } | ErrorKind::BadColumn { .. } => {
                Self::Argument(err.to_string())
            }
            _ => Self::Library(err),
        }
    }
}

impl From<JniError> for Failure {
    fn from(err: JniError) -> Self {
        Self::Java(err)
    }
}

/// Throws the exception of a failure, and `RobosieveException` for a panic.
pub(crate) struct Throw;

impl<T: Default> ErrorPolicy<T, Failure> for Throw {
    type Captures<'frame: 'method, 'method> = ();

    fn on_error<'frame: 'method, 'method>(
        env: &mut Env<'frame>,
        (): &mut (),
        failure: Failure,
    ) -> jni::errors::Result<T> {
        let own = jni_str!("robosieve/RobosieveException");
        let illegal = jni_str!("java/lang/IllegalArgumentException");
        let closed = jni_str!("java/lang/IllegalStateException");
        let null = jni_str!("java/lang/NullPointerException");
        let (class, message) = match failure {
            Failure::Library(err) => (own, err.to_string()),
            Failure::Argument(what) => (illegal, what),
            Failure::Closed => (closed, "it is closed".to_owned()),
            Failure::Java(JniError::NullPtr(_)) => (null, "an argument is null".to_owned()),
            Failure::Java(err) => (own, err.to_string()),
            Failure::Bug => (
                own,
                "a bug, see standard error; please report it".to_owned(),
            ),
        };
        // A pending exception, such as that of a full heap, says more.
        if !env.exception_check() {
            // The result says that an exception is pending now, which is the purpose.
            let _ = env.throw_new(class, JNIString::new(message));
        }
        Ok(T::default())
    }

    fn on_panic<'frame: 'method, 'method>(
        env: &mut Env<'frame>,
        captures: &mut (),
        _payload: Box<dyn Any + Send + 'static>,
    ) -> jni::errors::Result<T> {
        Self::on_error(env, captures, Failure::Bug)
    }
}
