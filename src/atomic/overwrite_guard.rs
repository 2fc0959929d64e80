//! Refuses outputs that would overwrite an input or another output.
//!
//! Files are compared by device and inode on Unix: one file may have many names (links, `./`,
//! `/dev/stdin`), and standard input has none. An output that does not exist yet is compared by its
//! future path. This is known only if the missing part of the path is plain names: `..` and dangling
//! links there lead to other places once a folder is created, so they are refused.
//!
//! The crate `same-file` keeps a file open for each handle, and a run with `--out-dir` has hundreds
//! of thousands.

use crate::atomic::output_path::{folder_of, follow_links, is_standard_stream};
use crate::error::{Error, ErrorKind, Result};
use std::collections::HashMap;
use std::fs::{self, Metadata};
use std::path::{Component, Path, PathBuf};

/// The name of standard input in messages.
const STDIN: &str = "standard input";

/// The name of standard output in messages.
const STDOUT: &str = "standard output";

/// Refuses outputs that are the same file as an input or as another output.
///
/// [`OutputFile`](crate::output::OutputFile) replaces an existing file, even one that the run
/// reads. To prevent that, add all inputs, then all outputs, and only then create the outputs. The
/// guard compares files, not names: on Unix by device and inode, so it recognises links, `./` and
/// redirected standard streams; elsewhere by canonical path. An output that does not exist yet is
/// compared by its future path. Devices and sockets, such as `/dev/null`, may be named repeatedly.
///
/// Errors contain the names that the caller gives to inputs and outputs, such as its options or
/// arguments. The guard writes nothing, and it does not prevent changes by other programs. Cost: a
/// few system calls per path.
///
/// ```
/// # let dir = tempfile::tempdir()?;
/// # let path = |name: &str| dir.path().join(name);
/// use robosieve::ErrorKind;
/// use robosieve::output::OverwriteGuard;
/// std::fs::write(path("urls.txt"), "https://e.example/\n")?;
///
/// let mut guard = OverwriteGuard::new().add_inputs("an input", [path("urls.txt")]);
/// guard.add_output("kept", path("kept.txt"))?;
/// let err = guard.add_output("refused", path(".").join("urls.txt")).unwrap_err();
/// assert!(err.to_string().contains("the output of refused is the same file as an input"));
/// assert!(matches!(err.kind(), ErrorKind::OverwritesInput { output, .. } if output == "refused"));
/// let err = guard.add_output("refused", path("kept.txt")).unwrap_err();
/// assert!(matches!(err.kind(), ErrorKind::SameOutput { first, .. } if first == "kept"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct OverwriteGuard {
    inputs: HashMap<FileIdentity, String>,
    outputs: HashMap<FileIdentity, String>,
    /// The folders of outputs that do not exist yet, and their paths without links. Runs with an
    /// output per input have many files in few folders.
    folders: HashMap<PathBuf, PathBuf>,
}

/// A key that is equal for two paths of the same file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum FileIdentity {
    #[cfg(unix)]
    Inode(u64, u64),
    Path(PathBuf),
    /// Standard output on a terminal or another device.
    Stdout,
}

impl OverwriteGuard {
    /// A guard without files.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds files that the run reads; `-` is standard input. `name` is their role in errors, such
    /// as `an input`. A directory stands for the files in it, and for the `robots.txt` of each
    /// directory in it. A path without a file is ignored.
    pub fn add_inputs<P: AsRef<Path>>(
        mut self,
        name: &str,
        paths: impl IntoIterator<Item = P>,
    ) -> Self {
        for path in paths {
            let path = path.as_ref();
            self = self.add_inputs(name, files_of(path));
            let is_stdin = is_standard_stream(path);
            let identity = if is_stdin {
                standard_stream(std::io::stdin())
            } else {
                existing(path)
            };
            if let Some(identity) = identity {
                let shown = if is_stdin {
                    STDIN.to_owned()
                } else {
                    path.display().to_string()
                };
                self.inputs.insert(identity, format!("{name} ({shown})"));
            }
        }
        self
    }

    /// Adds a file that the run writes; `-` has no special meaning. `name` is its name in errors,
    /// such as the option or argument that has the path. Neither the file nor its folder need
    /// exist.
    ///
    /// # Errors
    /// [`ErrorKind::OverwritesInput`] if it is an input that was added earlier,
    /// [`ErrorKind::SameOutput`] if it is an output that was added earlier,
    /// [`ErrorKind::BadOutput`] if its path has `..` after a folder that does not exist, or a folder
    /// that is a dangling link: the file that it means depends on folders that are yet to be created.
    pub fn add_output(&mut self, name: &str, path: impl AsRef<Path>) -> Result<()> {
        let path = path.as_ref();
        let identity = match fs::metadata(path) {
            Ok(meta) => existing_with(path, &meta),
            Err(_) => Some(FileIdentity::Path(
                self.future_path(path).map_err(|err| err.at(path))?,
            )),
        };
        self.add(name, path, identity)
    }

