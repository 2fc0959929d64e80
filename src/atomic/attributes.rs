//! Attributes of a file that is replaced: owner, group, permissions and extended attributes, among
//! them access control lists. A rename gives the name to another file, which has its own.
//!
//! A robots.txt of mode 640 that belongs to the group of a web server must stay readable for it: the
//! server answers 403 otherwise, which crawlers read as "everything is allowed". An attribute that
//! cannot be kept must not open the file to others, so the permissions that depend on it are
//! dropped.

use std::fmt;
use std::fs::File;
use std::io;
use std::path::Path;

/// What a new file cannot keep of the file that it replaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LostAttributes {
    /// The number of the owner.
    owner: Option<u32>,
    /// The number of the group.
    group: Option<u32>,
    /// The names of extended attributes.
    extended: Vec<String>,
}

impl LostAttributes {
    pub(super) fn is_empty(&self) -> bool {
        self.owner.is_none() && self.group.is_none() && self.extended.is_empty()
    }
}

impl fmt::Display for LostAttributes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lost = Vec::new();
        lost.extend(
            self.owner
                .map(|number| format!("its owner (user {number})")),
        );
        lost.extend(self.group.map(|number| format!("its group ({number})")));
        lost.extend(
            self.extended
                .iter()
                .map(|name| format!("its attribute {name}")),
        );
        write!(f, "the new file cannot keep {}", lost.join(" and "))?;
        if self.group.is_some() {
            f.write_str(", so it has no permissions for a group")?;
        }
        f.write_str("; check that its readers can open it, or run as a user who may set this")
    }
}

/// Gives `file` the attributes of the file at `path`, as far as the process may. Without a regular
/// file there, it does nothing.
///
/// # Errors
/// Errors of the operating system when the permissions are set.
#[cfg(unix)]
pub(super) fn copy(path: &Path, file: &File) -> io::Result<LostAttributes> {
    use std::fs::Permissions;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};

    /// The bits that run a program as the owner or the group of its file.
    const SET_USER: u32 = 0o4000;
    const SET_GROUP: u32 = 0o2000;
    const GROUP: u32 = 0o070;

    let mut lost = LostAttributes::default();
    let old = match path.symlink_metadata() {
        Ok(old) if old.is_file() => old,
        _ => return Ok(lost),
    };
    let new = file.metadata()?;
    let is_same = (old.uid(), old.gid()) == (new.uid(), new.gid());
    // Only root may give a file away, but an owner may choose among their groups.
    if !is_same && fchown(file, Some(old.uid()), Some(old.gid())).is_err() {
        lost.owner = (old.uid() != new.uid()).then_some(old.uid());
        if old.gid() != new.gid() && fchown(file, None, Some(old.gid())).is_err() {
            lost.group = Some(old.gid());
        }
    }
    let access = extended::copy(path, file, &mut lost);
    let mut mode = old.mode() & 0o7777;
    if lost.owner.is_some() {
        mode &= !SET_USER;
    }
    if lost.group.is_some() {
        mode &= !SET_GROUP;
    }
    // With an access control list, these bits are not those of the group. They limit all entries.
    let drops_group = match access {
        extended::AccessList::None => lost.group.is_some(),
        extended::AccessList::Kept => false,
        extended::AccessList::Lost => true,
    };
    if drops_group {
        mode &= !GROUP;
    }
    // Changing the owner clears bits, so the mode comes last.
    file.set_permissions(Permissions::from_mode(mode))?;
    Ok(lost)
}

#[cfg(not(unix))]
pub(super) fn copy(path: &Path, file: &File) -> io::Result<LostAttributes> {
    if let Ok(old) = path.metadata() {
        file.set_permissions(old.permissions())?;
    }
    Ok(LostAttributes::default())
}

/// Extended attributes, on systems that have them.
#[cfg(unix)]
mod extended {
    use super::LostAttributes;
    use std::fs::File;
    use std::path::Path;

    /// What happened to the access control list.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub(super) enum AccessList {
        /// The old file has none.
        None,
        Kept,
        Lost,
    }

    #[cfg(not(any(target_os = "linux", target_os = "macos")))]
    pub(super) fn copy(_: &Path, _: &File, _: &mut LostAttributes) -> AccessList {
        AccessList::None
    }

    #[cfg(any(target_os = "linux", target_os = "macos"))]
    pub(super) use system::copy;

    #[cfg(any(target_os = "linux", target_os = "macos"))]
    mod system {
        use super::{AccessList, File, LostAttributes, Path};
        use rustix::buffer::spare_capacity;
        use rustix::fs::{XattrFlags, fgetxattr, fremovexattr, fsetxattr, lgetxattr, llistxattr};

        /// The access control list of POSIX.
        const ACCESS_LIST: &[u8] = b"system.posix_acl_access";

        /// Attributes that describe the content, and one that macOS sets by itself.
        const NOT_COPIED: &[&[u8]] = &[
            b"security.capability",
            b"security.ima",
            b"security.evm",
            b"com.apple.provenance",
        ];

        /// The longest value, and the longest list of names, on Linux.
        const MAX_LEN: usize = 64 << 10;

        /// Gives the file the extended attributes of the file at a path. Each that differs and
        /// cannot be set is lost.
        pub(in super::super) fn copy(
            path: &Path,
            file: &File,
            lost: &mut LostAttributes,
        ) -> AccessList {
            let mut names = Vec::with_capacity(MAX_LEN);
            let mut old = Vec::with_capacity(MAX_LEN);
            let mut new = Vec::with_capacity(MAX_LEN);
            // A file system without attributes refuses the list.
            if llistxattr(path, spare_capacity(&mut names)).is_err() {
                return AccessList::None;
            }
            let mut access = AccessList::None;
            for name in names.split(|byte| *byte == 0) {
                if name.is_empty() || NOT_COPIED.contains(&name) {
                    continue;
                }
                old.clear();
                new.clear();
                let is_read = lgetxattr(path, name, spare_capacity(&mut old)).is_ok();
                if name == ACCESS_LIST && lost.group.is_some() {
                    without_group(&mut old);
                }
                let is_kept = is_read
                    && (fgetxattr(file, name, spare_capacity(&mut new)).is_ok() && old == new
                        || fsetxattr(file, name, &old, XattrFlags::empty()).is_ok());
                if name == ACCESS_LIST {
                    access = match is_kept {
                        true => AccessList::Kept,
                        false => AccessList::Lost,
                    };
                }
                if !is_kept {
                    let name = String::from_utf8_lossy(name).into_owned();
                    lost.extended.push(name);
                }
            }
            if access == AccessList::None {
                // The new file may have got one from its folder.
                let _ = fremovexattr(file, ACCESS_LIST);
            }
            access
        }

        /// Takes the permissions of the file's own group out of an access control list: a version,
        /// then entries of a tag, permissions and a number (acl(5), `linux/posix_acl_xattr.h`).
        fn without_group(list: &mut [u8]) {
            const VERSION_LEN: usize = 4;
            const GROUP_OBJ: [u8; 2] = 4_u16.to_le_bytes();
            let entries = list.get_mut(VERSION_LEN..).unwrap_or_default();
            for entry in entries.as_chunks_mut::<8>().0 {
                if entry[..2] == GROUP_OBJ {
                    entry[2..4].fill(0);
                }
            }
        }
    }
}
