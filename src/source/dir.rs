//! A directory of robots.txt files, one an origin: `HOST`, `HOST_PORT` or `SCHEME_HOST_PORT`, `.txt` optional; or of archives.

use super::http::MAX_KEPT;
use super::{Answer, Capture, Entry, Meter, ReadStats, Response, Sink};
use crate::error::{Error, ErrorKind, Result};
use crate::robots::condense::Delivery;
use crate::url::Origin;
use bytes::Bytes;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// A file whose name says the origin.
#[derive(Debug)]
pub(crate) struct RobotsFile {
    path: PathBuf,
    origins: Vec<String>,
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

/// Whether a file's name is that of an archive, which no host is called.
fn is_archive(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    let name = [".gz", ".zst"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(&name);
    [".warc", ".jsonl", ".ndjson"].iter().any(|ending| name.ends_with(ending))
}

pub(super) fn read(dir: &Path, meter: &Meter, sink: &mut Sink<'_>) -> Result<ReadStats> {
    let mut stats = ReadStats::default();
    for path in files(dir)? {
        let bytes = std::fs::metadata(&path).map_or(0, |meta| meta.len());
        stats.bytes += bytes;
        meter.add(bytes);
        let origins = origins_of(&path)?;
        if !sink(Entry::File(RobotsFile { path, origins })) {
            break;
        }
    }
    Ok(stats)
}

/// The origins a file's name stands for: one, or http and https where the name has no scheme.
fn origins_of(path: &Path) -> Result<Vec<String>> {
    let bad = || {
        let what =
            "its name is not HOST, HOST_PORT or SCHEME_HOST_PORT (such as example.com or https_example.com_8443)";
        Error::from(ErrorKind::UnknownSource { what: what.to_owned() }).at(path)
    };
    let name = path.file_name().and_then(|name| name.to_str()).ok_or_else(bad)?;
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
    if valid && !authority.contains(['/', '@', '?', '#', ';']) { Ok(origins) } else { Err(bad()) }
}

impl RobotsFile {
    /// A capture an origin, status 200, of unknown time.
    pub(super) fn captures(self) -> Result<Vec<Capture>> {
        let mut body = Vec::new();
        let file = File::open(&self.path).map_err(|err| Error::io(&self.path, err))?;
        file.take(MAX_KEPT as u64).read_to_end(&mut body).map_err(|err| Error::io(&self.path, err))?;
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
        Ok(self.origins.iter().map(capture).collect())
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
        let origins = |name: &str| origins_of(Path::new(name)).ok().map(|o| o.join(" "));
        assert_eq!(origins("a.example.txt").as_deref(), Some("https://a.example http://a.example"));
        assert_eq!(origins("http_a.example_8080").as_deref(), Some("http://a.example:8080"));
        assert_eq!(origins("my_host.example").as_deref(), Some("https://my_host.example http://my_host.example"));
        assert_eq!(origins("a b"), None);
    }
}
