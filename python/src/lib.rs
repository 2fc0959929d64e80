//! The native half of the Python package `robosieve`.
//!
//! The package has two halves. This one holds snapshots, reads and writes Arrow memory, and judges
//! without the interpreter's lock. The modules in `python/robosieve` are the public interface: they
//! check options, document them, and give results back in the caller's library. It also holds the
//! command `robosieve`.

#![deny(unsafe_code)]

#[expect(unsafe_code, reason = "Arrow's C interface is made of raw pointers")]
mod arrow_check;
#[expect(unsafe_code, reason = "Arrow's C interface is made of raw pointers")]
mod arrow_import;
mod column;
mod command;
mod compiler;
mod errors;
mod export;
mod files;
mod interrupt;
mod judging;
mod list_compiler;
mod lists;
mod options;
mod origins;
mod result_array;
mod result_table;
mod robots;
mod snapshot;
mod table;
mod times;
mod verification;

use pyo3::prelude::*;

/// The native half of the package `robosieve`.
#[pymodule]
mod _native {
    #[pymodule_export]
    use super::command::command;
    #[pymodule_export]
    use super::compiler::Compiler;
    #[pymodule_export]
    use super::errors::{RobosieveError, SnapshotError};
    #[pymodule_export]
    use super::export::{ExportedTable, export};
    #[pymodule_export]
    use super::files::{annotate, filter, filter_by_lists, name_after_input, name_of_annotations};
    #[pymodule_export]
    use super::list_compiler::ListTexts;
    #[pymodule_export]
    use super::lists::Lists;
    #[pymodule_export]
    use super::options::agents;
    #[pymodule_export]
    use super::origins::{origins, registered_domain};
    #[pymodule_export]
    use super::result_array::Array;
    #[pymodule_export]
    use super::result_table::Table;
    #[pymodule_export]
    use super::robots::{Robots, product_token, robots_of_response};
    #[pymodule_export]
    use super::snapshot::Snapshot;
    use pyo3::prelude::*;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
