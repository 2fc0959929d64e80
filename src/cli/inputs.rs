//! Which lists a command reads: named, listed in a file, in directories or by a glob, and of these the part of one shard.

use super::escape::escape;
use super::stderr::print_line;
use anyhow::{Context, bail};
use clap::Args;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

// Where the lists of URLs come from.
#[derive(Debug, Args)]
pub(crate) struct InputArgs {
    /// More inputs, one a line of this file (`-`: standard input); blank lines are passed over
    #[arg(long, value_name = "FILE")]
    pub files_from: Option<PathBuf>,
    /// Take only the I-th of N parts of the inputs (1/N to N/N), for N runs that share the work
    #[arg(long, value_name = "I/N", value_parser = parse_shard)]
    pub shard: Option<Shard>,
    /// Lists of URLs: text, TSV, CSV, JSONL, CDXJ, CDX, each plain, gzip or zstd; or Parquet files. Directories stand for the files
    /// in them, and quoted globs ('crawl/*.gz') for what they match (default: standard input)
    #[arg(value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
}

/// An input, and the tree that it was found in.
pub(crate) struct LocatedInput {
    pub path: PathBuf,
    /// The directory that a glob begins with; `None` for a file that was named, or found in a
    /// directory that was.
    pub root: Option<PathBuf>,
}

impl LocatedInput {
    /// What its output is called: its path below the tree's root, or just its name.
    pub(crate) fn name(&self) -> anyhow::Result<PathBuf> {
        let shown = self.path.display();
        if self.path.as_os_str() == "-" {
            bail!("--out-dir names outputs after inputs, and standard input has no name; use -o, or name files");
        }
        let below = self.root.as_ref().and_then(|root| self.path.strip_prefix(root).ok());
        match below.filter(|below| below.components().all(|part| matches!(part, Component::Normal(_)))) {
            Some(below) => Ok(below.to_owned()),
            None => self.path.file_name().map(PathBuf::from).with_context(|| format!("{shown}: has no file name")),
        }
    }
}

/// One of several parts of a list, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Shard {
    number: usize,
    of: usize,
}

fn parse_shard(text: &str) -> Result<Shard, String> {
    let numbers = || {
        let (number, of) = text.split_once('/')?;
        Some(Shard { number: number.parse().ok()?, of: of.parse().ok()? })
    };
    let possible = numbers().filter(|shard| (1..=shard.of).contains(&shard.number));
    possible.ok_or_else(|| "give I/N with I from 1 to N: 1/4 is the first of four parts".to_owned())
}

impl Shard {
    /// Its share of the items: every N-th, so that neighbours, which are often of one size, are spread.
    fn part<T>(self, items: Vec<T>) -> Vec<T> {
        items.into_iter().skip(self.number - 1).step_by(self.of).collect()
    }
}

impl InputArgs {
    /// Whether any input is named, or meant to be.
    pub(crate) fn are_named(&self) -> bool {
        !self.inputs.is_empty() || self.files_from.is_some() || self.shard.is_some()
    }

    /// All inputs in order, of all shards; those of directories and globs sorted. `-`, standard input, where none is named.
    pub(crate) fn all(&self, quiet: bool) -> anyhow::Result<Vec<PathBuf>> {
        Ok(self.all_located(quiet)?.into_iter().map(|input| input.path).collect())
    }

