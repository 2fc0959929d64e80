//! The rows of a history: each version of the answer of each URL.
//!
//! A redirect is not resolved here. It has its target, whose versions are rows too, so the table is
//! as long as the history: eighty thousand hosts that redirect to one host with eighty thousand
//! versions have a row each, and not the product. A query joins them.

use super::access::{AccessReader, OriginAccess};
use super::batch::{ExportBatch, ExportValue};
use super::columns::ExportField;
use super::rows::{integer, text, time};
use crate::error::{Error, Result};
use crate::file_pass::FileReader;
use crate::robots::LooksLike;
use crate::snapshot::history::{BeforeFailures, Version, VersionAnswer, VersionFailure};
use crate::snapshot::{Outcome, OutcomeClass, Snapshot};

/// The estimated bytes of a row, beside its URLs.
const ROW: u64 = 256;

/// What the rows of a URL share.
pub(super) struct VersionedUrl {
    /// The number of its first version.
    first: u32,
    /// The number after its last version.
    end: u32,
    url: String,
    /// The origin whose robots.txt it is.
    origin: Option<String>,
}

impl VersionedUrl {
    /// The URL with this version.
    pub(super) fn of_version(snapshot: &Snapshot, version: u32) -> Result<Self> {
        let node = snapshot.node_of_version(version)?;
        let versions = snapshot.versions_of(node)?;
        if !versions.contains(&version) {
            return Err(Error::corrupt("the versions of a URL are out of order"));
        }
        let other = node.checked_sub(snapshot.origin_count());
        let (url, origin) = match other {
            None => {
                let entry = snapshot.origin_at(node)?;
                (entry.robots_url(), Some(entry.origin()))
            }
            Some(other) => (lossy(snapshot.history_url(other)?), None),
        };
        Ok(Self {
            first: versions.start,
            end: versions.end,
            url,
            origin,
        })
    }

    /// Whether this is one of its versions.
    pub(super) fn contains(&self, version: u32) -> bool {
        (self.first..self.end).contains(&version)
    }

    /// Whether this is the first version of an origin's robots.txt.
    pub(super) fn begins_origin(&self, version: u32) -> bool {
        self.origin.is_some() && version == self.first
    }
}

/// The estimated bytes of the row of a version. A URL has up to 64 KiB, in each row of its versions.
pub(super) fn version_weight(snapshot: &Snapshot, version: u32) -> Result<u64> {
    let node = snapshot.node_of_version(version)?;
    let url = match node.checked_sub(snapshot.origin_count()) {
        None => snapshot.origin_at(node)?.key().len() * 2,
        Some(other) => snapshot.history_url(other)?.len(),
    };
    let row = snapshot.version(version)?;
    let targets = Targets::read(snapshot, &row)?;
    let targets = [targets.target, targets.earlier];
    let urls = targets
        .into_iter()
        .flatten()
        .map(<[u8]>::len)
        .sum::<usize>()
        + url;
    Ok(ROW + urls as u64)
}

/// The URLs that a version refers to.
struct Targets<'s> {
    failure: Option<VersionFailure>,
    target: Option<&'s [u8]>,
    /// The target of the redirect that preceded the failures.
    earlier: Option<&'s [u8]>,
}

impl<'s> Targets<'s> {
    fn read(snapshot: &'s Snapshot, version: &Version) -> Result<Self> {
        let mut found = Self {
            failure: None,
            target: None,
            earlier: None,
        };
        match version.answer {
            VersionAnswer::Redirect(link) => found.target = snapshot.string(link.target)?,
            VersionAnswer::Failure { row, .. } => {
                let failure = snapshot.version_failure(row)?;
                if let BeforeFailures::Redirect(link) = failure.before {
                    found.earlier = snapshot.string(link.target)?;
                }
                found.failure = Some(failure);
            }
            _ => {}
        }
        Ok(found)
    }
}

/// Appends the row of a version.
pub(super) fn push_version(
    snapshot: &Snapshot,
    url: &VersionedUrl,
    number: u32,
    access: Option<&mut AccessReader<'_>>,
    files: &mut FileReader<'_>,
    batch: &mut ExportBatch,
) -> Result<()> {
    let version = snapshot.version(number)?;
    let changed_at = match number + 1 < url.end {
        true => snapshot.version(number + 1)?.from,
        false => None,
    };
    let (outcome, file) = match version.answer {
        VersionAnswer::Rules { file, .. } => (Some(OutcomeClass::Rules), Some(file)),
        VersionAnswer::ClientError => (Some(OutcomeClass::ClientError), None),
        VersionAnswer::Failure { class, .. } => (Some(class), None),
        VersionAnswer::Redirect(_) | VersionAnswer::LostRedirect => (None, None),
    };
    // An outcome reads the bits of a body.
    let mut body = Outcome::new(OutcomeClass::Rules, version.status);
    if let VersionAnswer::Rules { flags, .. } = version.answer {
        flags.apply(&mut body);
    }
    let bytes = file.map(|file| snapshot.any_text_len(file)).transpose()?;
    let access = match (access, file) {
        (Some(access), Some(file)) => Some(OriginAccess::ByRules(access.of_file(file, files)?)),
        _ => None,
    };
    let targets = Targets::read(snapshot, &version)?;
    let target = targets.target.map(lossy);
    let earlier_target = targets.earlier.map(lossy);
    let failure = targets.failure.as_ref();
    let last_good = failure.and_then(|failure| match failure.before {
        BeforeFailures::File(file) => Some(file),
        _ => None,
    });
    let of_body = |flag: bool| file.map_or(ExportValue::Null, |_| ExportValue::Boolean(flag));
    batch.push_row(|column| match column.field() {
        ExportField::Url => ExportValue::Text(&url.url),
        ExportField::Origin => text(url.origin.as_deref()),
        ExportField::Since => time(version.from),
        ExportField::LastSeen => time(version.last_seen),
        ExportField::ChangedAt => time(changed_at),
        ExportField::Outcome => ExportValue::Text(outcome.map_or("redirect", OutcomeClass::name)),
        ExportField::Status => integer(Some(version.status).filter(|status| *status > 0)),
        ExportField::Target => text(target.as_deref()),
        ExportField::RulesFile => integer(file),
        ExportField::Bytes => integer(bytes),
        ExportField::LooksLike => text(body.looks_like.map(LooksLike::name)),
        ExportField::PastLimit => of_body(body.past_limit),
        ExportField::CutShort => of_body(body.cut_short),
        ExportField::FailingSince => time(failure.and_then(|failure| failure.first_failure)),
        ExportField::FirstUnreachable => {
            time(failure.and_then(|failure| failure.first_unreachable))
        }
        ExportField::LastGoodFile => integer(last_good),
        ExportField::EarlierTarget => text(earlier_target.as_deref()),
        ExportField::Access(agent) => access
            .as_ref()
            .map_or(ExportValue::Null, |access| access.access(agent)),
        ExportField::Named(agent) => access
            .as_ref()
            .map_or(ExportValue::Null, |access| access.named(agent)),
        _ => ExportValue::Null,
    });
    Ok(())
}

fn lossy(url: &[u8]) -> String {
    String::from_utf8_lossy(url).into_owned()
}
