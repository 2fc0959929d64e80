//! A directory of robots.txt files, one an origin: `HOST`, `HOST_PORT` or `SCHEME_HOST_PORT`, `.txt` optional; or of archives.

use crate::archive::http::MAX_KEPT;
use crate::archive::{Answer, Capture, Content, Entry, Meter, ReadStats, Response, Sink};
use crate::decode::Decoder;
use crate::error::{Error, ErrorKind, Result};
use crate::file_format::{ENOUGH, FileFormat};
use crate::robots::condense::Delivery;
use crate::url::Origin;
use bytes::Bytes;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A file whose name says the origins.
#[derive(Debug)]
pub(crate) struct RobotsFile {
    path: PathBuf,
    /// `None` if the name cannot be that of a host.
    origins: Option<Vec<String>>,
}

/// The files of `dir` in the order of their names; hidden files and folders are passed over.
fn files(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        let hidden = entry.file_name().as_encoded_bytes().starts_with(b".");
        if !hidden && entry.path().is_file() {
            paths.push(entry.path());
        }
    }
    paths.sort();
    Ok(paths)
}

/// The archives in `dir`, if its files are archives by their names; none if they are robots.txt files.
///
/// # Errors
/// [`ErrorKind::UnknownSource`] if it holds both: one or the other would be taken for what it is not.
pub(super) fn archives(dir: &Path) -> Result<Vec<PathBuf>> {
    let (archives, others): (Vec<_>, Vec<_>) = files(dir)?.into_iter().partition(|path| is_archive(path));
    match (archives.first(), others.first()) {
        (Some(archive), Some(other)) => {
            let name = |path: &Path| path.file_name().unwrap_or_default().display().to_string();
            let what = format!(
                "a directory of archives ({}) that holds other files too ({}); name the archives themselves",
                name(archive),
                name(other)
            );
            Err(ErrorKind::UnknownSource { what }.into())
        }
        _ => Ok(archives),
    }
}

/// Whether a file is an archive: by its name, which no host has, or by its content where the name
/// cannot be that of a host either. What a site has served under the name of a host is never read
/// as an archive, since it would speak for other sites.
fn is_archive(path: &Path) -> bool {
    is_named_as_archive(path) || (origins_of(path).is_none() && holds_warc(path))
}

fn is_named_as_archive(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let name = [".gz", ".zst"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name);
    [".warc", ".jsonl", ".ndjson"].iter().any(|ending| name.ends_with(ending))
}

/// Whether the file begins as a WARC archive, compressed or not. What cannot be read does not.
fn holds_warc(path: &Path) -> bool {
    let Ok(mut decoder) = File::open(path).and_then(Decoder::new) else { return false };
    while decoder.peeked().len() < ENOUGH && decoder.peek_more().unwrap_or(false) {}
    FileFormat::of(decoder.peeked()) == Some(FileFormat::Warc)
}

pub(super) fn read(dir: &Path, meter: &Meter, sink: &mut Sink<'_>) -> Result<ReadStats> {
    let mut stats = ReadStats::default();
    for path in files(dir)? {
        let bytes = std::fs::metadata(&path).map_or(0, |meta| meta.len());
        stats.bytes += bytes;
        meter.add(bytes);
        let origins = origins_of(&path);
        if !sink(Entry::File(RobotsFile { path, origins })) {
            break;
        }
    }
    Ok(stats)
}

/// Endings of files of data and of documents, none of which is a top-level domain.
const NO_DOMAINS: &[&str] = &[
    "7z", "arc", "arrow", "avro", "bak", "bz2", "cdx", "cdxj", "csv", "db", "feather", "gif", "gz", "htm", "html",
    "ini", "jpeg", "jpg", "json", "jsonl", "log", "lz4", "md5", "ndjson", "orc", "parquet", "pdf", "png", "rsieve",
    "sha256", "sqlite", "svg", "tar", "tgz", "tmp", "toml", "tsv", "warc", "xml", "xz", "yaml", "yml", "zst",
];