    /// Adds standard output as an output. On a terminal or another device, it can be added once, as
    /// two outputs would mix there.
    ///
    /// # Errors
    /// As [`add_output`](Self::add_output). The path of the error is `standard output`.
    pub fn add_stdout(&mut self, name: &str) -> Result<()> {
        let identity = standard_stream(std::io::stdout()).unwrap_or(FileIdentity::Stdout);
        self.add(name, Path::new(STDOUT), Some(identity))
    }

    fn add(&mut self, name: &str, path: &Path, identity: Option<FileIdentity>) -> Result<()> {
        let Some(identity) = identity else {
            return Ok(());
        };
        if let Some(input) = self.inputs.get(&identity) {
            let kind = ErrorKind::OverwritesInput {
                output: name.to_owned(),
                input: input.clone(),
            };
            return Err(Error::from(kind).at(path));
        }
        if let Some(first) = self.outputs.get(&identity) {
            let kind = ErrorKind::SameOutput {
                first: first.clone(),
                second: name.to_owned(),
            };
            return Err(Error::from(kind).at(path));
        }
        self.outputs.insert(identity, name.to_owned());
        Ok(())
    }

    /// The absolute path, without links, of a file that does not exist yet. Writing to a dangling
    /// link creates its target.
    fn future_path(&mut self, path: &Path) -> Result<PathBuf> {
        // A cycle of links cannot be opened anyway, so any path is right for it.
        let target = follow_links(path).unwrap_or_else(|_| path.to_owned());
        // A path that ends in `..` has no name, and is a folder as a whole.
        let Some(name) = target.file_name() else {
            return future_folder(&target);
        };
        let folder = folder_of(&target);
        if !self.folders.contains_key(folder) {
            self.folders
                .insert(folder.to_owned(), future_folder(folder)?);
        }
        Ok(self.folders[folder].join(name))
    }
}

/// The path of a folder without links: that of its deepest ancestor that exists, and the rest as
/// written.
fn future_folder(folder: &Path) -> Result<PathBuf> {
    for ancestor in folder.ancestors() {
        let existing = if ancestor.as_os_str().is_empty() {
            Path::new(".")
        } else {
            ancestor
        };
        if let (Ok(real), Ok(missing)) = (existing.canonicalize(), folder.strip_prefix(ancestor)) {
            refuse_unknown_place(existing, missing)?;
            return Ok(real.join(missing));
        }
    }
    Ok(folder.to_owned())
}

/// Refuses a missing part of a path that means another place when its folders exist. `..` after a
/// folder that does not exist cannot be resolved, and a dangling link leads somewhere as soon as its
/// target is created. Without this, `--out-dir gone/../crawl` would replace the files of `crawl`:
/// its path differs from theirs until `gone` is created.
fn refuse_unknown_place(existing: &Path, missing: &Path) -> Result<()> {
    let Some(first) = missing.components().next() else {
        return Ok(());
    };
    let first = existing.join(first);
    let what = if missing
        .components()
        .any(|part| part == Component::ParentDir)
    {
        "`..` follows a folder that does not exist; write the path without `..`".to_owned()
    } else if first.is_symlink() {
        format!(
            "{} is a link to a folder that does not exist; create the folder, or name another",
            first.display()
        )
    } else {
        return Ok(());
    };
    Err(ErrorKind::BadOutput(what).into())
}

/// The files that a directory stands for as an input; none if it is not one.
fn files_of(path: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    let files = entries.map(|entry| match entry.path() {
        dir if dir.is_dir() => dir.join("robots.txt"),
        file => file,
    });
    files.filter(|file| file.is_file()).collect()
}

fn existing(path: &Path) -> Option<FileIdentity> {
    existing_with(path, &fs::metadata(path).ok()?)
}

#[cfg(unix)]
fn existing_with(_: &Path, meta: &Metadata) -> Option<FileIdentity> {
    identity(meta)
}

#[cfg(not(unix))]
fn existing_with(path: &Path, _: &Metadata) -> Option<FileIdentity> {
    path.canonicalize().ok().map(FileIdentity::Path)
}

/// The identity of an existing file; `None` for devices (`/dev/null`, a terminal) and sockets,
/// which may be read and written at once.
#[cfg(unix)]
fn identity(meta: &Metadata) -> Option<FileIdentity> {
    use std::os::unix::fs::{FileTypeExt, MetadataExt};
    let kind = meta.file_type();
    let is_shared = kind.is_char_device() || kind.is_socket();
    (!is_shared).then(|| FileIdentity::Inode(meta.dev(), meta.ino()))
}

#[cfg(unix)]
fn standard_stream(stream: impl std::os::fd::AsFd) -> Option<FileIdentity> {
    let file = fs::File::from(stream.as_fd().try_clone_to_owned().ok()?);
    identity(&file.metadata().ok()?)
}

