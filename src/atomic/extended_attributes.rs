//! Extended attributes of a file that is replaced, on Linux and macOS. On Linux, its access control
//! list is one of them.

use std::fs::File;
use std::path::Path;

/// The result of [`copy`].
#[derive(Debug)]
pub(super) struct ExtendedCopy {
    pub access: AccessList,
    /// The names of attributes that could not be set.
    pub lost: Vec<String>,
}

/// What happened to the access control list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AccessList {
    /// The old file has none.
    None,
    Kept,
    Lost,
}

/// The access control list of POSIX.
#[cfg(any(target_os = "linux", target_os = "macos"))]
const ACCESS_LIST: &[u8] = b"system.posix_acl_access";

/// Attributes that describe the content, and one that macOS sets by itself.
#[cfg(any(target_os = "linux", target_os = "macos"))]
const NOT_COPIED: &[&[u8]] = &[
    b"security.capability",
    b"security.ima",
    b"security.evm",
    b"com.apple.provenance",
];

/// The longest value, and the longest list of names, on Linux.
#[cfg(any(target_os = "linux", target_os = "macos"))]
const MAX_LEN: usize = 64 << 10;

/// Gives the file the extended attributes of the file at a path. If the group of the file is lost,
/// its access control list gets no permissions for a group.
#[cfg(any(target_os = "linux", target_os = "macos"))]
pub(super) fn copy(path: &Path, file: &File, is_group_lost: bool) -> ExtendedCopy {
    use rustix::buffer::spare_capacity;
    use rustix::fs::{XattrFlags, fgetxattr, fremovexattr, fsetxattr, lgetxattr, llistxattr};

    let mut copied = ExtendedCopy {
        access: AccessList::None,
        lost: Vec::new(),
    };
    let mut names = Vec::with_capacity(MAX_LEN);
    let mut old = Vec::with_capacity(MAX_LEN);
    let mut new = Vec::with_capacity(MAX_LEN);
    // A file system without attributes refuses the list.
    if llistxattr(path, spare_capacity(&mut names)).is_err() {
        return copied;
    }
    for name in names.split(|byte| *byte == 0) {
        if name.is_empty() || NOT_COPIED.contains(&name) {
            continue;
        }
        old.clear();
        new.clear();
        let is_read = lgetxattr(path, name, spare_capacity(&mut old)).is_ok();
        if name == ACCESS_LIST && is_group_lost {
            remove_group(&mut old);
        }
        let is_kept = is_read
            && (fgetxattr(file, name, spare_capacity(&mut new)).is_ok() && old == new
                || fsetxattr(file, name, &old, XattrFlags::empty()).is_ok());
        if name == ACCESS_LIST {
            copied.access = match is_kept {
                true => AccessList::Kept,
                false => AccessList::Lost,
            };
        }
        if !is_kept {
            let name = String::from_utf8_lossy(name).into_owned();
            copied.lost.push(name);
        }
    }
    if copied.access == AccessList::None {
        // The new file may have got one from its folder.
        let _ = fremovexattr(file, ACCESS_LIST);
    }
    copied
}

#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(super) fn copy(_: &Path, _: &File, _: bool) -> ExtendedCopy {
    ExtendedCopy {
        access: AccessList::None,
        lost: Vec::new(),
    }
}

/// Takes the permissions of the file's own group out of an access control list: a version, then
/// entries of a tag, permissions and a number (acl(5), `linux/posix_acl_xattr.h`).
#[cfg(any(target_os = "linux", target_os = "macos"))]
fn remove_group(list: &mut [u8]) {
    const VERSION_LEN: usize = 4;
    const GROUP_OBJ: [u8; 2] = 4_u16.to_le_bytes();
    let entries = list.get_mut(VERSION_LEN..).unwrap_or_default();
    for entry in entries.as_chunks_mut::<8>().0 {
        if entry[..2] == GROUP_OBJ {
            entry[2..4].fill(0);
        }
    }
}