/// Files that accompany others by custom, in capitals, and with any ending; `robots.txt` says
/// nothing about its host.
const NO_HOSTS: &[&str] = &[
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

/// The origins that a file's name stands for: one, or http and https where the name has no scheme.
/// `None` if it cannot be a host's.
fn origins_of(path: &Path) -> Option<Vec<String>> {
    let name = path.file_name()?.to_str()?;
    let (first, last) = (name.split('.').next()?, name.rsplit('.').next()?);
    if name == "robots.txt" || NO_HOSTS.contains(&first) || NO_DOMAINS.contains(&last.to_ascii_lowercase().as_str()) {
        return None;
    }
    let name = name.strip_suffix(".txt").unwrap_or(name);
    let (scheme, rest) = match name.split_once('_') {
        Some((scheme @ ("http" | "https" | "ftp"), rest)) => (Some(scheme), rest),
        _ => (None, name),
    };
    let authority = match rest.rsplit_once('_') {
        Some((host, port)) if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => format!("{host}:{port}"),
        _ => rest.to_owned(),
    };
    let schemes = scheme.map_or(vec!["https", "http"], |scheme| vec![scheme]);
    let origins: Vec<String> = schemes.iter().map(|scheme| format!("{scheme}://{authority}")).collect();
    let valid = origins.iter().all(|origin| Origin::of(origin.as_bytes()).is_some());
    (valid && !authority.contains(['/', '@', '?', '#', ';'])).then_some(origins)
}

impl RobotsFile {
    /// A capture for each origin, status 200, of unknown time; or why the file is no robots.txt.
    pub(super) fn open(self) -> Result<Content> {
        let mut body = Vec::new();
        let file = File::open(&self.path).map_err(|err| Error::io(&self.path, err))?;
        file.take(MAX_KEPT as u64).read_to_end(&mut body).map_err(|err| Error::io(&self.path, err))?;
        let not_robots = |why: String| Ok(Content::NotRobots(format!("{} ({why})", self.path.display())));
        // A site may well answer in UTF-16, and has no rules then.
        if let Some(format) = FileFormat::of(&body).filter(|format| *format != FileFormat::Utf16) {
            let unpack = format.unpack().map_or_else(String::new, |unpack| format!("; {unpack}"));
            return not_robots(format!("{}{unpack}", format.name()));
        }
        let Some(origins) = &self.origins else {
            return not_robots(
                "its name is not HOST, HOST_PORT or SCHEME_HOST_PORT, such as example.com or https_example.com_8443"
                    .to_owned(),
            );
        };
        let body = Bytes::from(body);
        let capture = |origin: &String| Capture {
            url: format!("{origin}/robots.txt").into_bytes(),
            time: None,
            answer: Answer::Http(Response {
                status: 200,
                body: body.clone(),
                delivery: Delivery::Whole,
                ..Response::default()
            }),
            unread_key: None,
        };
        Ok(Content::Captures(origins.iter().map(capture).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_is_an_archive() {
        for name in ["a.warc", "CC-MAIN-1.warc.gz", "a.jsonl.zst", "A.NDJSON"] {
            assert!(is_archive(Path::new(name)), "{name}");
        }
        for name in ["warc.example", "https_jsonl.example_81", "a.example.txt", "gz", "x.gz"] {
            assert!(!is_archive(Path::new(name)), "{name}");
        }
    }

    #[test]
    fn names_say_origins() {
        let origins = |name: &str| origins_of(Path::new(name)).map(|origins| origins.join(" "));
        assert_eq!(origins("a.example.txt").as_deref(), Some("https://a.example http://a.example"));
        assert_eq!(origins("http_a.example_8080").as_deref(), Some("http://a.example:8080"));
        assert_eq!(origins("my_host.example").as_deref(), Some("https://my_host.example http://my_host.example"));
        assert_eq!(origins("readme.md").as_deref(), Some("https://readme.md http://readme.md"));
        for name in ["a b", "plain.parquet", "README.md", "README", "a.arc.gz", "x.GZ", "robots.txt", "LICENSE.txt"] {
            assert_eq!(origins(name), None, "{name}");
        }
    }
}
