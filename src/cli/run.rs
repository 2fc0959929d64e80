//! What `filter` and `annotate` share: inputs, and progress over them.

use super::parquet::open_stdin;
use super::progress::Progress;
use robosieve::Input;
use std::path::PathBuf;

/// The inputs, standard input where none is named. All are opened before any is read, so a missing one is told at once.
pub(crate) fn open_inputs(paths: &[PathBuf]) -> robosieve::Result<Vec<Input>> {
    if paths.is_empty() {
        return Ok(vec![open_stdin()]);
    }
    paths.iter().map(|path| if path.as_os_str() == "-" { Ok(open_stdin()) } else { Input::open(path) }).collect()
}

/// Progress over the bytes of all inputs, whose total is known if all are regular files.
pub(crate) fn input_progress(paths: &[PathBuf], quiet: bool) -> Progress {
    let length = |path: &PathBuf| std::fs::metadata(path).ok().filter(|meta| meta.is_file()).map(|meta| meta.len());
    let total = paths.iter().map(length).sum::<Option<u64>>().filter(|_| !paths.is_empty());
    Progress::bytes(total, quiet)
}
