//! Outputs appear whole, together or not at all, and replace only regular files.

use crate::atomic::fault_injection::{
    Feature, RecordedStep, fail_each_step, recorded, set_lacking,
};
use crate::atomic::*;
use std::collections::BTreeMap;
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

/// The outputs of [`write_four`]. The first and the third replace a file.
const OUTPUTS: [&str; 4] = ["old", "new", "sub/old", "sub/new"];

/// Writes four outputs to two folders, together.
fn write_four(dir: &Path) -> Result<()> {
    let mut files = Vec::new();
    for name in OUTPUTS {
        files.push(AtomicFile::create(&dir.join(name))?);
    }
    for file in &mut files {
        file.write_all(b"new")?;
    }
    commit_all(files)
}

/// A folder with the old files of [`write_four`].
fn folder_with_old_files() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("sub")).unwrap();
    write_old_files(dir.path());
    dir
}

/// Writes the old files of [`write_four`], and removes the others.
fn write_old_files(dir: &Path) {
    for name in OUTPUTS {
        let path = dir.join(name);
        match name.ends_with("old") {
            true => fs::write(path, "old").unwrap(),
            false => drop(fs::remove_file(path)),
        }
    }
}

/// The files in a folder and in its folder `sub`, with their contents.
fn contents(dir: &Path) -> BTreeMap<String, String> {
    let mut contents = BTreeMap::new();
    for folder in ["", "sub/"] {
        for entry in fs::read_dir(dir.join(folder)).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_file() {
                let name = format!("{folder}{}", entry.file_name().to_str().unwrap());
                contents.insert(name, fs::read_to_string(entry.path()).unwrap());
            }
        }
    }
    contents
}

fn all_new() -> BTreeMap<String, String> {
    OUTPUTS
        .map(|name| (name.to_owned(), "new".to_owned()))
        .into()
}

#[test]
fn outputs_appear_together_or_not_at_all() {
    for lacking in [&[][..], &[Feature::Exchange]] {
        set_lacking(lacking);
        let dir = folder_with_old_files();
        let before = contents(dir.path());
        let steps = fail_each_step(
            || {
                write_old_files(dir.path());
                write_four(dir.path())
            },
            |result| {
                let err = result.unwrap_err();
                let named = OUTPUTS.map(|name| dir.path().join(name));
                assert!(named.iter().any(|path| err.path() == Some(path)), "{err}");
                assert_eq!(contents(dir.path()), before, "{err}");
            },
        );
        let per_file = 4 * OUTPUTS.len() as u32;
        assert_eq!(
            steps,
            per_file + 2 + 2,
            "each file is created, written, synced and named, two get a temporary name, and two \
             folders are synced"
        );
        assert_eq!(contents(dir.path()), all_new());
    }
    set_lacking(&[]);
}

/// Where neither exchanges nor hard links exist, the error names the files with new content.
#[test]
fn files_that_cannot_be_put_back_are_named() {
    set_lacking(&[Feature::Exchange, Feature::HardLinks]);
    let dir = folder_with_old_files();
    let mut kept = 0;
    fail_each_step(
        || {
            write_old_files(dir.path());
            write_four(dir.path())
        },
        |result| {
            let err = result.unwrap_err().to_string();
            let found = contents(dir.path());
            for (name, content) in &found {
                let path = dir.path().join(name);
                let has_new = content == "new";
                kept += u32::from(has_new);
                let is_named = err
                    .split_once("could not be put back: ")
                    .is_some_and(|(_, files)| files.contains(path.to_str().unwrap()));
                assert_eq!(has_new, is_named, "{name}: {err}");
            }
            assert_eq!(found.len(), 2, "{err}");
        },
    );
    set_lacking(&[]);
    assert!(kept > 0);
    assert_eq!(contents(dir.path()), all_new());
}

