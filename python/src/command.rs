//! The command `robosieve` in the interpreter's process.

use pyo3::prelude::*;
use std::ffi::OsString;
use std::panic::catch_unwind;

/// The exit code of a Rust program that ends by a panic, after its message.
const PANICKED: u8 = 101;

/// Runs the command, and returns its exit code. The first argument is the name of the program.
///
/// It is called once in a process, which ends afterwards: it takes over signals and file
/// descriptors as a program of its own does, and uses none of Python's.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, arguments: Vec<OsString>) -> u8 {
    py.detach(|| {
        robosieve_cli::end_by_interrupt();
        catch_unwind(|| robosieve_cli::run(arguments)).map_or(PANICKED, |code| code.number())
    })
}
