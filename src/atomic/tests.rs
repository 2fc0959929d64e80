//! Outputs appear whole, together or not at all, and replace only regular files.

use crate::atomic::fault_injection::fail_each_step;
use crate::atomic::*;
use std::fs;

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.write_all(bytes)?;
    file.commit()
}

#[test]
fn nothing_appears_before_the_commit() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("out");
    let mut file = AtomicFile::create(&path).unwrap();
    file.write_all(b"new").unwrap();
    assert!(!path.exists());
    file.commit().unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    drop(AtomicFile::create(&path).unwrap());
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(
        fs::read_dir(&dir).unwrap().count(),
        1,
        "no temporary file stays"
    );
}

#[test]
fn invalid_paths_are_rejected() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    for (name, cause) in [
        (".", "it is a directory"),
        ("", "it has no name"),
        ("no/such", "there is no folder"),
        ("new/", "is a directory; name a file"),
        ("file/x", "Not a directory"),
    ] {
        let path = if name.is_empty() {
            PathBuf::new()
        } else {
            dir.path().join(name)
        };
        let err = AtomicFile::create(&path).unwrap_err().to_string();
        assert!(err.contains(cause) && err.contains(name), "{name}: {err}");
    }
}

/// Writes three outputs; the first replaces a file.
fn write_three(dir: &Path) -> Result<()> {
    let mut files = Vec::new();
    for name in ["old", "b", "c"] {
        files.push(AtomicFile::create(&dir.join(name))?);
    }
    for file in &mut files {
        file.write_all(b"new")?;
    }
    commit_all(files)
}

#[test]
fn files_appear_together_or_not_at_all() {
    let dir = tempfile::tempdir().unwrap();
    let mut failed = 0;
    let steps = fail_each_step(
        || {
            fs::write(dir.path().join("old"), "old").unwrap();
            write_three(dir.path())
        },
        |result| {
            let err = result.unwrap_err();
            failed += 1;
            assert!(
                ["old", "b", "c"]
                    .iter()
                    .any(|name| err.path() == Some(&dir.path().join(name))),
                "{err}"
            );
            let names: Vec<_> = fs::read_dir(&dir)
                .unwrap()
                .map(|entry| entry.unwrap().file_name())
                .collect();
            assert_eq!(names, ["old"], "{err}");
            // The last two failures are renames after that of the first file, which cannot be taken
            // back.
            let expected = if failed > 3 * 3 + 1 { b"new" } else { b"old" };
            assert_eq!(fs::read(dir.path().join("old")).unwrap(), expected, "{err}");
        },
    );
    assert_eq!(
        steps,
        3 * 4,
        "each file is created, written, synced and renamed"
    );
    for name in ["old", "b", "c"] {
        assert_eq!(fs::read(dir.path().join(name)).unwrap(), b"new");
    }
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 3);
}

#[test]
fn a_new_directory_in_the_way_stops_the_commit() {
    let dir = tempfile::tempdir().unwrap();
    let files = ["a", "b"].map(|name| AtomicFile::create(&dir.path().join(name)).unwrap());
    fs::create_dir(dir.path().join("b")).unwrap();
    let err = commit_all(files).unwrap_err();
    assert_eq!(err.path(), Some(dir.path().join("b").as_path()));
    assert_eq!(fs::read_dir(&dir).unwrap().count(), 1);
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::io::Read;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::symlink;

    #[test]
    fn symbolic_links_are_kept_and_followed() {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("real"), "old").unwrap();
        symlink(at("real"), at("link")).unwrap();
        fs::create_dir(at("sub")).unwrap();
        symlink("sub/new", at("dangling")).unwrap();
        symlink("dangling", at("chain")).unwrap();
        for (link, real) in [
            ("link", "real"),
            ("chain", "sub/new"),
            ("dangling", "sub/new"),
        ] {
            write(&at(link), link.as_bytes()).unwrap();
            assert!(
                at(link).is_symlink() && at("dangling").is_symlink(),
                "{link}"
            );
            assert!(!at(real).is_symlink(), "{link}");
            assert_eq!(fs::read(at(real)).unwrap(), link.as_bytes());
        }
        symlink("loop", at("loop")).unwrap();
        assert!(AtomicFile::create(&at("loop")).is_err());
        symlink("no/such", at("nowhere")).unwrap();
        let err = AtomicFile::create(&at("nowhere")).unwrap_err().to_string();
        assert!(err.contains("there is no folder"), "{err}");
    }

    #[test]
    fn open_files_are_written_in_place() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("all");
        let mut shared = File::options()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&path)
            .unwrap();
        shared.write_all(b"before ").unwrap();
        let descriptor = shared.as_raw_fd();
        let link = dir.path().join("link");
        symlink(format!("/dev/fd/{descriptor}"), &link).unwrap();
        let mut expected = b"before ".to_vec();
        let mut paths = vec![PathBuf::from(format!("/dev/fd/{descriptor}")), link];
        if cfg!(target_os = "linux") {
            paths.push(format!("/proc/self/fd/{descriptor}").into());
            paths.push(format!("/proc/{}/fd/{descriptor}", std::process::id()).into());
        }
        for path in paths {
            assert!(AtomicFile::create(&path).unwrap().is_stream());
            write(&path, b"new ").unwrap();
            shared.write_all(b"after ").unwrap();
            expected.extend_from_slice(b"new after ");
        }
        assert_eq!(fs::read(&path).unwrap(), expected);
        assert!(
            AtomicFile::create(Path::new("/dev/fd/9999")).is_err(),
            "no such descriptor"
        );
    }

    #[test]
    fn pipes_are_written_in_place() {
        let (mut reader, writer) = io::pipe().unwrap();
        write(
            Path::new(&format!("/dev/fd/{}", writer.as_raw_fd())),
            b"new",
        )
        .unwrap();
        drop(writer);
        let mut all = Vec::new();
        reader.read_to_end(&mut all).unwrap();
        assert_eq!(all, b"new");
    }

    #[test]
    fn errors_name_the_output_and_the_cause() {
        let err = write(Path::new("/dev/full"), b"new").unwrap_err();
        if cfg!(target_os = "linux") {
            assert_eq!(
                err.to_string(),
                "/dev/full: No space left on device (os error 28)"
            );
        }
        let err: Error = io::Error::from_raw_os_error(24).into();
        assert!(err.to_string().contains("ulimit -n"), "{err}");
    }
}