#[cfg(not(unix))]
fn standard_stream<T>(_: T) -> Option<FileIdentity> {
    None
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    /// A folder with the file `file`, links to it, and links to folders that exist and do not.
    fn folder() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), "").unwrap();
        fs::hard_link(at("file"), at("hard")).unwrap();
        symlink("file", at("soft")).unwrap();
        symlink("new", at("dangling")).unwrap();
        fs::create_dir(at("sub")).unwrap();
        symlink("sub", at("link")).unwrap();
        symlink("loop", at("loop")).unwrap();
        dir
    }

    #[test]
    fn inputs_are_recognised_by_all_their_names() {
        let dir = folder();
        for name in [
            "file",
            "hard",
            "soft",
            "./file",
            "sub/../file",
            "link/../soft",
        ] {
            let mut guard = OverwriteGuard::new().add_inputs("an input", [dir.path().join("file")]);
            let path = dir.path().join(name);
            let err = guard.add_output("-o", &path).unwrap_err();
            assert_eq!(err.path(), Some(path.as_path()));
            let input = format!("an input ({})", dir.path().join("file").display());
            assert_eq!(
                err.to_string(),
                format!(
                    "{}: would be overwritten while it is read: the output of -o is the same file \
                     as {input}",
                    path.display()
                )
            );
        }
    }

    #[test]
    fn directories_stand_for_their_files() {
        let dir = folder();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("sub/robots.txt"), "").unwrap();
        fs::write(at("sub/other"), "").unwrap();
        let mut guard = OverwriteGuard::new().add_inputs("an input", [dir.path()]);
        for name in ["file", "hard", "soft", "sub/robots.txt", "link/robots.txt"] {
            let err = guard.add_output("-o", at(name)).unwrap_err();
            assert!(err.to_string().contains("an input"), "{err}");
        }
        for name in ["new", "sub/other"] {
            guard.add_output("-o", at(name)).unwrap();
        }
    }

    #[test]
    fn outputs_are_recognised_before_they_exist() {
        let dir = folder();
        for (first, second, is_same) in [
            ("new", "new", true),
            ("new", "dangling", true),
            ("sub/new", "link/new", true),
            ("sub/a/b/new", "link/a/b/new", true),
            ("loop", "loop", true),
            ("file", "hard", true),
            ("sub", "link", true),
            ("new", "sub/new", false),
            ("sub/a/new", "sub/b/new", false),
            ("new/x", "new/y", false),
        ] {
            let mut guard = OverwriteGuard::new();
            guard.add_output("a", dir.path().join(first)).unwrap();
            let path = dir.path().join(second);
            let added = guard.add_output("b", &path).map_err(|err| err.to_string());
            let refused = format!(
                "{}: named for two outputs, a and b; give each one of its own",
                path.display()
            );
            assert_eq!(
                added,
                if is_same { Err(refused) } else { Ok(()) },
                "{first} {second}"
            );
        }
    }

    #[test]
    fn places_that_depend_on_missing_folders_are_refused() {
        let dir = folder();
        let dots = "`..` follows a folder that does not exist; write the path without `..`";
        let link = format!(
            "{} is a link to a folder that does not exist; create the folder, or name another",
            dir.path().join("dangling").display()
        );
        symlink("gone/../file", dir.path().join("dots")).unwrap();
        for (name, reason) in [
            ("gone/../file", dots),
            ("gone/../sub/new", dots),
            ("gone/..", dots),
            ("sub/gone/sub/..", dots),
            ("sub/gone/../../new", dots),
            ("dangling/../file", dots),
            ("dots", dots),
            ("dangling/file", &link),
            ("dangling/a/file", &link),
        ] {
            let path = dir.path().join(name);
            let added = OverwriteGuard::new().add_output("a", &path);
            let expected = format!("{}: cannot be an output: {reason}", path.display());
            assert_eq!(added.unwrap_err().to_string(), expected, "{name}");
        }
        for name in ["sub/../new", "link/../new", "sub/..", "sub/gone/./new"] {
            let path = dir.path().join(name);
            OverwriteGuard::new().add_output("a", path).unwrap();
        }
    }

    #[test]
    fn missing_inputs_and_devices_refuse_nothing() {
        let dir = folder();
        let null = Path::new("/dev/null");
        let mut guard =
            OverwriteGuard::new().add_inputs("an input", [null, &dir.path().join("new")]);
        guard.add_output("a", null).unwrap();
        guard.add_output("b", null).unwrap();
        guard.add_output("c", dir.path().join("new")).unwrap();
    }

    #[test]
    fn standard_output_is_added_once() {
        let mut guard = OverwriteGuard::new();
        guard.add_stdout("a").unwrap();
        let err = guard.add_stdout("b").unwrap_err().to_string();
        assert_eq!(
            err,
            "standard output: named for two outputs, a and b; give each one of its own"
        );
    }
}