/// A crash of the machine leaves no name without its bytes, and Ctrl-C comes before all names or
/// after them.
#[test]
fn files_are_on_disk_before_their_names_and_names_before_the_end() {
    let dir = folder_with_old_files();
    recorded();
    write_four(dir.path()).unwrap();
    let mut steps = recorded();
    steps.retain(|step| !matches!(step.step, Step::Create | Step::Write));
    let expected = [
        (Step::Sync, 4),
        (Step::Link, 2),
        (Step::Name, 4),
        (Step::SyncFolder, 2),
    ];
    let expected = expected
        .iter()
        .flat_map(|(step, count)| std::iter::repeat_n(*step, *count));
    assert!(steps.iter().map(|step| step.step).eq(expected), "{steps:?}");
    for RecordedStep {
        step,
        is_uninterrupted,
    } in steps
    {
        assert_eq!(is_uninterrupted, step != Step::Sync, "{step:?}");
    }
}

/// A condition that gives its answer after it has put another file in the place of the old one.
#[derive(Debug)]
struct ReplacedDuringCheck {
    is_refused: bool,
    replaced: Option<PathBuf>,
}

impl CommitCheck for ReplacedDuringCheck {
    fn check(&self, target: Option<&Path>) -> Result<()> {
        assert!(target.unwrap().ends_with("sub/old"));
        if let Some(path) = &self.replaced {
            let other = path.with_file_name("other");
            fs::write(&other, "other").unwrap();
            fs::rename(other, path).unwrap();
        }
        match self.is_refused {
            true => Err(Error::corrupt("refused")),
            false => Ok(()),
        }
    }
}