    /// [`all`](Self::all), each with the tree that it was found in.
    pub(crate) fn all_located(&self, quiet: bool) -> anyhow::Result<Vec<LocatedInput>> {
        if self.inputs.is_empty() && self.files_from.is_none() {
            if self.shard.is_some() {
                bail!(
                    "--shard divides inputs, and none is named; name files, a directory, a quoted glob, or --files-from"
                );
            }
            return Ok(vec![LocatedInput { path: PathBuf::from("-"), root: None }]);
        }
        let mut named = self.inputs.clone();
        if let Some(list) = &self.files_from {
            named.extend(read_list(list)?);
            if list.as_os_str() == "-" && named.iter().any(|path| path.as_os_str() == "-") {
                bail!(
                    "--files-from - reads the names from standard input, so `-` cannot be an input too; leave one out"
                );
            }
        }
        let mut all = Vec::new();
        for path in named {
            let (root, mut found) = (glob_root(&path), Vec::new());
            expand(path, quiet, &mut found)?;
            all.extend(found.into_iter().map(|path| LocatedInput { path, root: root.clone() }));
        }
        if all.is_empty() {
            bail!("there are no inputs: --files-from lists none; write one a line");
        }
        Ok(all)
    }

    /// Of items that stand for all inputs, those of this shard, which may be none.
    pub(crate) fn part<T>(&self, items: Vec<T>) -> Vec<T> {
        match self.shard {
            Some(shard) => shard.part(items),
            None => items,
        }
    }
}

/// Refuses the URL of a file elsewhere, which `path` may be by mistake; a file that has this name
/// is taken.
pub(crate) fn refuse_remote(path: &Path) -> anyhow::Result<()> {
    let Some((scheme, rest)) = path.to_str().and_then(|text| text.split_once("://")) else { return Ok(()) };
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme.chars().all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    if !is_scheme || path.exists() {
        return Ok(());
    }
    let way_out = match scheme.to_ascii_lowercase().as_str() {
        "file" => format!("write the path alone: {rest}"),
        "s3" | "s3a" | "s3n" => {
            "download it first (aws s3 cp), or pipe it: aws s3 cp URL - | robosieve ... -".to_owned()
        }
        "gs" => {
            "download it first (gcloud storage cp), or pipe it: gcloud storage cat URL | robosieve ... -".to_owned()
        }
        "hdfs" => "download it first (hdfs dfs -get), or pipe it: hdfs dfs -cat URL | robosieve ... -".to_owned(),
        "http" | "https" => "download it first (curl -O), or pipe it: curl -s URL | robosieve ... -".to_owned(),
        _ => "download it first, or pipe it to standard input (-)".to_owned(),
    };
    bail!("{}: robosieve reads and writes local files only; {way_out}", path.display())
}

