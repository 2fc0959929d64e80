//! The robots.txt files of a directory.

use crate::archive::dir::entries;
use crate::error::Result;
use std::path::{Path, PathBuf};

/// The robots.txt files of a directory; returned by [`robots_files`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RobotsFiles {
    /// The files, sorted by name; may be empty.
    pub files: Vec<PathBuf>,
    /// The number of other files.
    pub skipped: u64,
}

/// Lists the robots.txt files of a directory, without hidden files.
///
/// A directory with a file `robots.txt` is a site, and that file is the only one. In any other, the
/// files are those that [`Compiler::add_path`](crate::Compiler::add_path) accepts: they are named
/// `HOST`, `HOST_PORT` or `SCHEME_HOST_PORT`, and `.txt` may follow; a directory of such a name may
/// hold the file as `robots.txt`.
///
/// ```
/// let dir = tempfile::tempdir()?;
/// std::fs::write(dir.path().join("example.com"), "User-agent: *\n")?;
/// std::fs::write(dir.path().join("table.csv"), "")?;
/// let found = robosieve::lint::robots_files(dir.path())?;
/// assert_eq!((found.files.len(), found.skipped), (1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`ErrorKind::Io`](crate::ErrorKind::Io) if the directory cannot be read.
pub fn robots_files(dir: impl AsRef<Path>) -> Result<RobotsFiles> {
    let dir = dir.as_ref();
    let mut all = entries(dir).map_err(|err| err.at(dir))?;
    all.retain(|entry| !entry.path.is_dir());
    let count = all.len();
    let site = dir.join("robots.txt");
    let files: Vec<PathBuf> = match site.is_file() {
        true => vec![site],
        false => all
            .into_iter()
            .filter(|entry| entry.origins.is_some())
            .map(|entry| entry.path)
            .collect(),
    };
    let skipped = (count - files.len()) as u64;
    Ok(RobotsFiles { files, skipped })
}
