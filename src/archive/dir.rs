//! A directory of archives, or of robots.txt files named after their origins.
//!
//! File names are `HOST`, `HOST_PORT` or `SCHEME_HOST_PORT`; `.txt` may follow. A directory of such a
//! name may hold the file as `robots.txt`.

use super::capture::{Capture, CapturedResponse, EntryContent};
use super::coded_text::is_coded;
use super::http::MAX_KEPT;
use super::read_context::ReadContext;
use crate::decode::Decoder;
use crate::error::{Error, ErrorKind, Result};
use crate::file_format::{ENOUGH, FileFormat};
use crate::url::Origin;
use std::fs::File;
use std::io::Read;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// An entry of a directory: a file that is not read yet, or a directory that is left out.
#[derive(Debug)]
pub(crate) struct RobotsFile {
    pub path: PathBuf,
    /// The origins in its name; `None` if no host can have that name.
    pub origins: Option<Vec<String>>,
}

/// The entries of `dir`, sorted by name, but for hidden ones. A directory that is named after a host
/// stands for the `robots.txt` in it, as `wget -x` stores it.
pub(crate) fn entries(dir: &Path) -> Result<Vec<RobotsFile>> {
    let mut entries = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        let mut path = entry.path();
        let mut origins = origins_of(&path);
        if path.is_dir() {
            let robots = path.join("robots.txt");
            match origins.is_some() && robots.is_file() {
                true => path = robots,
                false => origins = None,
            }
        } else if !path.is_file() {
            continue;
        }
        entries.push(RobotsFile { path, origins });
    }
    entries.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(entries)
}

/// The archives in a directory.
#[derive(Default)]
pub(crate) struct DirectoryArchives {
    /// None if the files of the directory are robots.txt files.
    pub archives: Vec<PathBuf>,
    /// The other entries beside archives, with the reason why they are not read.
    pub left_out: Vec<String>,
}

/// The archives in `dir`.
///
/// # Errors
/// [`ErrorKind::UnknownSource`] for a directory of archives and of files that may be the robots.txt
/// files of hosts: one would be read as the other.
pub(super) fn archives(dir: &Path) -> Result<DirectoryArchives> {
    let (archives, others): (Vec<_>, Vec<_>) =
        entries(dir)?.into_iter().partition(RobotsFile::is_archive);
    let Some(archive) = archives.first() else {
        return Ok(DirectoryArchives::default());
    };
    // A site may serve an archive as its robots.txt, and the content alone tells the two apart only if
    // nothing else is there.
    let are_named = archives
        .iter()
        .all(|archive| is_named_as_archive(&archive.path));
    let may_be_robots =
        |other: &&RobotsFile| other.origins.is_some() || !(are_named || other.path.is_dir());
    if let Some(other) = others.iter().find(may_be_robots) {
        let what = format!(
            "a directory of archives ({}) that holds other files too ({}), which may be robots.txt \
             files; name the archives themselves",
            archive.path.file_name().unwrap_or_default().display(),
            other
                .path
                .strip_prefix(dir)
                .unwrap_or(&other.path)
                .display()
        );
        return Err(ErrorKind::UnknownSource { what }.into());
    }
    let left_out = others.iter().map(|other| other.left_out("beside archives"));
    Ok(DirectoryArchives {
        left_out: left_out.collect(),
        archives: archives.into_iter().map(|archive| archive.path).collect(),
    })
}

fn is_named_as_archive(path: &Path) -> bool {
    let name = path
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .to_ascii_lowercase();
    let name = [".gz", ".zst"]
        .iter()
        .find_map(|ending| name.strip_suffix(ending))
        .unwrap_or(&name);
    [".warc", ".arc", ".wacz", ".jsonl", ".ndjson", ".captures"]
        .iter()
        .any(|ending| name.ends_with(ending))
}

/// Whether the file begins as a WARC or ARC archive or a captures file, compressed or not; `false` if it
/// cannot be read.
fn holds_archive(path: &Path) -> bool {
    let Ok(mut decoder) = File::open(path).and_then(Decoder::new) else {
        return false;
    };
    while decoder.peeked().len() < ENOUGH && decoder.peek_more().unwrap_or(false) {}
    matches!(
        FileFormat::of(decoder.peeked()),
        Some(FileFormat::Warc | FileFormat::Arc | FileFormat::Captures)
    )
}

/// The files of a directory, one by one.
pub(super) struct DirectoryReader<'r> {
    entries: std::vec::IntoIter<RobotsFile>,
    context: &'r ReadContext,
}

