//! A directory of archives, or of robots.txt files named after their origins.
//!
//! File names are `HOST`, `HOST_PORT` or `SCHEME_HOST_PORT`; `.txt` may follow.

use super::capture::{Capture, CapturedResponse, EntryContent};
use super::http::MAX_KEPT;
use super::read_context::ReadContext;
use crate::decode::Decoder;
use crate::error::{Error, ErrorKind, Result};
use crate::file_format::{ENOUGH, FileFormat};
use crate::url::Origin;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;

/// A file of the directory, not yet read.
#[derive(Debug)]
pub(crate) struct RobotsFile {
    path: PathBuf,
    /// The origins in its name; `None` if no host can have that name.
    origins: Option<Vec<String>>,
}

/// The files of `dir`, sorted by name; hidden files and subdirectories are skipped.
pub(crate) fn files(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let is_hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        paths.extend(Some(entry.path()).filter(|path| !is_hidden && path.is_file()));
    }
    paths.sort();
    Ok(paths)
}

/// The archives in `dir`; none if its files are robots.txt files.
///
/// # Errors
/// [`ErrorKind::UnknownSource`] for a directory of both kinds: one would be read as the other.
pub(super) fn archives(dir: &Path) -> Result<Vec<PathBuf>> {
    let (archives, others): (Vec<_>, Vec<_>) =
        files(dir)?.into_iter().partition(|path| is_archive(path));
    match (archives.first(), others.first()) {
        (Some(archive), Some(other)) => {
            let what = format!(
                "a directory of archives ({}) that holds other files too ({}); name the archives \
                 themselves",
                archive.file_name().unwrap_or_default().display(),
                other.file_name().unwrap_or_default().display()
            );
            Err(ErrorKind::UnknownSource { what }.into())
        }
        _ => Ok(archives),
    }
}

/// Whether a file is an archive: by its ending, or by its content if no host can have its name.
///
/// A file named after a host is never an archive. Otherwise a site could serve a WARC file as its
/// robots.txt, and set the rules of other sites.
fn is_archive(path: &Path) -> bool {
    is_named_as_archive(path) || (origins_of(path).is_none() && holds_archive(path))
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
    files: std::vec::IntoIter<PathBuf>,
    context: &'r ReadContext,
}

impl<'r> DirectoryReader<'r> {
    pub(super) fn open(dir: &Path, context: &'r ReadContext) -> Result<Self> {
        Ok(Self {
            files: files(dir)?.into_iter(),
            context,
        })
    }

    /// The next file; `None` at the end.
    pub(super) fn next_file(&mut self) -> Option<RobotsFile> {
        let path = self.files.next()?;
        let bytes = std::fs::metadata(&path).map_or(0, |meta| meta.len());
        self.context.bytes.fetch_add(bytes, Ordering::Relaxed);
        let origins = origins_of(&path);
        Some(RobotsFile { path, origins })
    }
}

/// Endings of data files and documents; none is a top-level domain.
const FILE_ENDINGS: &[&str] = &[
    "7z", "arc", "arrow", "avro", "bak", "bz2", "captures", "cdx", "cdxj", "csv", "db", "feather",
    "gif", "gz", "htm", "html", "ini", "jpeg", "jpg", "json", "jsonl", "log", "lz4", "md5",
    "ndjson", "orc", "parquet", "pdf", "png", "rsieve", "sha256", "sqlite", "svg", "tar", "tgz",
    "tmp", "toml", "tsv", "warc", "xml", "xz", "yaml", "yml", "zst",
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

/// The origins in a file's name: one, or http and https if the name has no scheme. `None` if no
/// host can have that name. `robots.txt` does not say its host.
pub(crate) fn origins_of(path: &Path) -> Option<Vec<String>> {
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
    /// Reads the file: one capture per origin, status 200, of unknown time.
    pub(super) fn parse(self) -> Result<EntryContent> {
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
            return Ok(self.not_robots(&format!("{}{unpack}", format.name())));
        }
        let Some(origins) = &self.origins else {
            return Ok(self.not_robots(
                "its name is not HOST, HOST_PORT or SCHEME_HOST_PORT, such as example.com or \
                 https_example.com_8443",
            ));
        };
        let response = CapturedResponse {
            status: 200,
            body: body.into(),
            ..CapturedResponse::default()
        };
        let captures = origins.iter().map(|origin| Capture {
            url: format!("{origin}/robots.txt").into_bytes(),
            time: None,
            answer: Ok(response.clone()),
            unread_key: None,
        });
        Ok(EntryContent::Captures(captures.collect()))
    }

    fn not_robots(&self, reason: &str) -> EntryContent {
        EntryContent::NotRobots(format!("{} ({reason})", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_are_recognized_by_name() {
        for name in [
            "a.warc",
            "CC-MAIN-1.warc.gz",
            "a.jsonl.zst",
            "A.NDJSON",
            "2026.captures",
            "IA-001102.arc.gz",
            "crawl.wacz",
        ] {
            assert!(is_archive(Path::new(name)), "{name}");
        }
        for name in [
            "warc.example",
            "https_jsonl.example_81",
            "a.example.txt",
            "gz",
            "x.gz",
        ] {
            assert!(!is_archive(Path::new(name)), "{name}");
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
        ] {
            assert_eq!(origins(name), None, "{name}");
        }
    }
}