/// The names that a file lists.
fn read_list(list: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut bytes = Vec::new();
    if list.as_os_str() == "-" {
        std::io::stdin().read_to_end(&mut bytes).context("standard input")?;
    } else {
        bytes = std::fs::read(list).with_context(|| list.display().to_string())?;
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let lines = bytes.split(|byte| *byte == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines.filter(|line| !line.trim_ascii().is_empty()).map(|line| to_path(line, list)).collect()
}

/// A name may hold any bytes where the system lets it.
#[cfg(unix)]
fn to_path(name: &[u8], _: &Path) -> anyhow::Result<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Ok(PathBuf::from(std::ffi::OsStr::from_bytes(name)))
}

#[cfg(not(unix))]
fn to_path(name: &[u8], list: &Path) -> anyhow::Result<PathBuf> {
    Ok(PathBuf::from(std::str::from_utf8(name).with_context(|| list.display().to_string())?))
}

/// Appends what a name stands for.
fn expand(path: PathBuf, quiet: bool, all: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    refuse_remote(&path)?;
    if path.is_dir() { expand_directory(&path, quiet, all) } else { expand_name(path, all) }
}

/// Names and globs as files: a glob stands for the files that it matches, any other name, also that
/// of a directory, for itself.
pub(crate) fn expand_globs(paths: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    paths.iter().try_for_each(|path| expand_name(path.clone(), &mut all))?;
    Ok(all)
}

/// Appends what a name stands for that is not the name of a directory. A file is taken as it is,
/// whatever characters its name has.
fn expand_name(path: PathBuf, all: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    match as_glob(&path) {
        Some(pattern) => expand_glob(pattern, all)?,
        None => all.push(path),
    }
    Ok(())
}

/// A pattern, unless there is a file of this name.
fn as_glob(path: &Path) -> Option<&str> {
    path.to_str().filter(|text| has_wildcard(text) && !path.exists())
}

fn has_wildcard(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// The directory that a pattern begins with, spelled as in the paths that it matches: without a
/// leading `./`.
fn glob_root(path: &Path) -> Option<PathBuf> {
    let parts = Path::new(as_glob(path)?).components();
    let fixed = parts.take_while(|part| !part.as_os_str().to_str().is_some_and(has_wildcard));
    Some(fixed.filter(|part| *part != Component::CurDir).collect())
}

/// The files in a directory, but neither hidden ones nor those further down: what they would become in one directory of
/// outputs could collide, and a glob says which are meant.
fn expand_directory(dir: &Path, quiet: bool, all: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let name = || dir.display().to_string();
    let (mut files, mut folders) = (Vec::new(), 0_u64);
    for entry in std::fs::read_dir(dir).with_context(name)? {
        let entry = entry.with_context(name)?;
        if entry.file_name().as_encoded_bytes().starts_with(b".") {
            continue;
        }
        match entry.path().is_dir() {
            true => folders += 1,
            false => files.push(entry.path()),
        }
    }
    if files.is_empty() {
        bail!(
            "{}: a directory without files; a quoted glob like '{0}/**/*.gz' takes those further down",
            dir.display()
        );
    }
    if folders > 0 && !quiet {
        let shown = name();
        print_line(format_args!(
            "robosieve: note: {0}: takes the {1} files in it and passes over {folders} directories; a quoted glob like \
             '{0}/**/*.gz' takes the files further down too",
            escape(&shown),
            files.len(),
        ));
    }
    files.sort();
    all.append(&mut files);
    Ok(())
}

/// The files that a pattern matches; as in a shell, hidden ones only where the pattern has the dot. (The library's own option
/// for that panics at a name that is not UTF-8; without it, it passes over such names.)
fn expand_glob(pattern: &str, all: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let matches =
        glob::glob_with(pattern, glob::MatchOptions::new()).with_context(|| format!("{pattern}: not a glob"))?;
    let mut files = matches.collect::<Result<Vec<PathBuf>, _>>().with_context(|| pattern.to_owned())?;
    files.retain(|path| hidden_parts(path) <= hidden_parts(Path::new(pattern)) && !path.is_dir());
    if files.is_empty() {
        bail!("{pattern}: no file has this name, and as a glob it matches none; look at it with `ls`");
    }
    files.sort();
    all.append(&mut files);
    Ok(())
}

/// How many parts of a path begin with a dot.
fn hidden_parts(path: &Path) -> usize {
    let is_hidden =
        |part: &Component<'_>| matches!(part, Component::Normal(name) if name.as_encoded_bytes().starts_with(b"."));
    path.components().filter(is_hidden).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_in_exactly_one_shard() {
        for (items, of) in [(0, 1), (1, 4), (10, 1), (10, 3), (10, 10), (10, 13)] {
            let shard = |number| parse_shard(&format!("{number}/{of}")).unwrap().part((0..items).collect::<Vec<u32>>());
            let shards: Vec<Vec<u32>> = (1..=of).map(shard).collect();
            let (least, most) = (shards.iter().map(Vec::len).min(), shards.iter().map(Vec::len).max());
            assert!(most.unwrap() - least.unwrap() <= 1, "{items} in {of}: {shards:?}");
            let mut all = shards.concat();
            all.sort_unstable();
            assert_eq!(all, (0..items).collect::<Vec<_>>(), "{items} in {of}");
        }
    }

    #[test]
    fn no_other_shards() {
        for text in ["0/4", "5/4", "0/0", "x/y", "4", "1/", "/4", "-1/4", "1/4/2", "1 /4", ""] {
            assert!(parse_shard(text).is_err(), "{text}");
        }
    }
}