impl<'r> DirectoryReader<'r> {
    pub(super) fn open(dir: &Path, context: &'r ReadContext) -> Result<Self> {
        Ok(Self {
            entries: entries(dir)?.into_iter(),
            context,
        })
    }

    /// The next entry; `None` at the end.
    pub(super) fn next_entry(&mut self) -> Option<RobotsFile> {
        let entry = self.entries.next()?;
        let metadata = std::fs::metadata(&entry.path).ok();
        let bytes = metadata
            .filter(|meta| meta.is_file())
            .map_or(0, |meta| meta.len());
        self.context.bytes.fetch_add(bytes, Ordering::Relaxed);
        Some(entry)
    }
}

/// Endings of data files and documents; none is a top-level domain.
const FILE_ENDINGS: &[&str] = &[
    "7z", "arc", "arrow", "avro", "bak", "bz2", "captures", "cdx", "cdxj", "csv", "db", "feather",
    "gif", "gz", "htm", "html", "ini", "jpeg", "jpg", "json", "jsonl", "log", "lz4", "md5",
    "ndjson", "orc", "parquet", "pdf", "png", "rlists", "rsieve", "sha1", "sha256", "sha512",
    "sqlite", "svg", "tar", "tgz", "tmp", "toml", "tsv", "warc", "xlsx", "xml", "xz", "yaml",
    "yml", "zst",
];

/// Conventional file names in capitals, with any ending.
const CONVENTIONAL_NAMES: &[&str] = &[
    "AUTHORS",
    "CHANGELOG",
    "COPYING",
    "LICENCE",
    "LICENSE",
    "MANIFEST",
    "MD5SUMS",
    "NOTICE",
    "README",
    "SHA256SUMS",
    "TODO",
];

/// Whether a host has this name. A URL can have any other, but a file is rather `1.txt`,
/// `example.com_robots.txt`, `robots_example.com.txt` or `example.com.robots.txt`.
fn is_name_of_host(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    if host.starts_with('[') {
        return true;
    }
    let Some((_, last)) = host.rsplit_once('.') else {
        // The name of a machine. A number is an address: `1` is that of 0.0.0.1.
        return !host.bytes().all(|b| b.is_ascii_digit());
    };
    // No top-level domain has an underscore, or a hyphen but for those of `xn--`.
    let is_domain = !last.contains('_') && (!last.contains('-') || last.starts_with("xn--"));
    let is_number = !last.is_empty() && last.bytes().all(|b| b.is_ascii_digit());
    is_domain
        && !["robots", "txt"].contains(&last)
        && !host.starts_with("robots_")
        && (!is_number || host.parse::<Ipv4Addr>().is_ok())
}

/// The origins in a file's name: one, or http and https if the name has no scheme. `None` if no
/// host has that name. `robots.txt` does not say its host.
pub(crate) fn origins_of(path: &Path) -> Option<Vec<String>> {
    let origins = origins_in(path)?;
    let (_, authority) = origins[0].split_once("://")?;
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|b| b.is_ascii_digit()) => host,
        _ => authority,
    };
    is_name_of_host(host).then_some(origins)
}

/// As [`origins_of`], for all names that a host can have in a URL.
fn origins_in(path: &Path) -> Option<Vec<String>> {
    let name = path.file_name()?.to_str()?;
    let first = name.split('.').next()?;
    let last = name.rsplit('.').next()?;
    if name == "robots.txt"
        || CONVENTIONAL_NAMES.contains(&first)
        || FILE_ENDINGS.contains(&last.to_ascii_lowercase().as_str())
    {
        return None;
    }
    let name = name.strip_suffix(".txt").unwrap_or(name);
    let (scheme, rest) = match name.split_once('_') {
        Some((scheme @ ("http" | "https" | "ftp"), rest)) => (Some(scheme), rest),
        _ => (None, name),
    };
    // `_` stands for the `:` of a port, which many file systems do not allow.
    let authority = match rest.rsplit_once('_') {
        Some((host, port)) if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => {
            format!("{host}:{port}")
        }
        _ => rest.to_owned(),
    };
    let schemes = scheme.map_or(vec!["https", "http"], |scheme| vec![scheme]);
    let origins: Vec<String> = schemes
        .iter()
        .map(|scheme| format!("{scheme}://{authority}"))
        .collect();
    let valid = origins
        .iter()
        .all(|origin| Origin::of(origin.as_bytes()).is_some());
    (valid && !authority.contains(['/', '@', '?', '#', ';'])).then_some(origins)
}

