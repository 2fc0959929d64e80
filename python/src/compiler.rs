//! Compiles archives and captured responses into a snapshot.

use crate::errors::{detached, exception};
use pyo3::prelude::*;
use robosieve::Profile;
use std::sync::Mutex;

/// A compiler of robots.txt archives.
#[pyclass(frozen, module = "robosieve._native")]
pub(crate) struct Compiler {
    compiler: Mutex<Option<robosieve::Compiler>>,
}

#[pymethods]
impl Compiler {
    #[new]
    fn new(profile: &str) -> PyResult<Self> {
        let profiles = [("google", Profile::Google), ("rfc9309", Profile::Rfc9309)];
        let profile = crate::options::named("profile", profile, &profiles)?;
        Ok(Self { compiler: Mutex::new(Some(robosieve::Compiler::new(profile))) })
    }

    /// Adds archives: files and directories.
    fn add_paths(&self, py: Python<'_>, paths: Vec<std::path::PathBuf>) -> PyResult<()> {
        detached(py, || {
            let mut compiler = self.compiler.lock().unwrap();
            compiler.as_mut().unwrap().add_paths(&paths, &|_| {}).map_err(exception)
        })
    }
}
