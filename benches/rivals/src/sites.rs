//! The four sites, generated or read from a directory.

use crate::common;
use robosieve::Origin;
use std::cell::OnceCell;
use std::path::{Path, PathBuf};

/// The names of the sites and of their files.
pub const NAMES: [&str; 4] = ["small", "medium", "large", "literal"];

/// A site with about 1,000 URLs.
#[derive(Debug)]
pub struct Site {
    /// One of [`NAMES`].
    pub name: &'static str,
    /// The body of its robots.txt.
    pub robots: String,
    /// The common origin of all URLs.
    pub origin: Origin,
    /// The URLs.
    pub urls: Vec<String>,
    /// The path and query of each URL, without fragment: the inputs of the task `match`.
    pub paths: Vec<String>,
    expected: OnceCell<Vec<bool>>,
}

/// The sites in the directory that the variable `ROBOSIEVE_RIVALS` names, else generated ones.
///
/// For each site, the directory has `NAME.robots.txt`, `NAME.urls` with one URL per line and a
/// common origin, and `NAME.expect` with one line per URL: `1` if it may be fetched, else `0`.
/// Panics with the file name if a file is missing or malformed.
pub fn load() -> Vec<Site> {
    match directory() {
        Some(dir) => NAMES
            .iter()
            .map(|name| Site::new(name, read(&dir, name, "robots.txt"), urls(&dir, name)))
            .collect(),
        None => common::sites()
            .into_iter()
            .map(|(name, site)| Site::new(name, site.robots, site.urls))
            .collect(),
    }
}

fn directory() -> Option<PathBuf> {
    std::env::var_os("ROBOSIEVE_RIVALS").map(PathBuf::from)
}

fn read(dir: &Path, name: &str, ending: &str) -> String {
    let file = dir.join(format!("{name}.{ending}"));
    let bytes = std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    String::from_utf8_lossy(&bytes).into_owned()
}

fn urls(dir: &Path, name: &str) -> Vec<String> {
    read(dir, name, "urls").lines().map(str::to_owned).collect()
}

impl Site {
    fn new(name: &'static str, robots: String, urls: Vec<String>) -> Self {
        let origin = urls
            .first()
            .and_then(|url| Origin::of(url.as_bytes()))
            .expect("at least one URL");
        let paths = urls
            .iter()
            .map(|url| path_of(url, &origin).to_owned())
            .collect();
        Self {
            name,
            robots,
            origin,
            urls,
            paths,
            expected: OnceCell::new(),
        }
    }

    /// Whether FooBot may fetch each URL, read from the directory or computed by the slow reference
    /// judge.
    pub fn expected(&self) -> &[bool] {
        self.expected.get_or_init(|| self.find_expected())
    }

    fn find_expected(&self) -> Vec<bool> {
        let expected: Vec<bool> = match directory() {
            Some(dir) => read(&dir, self.name, "expect")
                .lines()
                .map(|line| line.trim() == "1")
                .collect(),
            None => self
                .urls
                .iter()
                .map(|url| common::reference_allows(&self.robots, url))
                .collect(),
        };
        assert_eq!(
            self.urls.len(),
            expected.len(),
            "{}: an answer for each URL",
            self.name
        );
        expected
    }
}

/// The path and query of a URL of this origin.
fn path_of<'u>(url: &'u str, origin: &Origin) -> &'u str {
    let rest = url
        .strip_prefix(origin.as_str())
        .unwrap_or_else(|| panic!("{url} does not start with {origin}"));
    let path = &rest[..rest.find('#').unwrap_or(rest.len())];
    if path.is_empty() { "/" } else { path }
}