#[test]
fn checks_stop_all_outputs() {
    for (is_refused, is_replaced, old) in [
        (false, false, None),
        (true, false, Some("old")),
        // Another program replaces the file between the check and the exchange.
        (false, true, Some("other")),
    ] {
        let dir = folder_with_old_files();
        let mut before = contents(dir.path());
        let mut files = Vec::new();
        for name in OUTPUTS {
            let mut file = AtomicFile::create(&dir.path().join(name)).unwrap();
            file.write_all(b"new").unwrap();
            files.push(file);
        }
        let path = dir.path().join("sub/old");
        files[2].set_check(Box::new(ReplacedDuringCheck {
            is_refused,
            replaced: is_replaced.then(|| path.clone()),
        }));
        let committed = commit_all(files);
        let Some(old) = old else {
            committed.unwrap();
            assert_eq!(contents(dir.path()), all_new());
            continue;
        };
        before.insert("sub/old".to_owned(), old.to_owned());
        let err = committed.unwrap_err();
        if cfg!(any(target_os = "linux", target_os = "macos")) {
            assert_eq!(contents(dir.path()), before, "{err}");
        }
    }
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

    /// The names of descriptors are those in `/proc/*/fd` and `/dev/fd` only.
    #[test]
    fn files_with_a_number_as_their_name_are_replaced() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("fd")).unwrap();
        for name in ["2026", "1", "fd/1", "fd/9999"] {
            let path = dir.path().join(name);
            fs::write(&path, "old").unwrap();
            assert!(!AtomicFile::create(&path).unwrap().is_stream(), "{name}");
            write(&path, b"new").unwrap();
            assert_eq!(fs::read(&path).unwrap(), b"new", "{name}");
        }
    }

    /// As the shell of another terminal has them: `filter … > /proc/PID/fd/1`.
    #[cfg(target_os = "linux")]
    #[test]
    fn files_that_another_process_has_open_are_written_in_place() {
        use std::os::unix::fs::MetadataExt;
        use std::process::{Command, Stdio};
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("all");
        fs::write(&path, "before ").unwrap();
        let file = File::options().append(true).open(&path).unwrap();
        let before = file.metadata().unwrap();
        // It waits for its input, and writes to the file at last.
        let mut other = Command::new("cat")
            .stdin(Stdio::piped())
            .stdout(file)
            .spawn()
            .unwrap();
        let descriptor = PathBuf::from(format!("/proc/{}/fd/1", other.id()));
        let is_stream = AtomicFile::create(&descriptor).unwrap().is_stream();
        write(&descriptor, b"new ").unwrap();
        other.stdin.take().unwrap().write_all(b"after").unwrap();
        assert!(other.wait().unwrap().success());
        assert!(is_stream);
        assert_eq!(fs::read(&path).unwrap(), b"before new after");
        assert_eq!(fs::metadata(&path).unwrap().ino(), before.ino());
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

    /// The system refuses to sync these, so a call that is left out is noticed.
    #[test]
    fn syncs_reach_the_system() {
        let (_reader, writer) = io::pipe().unwrap();
        let pipe = File::from(std::os::fd::OwnedFd::from(writer));
        let err = steps::sync_file(&pipe).unwrap_err();
        assert_eq!(err.kind(), io::ErrorKind::InvalidInput);
        // A folder that cannot be synced alone is not an error.
        steps::sync_folder(&pipe).unwrap();
        #[cfg(target_os = "linux")]
        {
            use std::os::unix::fs::OpenOptionsExt;
            let flags = rustix::fs::OFlags::PATH.bits() as i32;
            let folder = File::options()
                .read(true)
                .custom_flags(flags)
                .open("/tmp")
                .unwrap();
            assert!(steps::sync_folder(&folder).is_err());
        }
    }

    /// The attributes of a file that a test can set: mode, and extended attributes on Linux.
    #[test]
    fn replaced_files_keep_their_attributes() {
        use std::os::unix::fs::{MetadataExt, PermissionsExt};
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("old");
        fs::write(&path, "old").unwrap();
        // Root may give a file to anybody.
        let is_given = std::os::unix::fs::chown(&path, Some(1234), Some(5678)).is_ok();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o2650)).unwrap();
        let before = fs::metadata(&path).unwrap();
        write(&path, b"new").unwrap();
        let after = fs::metadata(&path).unwrap();
        assert_ne!(after.ino(), before.ino());
        let attributes = |meta: &fs::Metadata| (meta.uid(), meta.gid(), meta.mode());
        assert_eq!(attributes(&after), attributes(&before));
        if is_given {
            assert_eq!((after.uid(), after.gid()), (1234, 5678));
        }

        // Those of the time of the commit, not of the creation.
        let mut file = AtomicFile::create(&path).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        file.write_all(b"newer").unwrap();
        file.commit().unwrap();
        assert_eq!(fs::metadata(&path).unwrap().mode() & 0o7777, 0o600);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn replaced_files_keep_their_extended_attributes() {
        use rustix::fs::{XattrFlags, getxattr, setxattr};
        const LIST: &str = "system.posix_acl_access";
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("old");
        fs::write(&path, "old").unwrap();
        // Version 2; the owner rw, user 33 r, the group none, the mask r, others none.
        let entry = |tag: u16, access: u16, number: u32| {
            let mut entry = [tag.to_le_bytes(), access.to_le_bytes()].concat();
            entry.extend(number.to_le_bytes());
            entry
        };
        let none = u32::MAX;
        let list = [
            2_u32.to_le_bytes().to_vec(),
            entry(1, 6, none),
            entry(2, 4, 33),
            entry(4, 0, none),
            entry(0x10, 4, none),
            entry(0x20, 0, none),
        ]
        .concat();
        for (name, value) in [("user.origin", b"cms".as_slice()), (LIST, &list)] {
            // Some file systems have no such attribute.
            if setxattr(&path, name, value, XattrFlags::empty()).is_err() {
                continue;
            }
            write(&path, b"new").unwrap();
            let mut found = vec![0; 1000];
            let len = getxattr(&path, name, &mut found[..]).unwrap();
            assert_eq!(&found[..len], value, "{name}");
        }
        // A file without a list gets none from its folder.
        let file = dir.path().join("plain");
        fs::write(&file, "old").unwrap();
        if setxattr(
            dir.path(),
            "system.posix_acl_default",
            &list,
            XattrFlags::empty(),
        )
        .is_ok()
        {
            write(&file, b"new").unwrap();
            let mut found = [0; 1000];
            assert!(getxattr(&file, LIST, &mut found[..]).is_err());
            write(&dir.path().join("created"), b"new").unwrap();
            getxattr(dir.path().join("created"), LIST, &mut found[..]).unwrap();
        }
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