impl RobotsFile {
    /// Whether it is an archive: by its ending, or by its content if no host can have its name.
    ///
    /// A file named after a host is never an archive. Otherwise a site could serve a WARC file as
    /// its robots.txt, and set the rules of other sites.
    fn is_archive(&self) -> bool {
        !self.path.is_dir()
            && (is_named_as_archive(&self.path)
                || (self.origins.is_none()
                    && origins_in(&self.path).is_none()
                    && holds_archive(&self.path)))
    }

    /// Reads the file: one capture per origin, status 200, of unknown time.
    pub(super) fn parse(self) -> Result<EntryContent> {
        if self.path.is_dir() {
            return Ok(EntryContent::NotRobots(self.left_out("")));
        }
        let mut body = Vec::new();
        let file = File::open(&self.path).map_err(|err| Error::io(&self.path, err))?;
        file.take(MAX_KEPT as u64)
            .read_to_end(&mut body)
            .map_err(|err| Error::io(&self.path, err))?;
        // A site may serve UTF-16 or UTF-32; its file then has no rules.
        if let Some(format) = FileFormat::of(&body)
            .filter(|format| !matches!(format, FileFormat::Utf16 | FileFormat::Utf32))
        {
            let unpack = format
                .unpack()
                .map_or_else(String::new, |unpack| format!("; {unpack}"));
            let reason = format!("{}{unpack}", format.name());
            return Ok(EntryContent::NotRobots(self.left_out(&reason)));
        }
        let Some(origins) = &self.origins else {
            let reason = "its name is not HOST, HOST_PORT or SCHEME_HOST_PORT, such as example.com \
                          or https_example.com_8443";
            return Ok(EntryContent::NotRobots(self.left_out(reason)));
        };
        let response = CapturedResponse {
            status: 200,
            body: body.into(),
            ..CapturedResponse::default()
        };
        let has_coded_text = is_coded(&response.body);
        let captures = origins.iter().map(|origin| Capture {
            url: format!("{origin}/robots.txt").into_bytes(),
            time: None,
            answer: Ok(response.clone()),
            unread_key: None,
            has_coded_text,
        });
        Ok(EntryContent::Captures(captures.collect()))
    }

    /// Its name, and why it is left out: `reason`, unless it is a directory.
    fn left_out(&self, reason: &str) -> String {
        let reason = match self.path.is_dir() {
            true => "a directory, and not HOST/robots.txt",
            false => reason,
        };
        format!("{} ({reason})", self.path.display())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_are_recognized_by_name() {
        let is_archive = |name: &str| {
            let path = PathBuf::from(name);
            let origins = origins_of(&path);
            RobotsFile { path, origins }.is_archive()
        };
        for name in [
            "a.warc",
            "CC-MAIN-1.warc.gz",
            "a.jsonl.zst",
            "A.NDJSON",
            "2026.captures",
            "IA-001102.arc.gz",
            "crawl.wacz",
        ] {
            assert!(is_archive(name), "{name}");
        }
        for name in [
            "warc.example",
            "https_jsonl.example_81",
            "a.example.txt",
            "gz",
            "x.gz",
        ] {
            assert!(!is_archive(name), "{name}");
        }
    }

    #[test]
    fn names_give_origins() {
        let origins = |name: &str| origins_of(Path::new(name)).map(|origins| origins.join(" "));
        assert_eq!(
            origins("a.example.txt").as_deref(),
            Some("https://a.example http://a.example")
        );
        assert_eq!(
            origins("http_a.example_8080").as_deref(),
            Some("http://a.example:8080")
        );
        assert_eq!(
            origins("my_host.example").as_deref(),
            Some("https://my_host.example http://my_host.example")
        );
        assert_eq!(
            origins("https_127.0.0.1_81").as_deref(),
            Some("https://127.0.0.1:81")
        );
        assert_eq!(
            origins("http_robots-2.a.xn--p1ai").as_deref(),
            Some("http://robots-2.a.xn--p1ai")
        );
        assert_eq!(origins("http_my_host").as_deref(), Some("http://my_host"));
        assert_eq!(
            origins("readme.md").as_deref(),
            Some("https://readme.md http://readme.md")
        );
        for name in [
            "a b",
            "plain.parquet",
            "README.md",
            "README",
            "a.arc.gz",
            "x.GZ",
            "robots.txt",
            "LICENSE.txt",
            "1.txt",
            "20240101",
            "127.1",
            "example.com_robots.txt",
            "https___example.com_robots.txt",
            "example.com-robots.txt",
            "example.com.robots.txt",
            "robots_example.com.txt",
            "example.com.txt.txt",
        ] {
            assert_eq!(origins(name), None, "{name}");
        }
    }
}
