//! Replaced files keep their owner, group, permissions and access control lists; what cannot be kept
//! opens the file to nobody, and gives a warning.

use crate::command::assert_has;
use crate::test_dir::TestDir;
use std::fs::{self, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// A user and groups that need not exist.
const USER: u32 = 54_321;
const OWN_GROUP: u32 = 54_321;
const SERVER_GROUP: u32 = 33_333;

/// The attributes of `robots.txt`.
#[derive(Debug, PartialEq, Eq)]
struct Attributes {
    user: u32,
    group: u32,
    mode: u32,
}

fn attributes(dir: &TestDir) -> Attributes {
    let meta = fs::metadata(dir.path("robots.txt")).unwrap();
    Attributes {
        user: meta.uid(),
        group: meta.gid(),
        mode: meta.mode() & 0o7777,
    }
}

/// Writes a robots.txt that `lint --fix` mends, of these attributes. `false` without the permission
/// to give files away.
fn write_robots(dir: &TestDir, attributes: &Attributes) -> bool {
    dir.write("robots.txt", "user-agent: *\nDisallow: /x\nDisallow: /x\n");
    let path = dir.path("robots.txt");
    let is_given = chown(&path, Some(attributes.user), Some(attributes.group)).is_ok();
    fs::set_permissions(&path, Permissions::from_mode(attributes.mode)).unwrap();
    is_given
}

/// Mends the file as a user with one group. Returns the standard error.
fn fix_as(dir: &TestDir, user: u32, group: u32) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_robosieve"));
    command
        .args(["lint", "--fix", "-q", "robots.txt"])
        .current_dir(dir.root())
        .uid(user)
        .gid(group);
    let out = command.output().unwrap();
    let stderr = String::from_utf8(out.stderr).unwrap();
    assert!(out.status.success(), "{stderr}");
    assert_eq!(dir.read("robots.txt"), b"user-agent: *\nDisallow: /x\n");
    stderr
}

#[test]
fn replaced_files_keep_owner_group_and_mode() {
    let dir = TestDir::new();
    // The web server reads it by its group, and answers 403 if it cannot.
    let before = Attributes {
        user: USER,
        group: SERVER_GROUP,
        mode: 0o640,
    };
    if !write_robots(&dir, &before) {
        println!("SKIPPED: only root can give files away");
        return;
    }
    assert_eq!(fix_as(&dir, 0, 0), "");
    assert_eq!(attributes(&dir), before);
}

#[test]
fn a_group_that_cannot_be_kept_is_told_and_opens_nothing() {
    let dir = TestDir::new();
    fs::set_permissions(dir.root(), Permissions::from_mode(0o777)).unwrap();
    for (mode, expected) in [(0o640, 0o600), (0o664, 0o604), (0o2755, 0o705)] {
        let before = Attributes {
            user: USER,
            group: SERVER_GROUP,
            mode,
        };
        if !write_robots(&dir, &before) {
            println!("SKIPPED: only root can give files away");
            return;
        }
        let stderr = fix_as(&dir, USER, OWN_GROUP);
        let expected_message = format!(
            "robosieve: warning: robots.txt: the new file cannot keep its group ({SERVER_GROUP}), so \
             it has no permissions for a group; check that its readers can open it, or run as a user \
             who may set this\n"
        );
        assert_eq!(stderr, expected_message);
        assert_eq!(
            attributes(&dir),
            Attributes {
                user: USER,
                group: OWN_GROUP,
                mode: expected,
            }
        );
    }
    // Another user may replace a file in the folder, and becomes its owner.
    let before = Attributes {
        user: 1,
        group: OWN_GROUP,
        mode: 0o4644,
    };
    write_robots(&dir, &before);
    let stderr = fix_as(&dir, USER, OWN_GROUP);
    assert_has(&stderr, "cannot keep its owner (user 1);");
    assert_eq!(
        attributes(&dir),
        Attributes {
            user: USER,
            group: OWN_GROUP,
            mode: 0o644,
        }
    );
}
