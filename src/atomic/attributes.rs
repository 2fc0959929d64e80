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
    use crate::atomic::extended_attributes::{self, AccessList, ExtendedCopy};
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
    let ExtendedCopy {
        access,
        lost: extended,
    } = extended_attributes::copy(path, file, lost.group.is_some());
    lost.extended = extended;
    let mut mode = old.mode() & 0o7777;
    if lost.owner.is_some() {
        mode &= !SET_USER;
    }
    if lost.group.is_some() {
        mode &= !SET_GROUP;
    }
    // With an access control list, these bits are not those of the group. They limit all entries.
    let drops_group = match access {
        AccessList::None => lost.group.is_some(),
        AccessList::Kept => false,
        AccessList::Lost => true,
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
