//! The inputs of a command: named, listed in a file, found in directories or by a glob; and the
//! part of them that one shard processes.

use crate::dataset_dirs::{is_marker, refuse_tables};
use crate::figures::counts::{counted, counted_as};
use crate::figures::escape::escape;
use crate::help_text::MANY_FILES;
use crate::standard_streams::check_stdin;
use crate::stderr::print_line;
use anyhow::{Context, bail};
use clap::Args;
use robosieve::output::is_standard_stream;
use std::ffi::OsStr;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

// The lists of URLs.
#[derive(Debug, Args)]
pub(crate) struct InputArgs {
    /// Read more input names from a file, one per line
    ///
    /// `-` is standard input. Blank lines are skipped.
    #[arg(long, value_name = "FILE", help_heading = MANY_FILES)]
    pub files_from: Option<PathBuf>,
    /// Process only part I of N of the inputs, so that N runs share the work
    ///
    /// The first of four parts is 1/4, the last is 4/4.
    #[arg(
        long,
        hide_short_help = true,
        value_name = "I/N",
        value_parser = parse_shard,
        help_heading = MANY_FILES
    )]
    pub shard: Option<InputShard>,
    /// Lists of URLs, Parquet or WARC files (default: standard input)
    ///
    /// A list is text, TSV, CSV, JSONL, CDXJ or CDX; plain, gzip or zstd. WET and WAT files are WARC
    /// files, and ARC and WACZ files are read as such. The content decides, not the name. A directory
    /// stands for its files, and a quoted glob ('crawl/*.gz') for its matches; both without markers
    /// such as `_SUCCESS`.
    #[arg(value_name = "INPUT")]
    pub inputs: Vec<PathBuf>,
}

/// An input, and the directory tree that contains it.
pub(crate) struct LocatedInput {
    pub path: PathBuf,
    /// The directory before the first wildcard of a glob; `None` for a named file, and for a file
    /// of a named directory.
    pub root: Option<PathBuf>,
}

impl LocatedInput {
    /// The name of its output: its path below the root of the tree, or its file name.
    pub(crate) fn name(&self) -> anyhow::Result<PathBuf> {
        let shown = self.path.display();
        if is_standard_stream(&self.path) {
            bail!(
                "--out-dir names outputs after inputs, and standard input has no name; use -o, or \
                 name files"
            );
        }
        let below = self
            .root
            .as_ref()
            .and_then(|root| self.path.strip_prefix(root).ok());
        match below.filter(|below| {
            below
                .components()
                .all(|part| matches!(part, Component::Normal(_)))
        }) {
            Some(below) => Ok(below.to_owned()),
            None => self
                .path
                .file_name()
                .map(PathBuf::from)
                .with_context(|| format!("{shown}: has no file name")),
        }
    }
}

/// Part `number` of `of` parts of the inputs, counted from 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InputShard {
    number: usize,
    of: usize,
}

fn parse_shard(text: &str) -> Result<InputShard, String> {
    InputShard::of_fraction(text)
        .filter(|shard| (1..=shard.of).contains(&shard.number))
        .ok_or_else(|| "give I/N with I from 1 to N: 1/4 is the first of four parts".to_owned())
}

impl InputShard {
    /// The numbers of `I/N`, whatever they are.
    fn of_fraction(text: &str) -> Option<Self> {
        let (number, of) = text.split_once('/')?;
        Some(Self {
            number: number.parse().ok()?,
            of: of.parse().ok()?,
        })
    }

    /// Every N-th item, so that neighbours, which often have similar sizes, go to different shards.
    fn part<T>(self, items: Vec<T>) -> Vec<T> {
        items
            .into_iter()
            .skip(self.number - 1)
            .step_by(self.of)
            .collect()
    }
}

impl InputArgs {
    /// Whether any option or argument names inputs.
    pub(crate) fn are_named(&self) -> bool {
        !self.inputs.is_empty() || self.files_from.is_some() || self.shard.is_some()
    }

    /// Whether standard input is an input, or has their names.
    pub(crate) fn read_standard_input(&self) -> bool {
        let named = self.inputs.iter().chain(&self.files_from);
        let is_default = self.inputs.is_empty() && self.files_from.is_none();
        is_default || named.into_iter().any(is_standard_stream)
    }

    /// The inputs of all shards, in order; those of directories and globs are sorted. Without any,
    /// standard input (`-`).
    pub(crate) fn all(&self, quiet: bool) -> anyhow::Result<Vec<PathBuf>> {
        Ok(self
            .all_located(quiet)?
            .into_iter()
            .map(|input| input.path)
            .collect())
    }

    /// [`all`](Self::all), each with the tree that contains it.
    pub(crate) fn all_located(&self, quiet: bool) -> anyhow::Result<Vec<LocatedInput>> {
        // Without names, the command is a filter in a pipe.
        if self.inputs.is_empty() && self.files_from.is_none() {
            if self.shard.is_some() {
                bail!(
                    "--shard divides inputs, but none is named; name files, a directory, a quoted \
                     glob, or --files-from"
                );
            }
            check_stdin(["-"])?;
            return Ok(vec![LocatedInput {
                path: PathBuf::from("-"),
                root: None,
            }]);
        }
        check_stdin(self.inputs.iter().chain(&self.files_from))?;
        let mut named = self.inputs.clone();
        if let Some(list) = &self.files_from {
            named.extend(read_list(list)?);
            // Standard input is read once: names and URLs would be mixed.
            if is_standard_stream(list) && named.iter().any(is_standard_stream) {
                bail!(
                    "--files-from - reads the names from standard input, so `-` cannot be an input \
                     too; leave one out"
                );
            }
        }
        let mut all = Vec::new();
        for path in named {
            // The matches of a glob keep their directories below its root in `--out-dir`.
            let root = glob_root(&path);
            let found = expand(path, quiet)?;
            all.extend(found.into_iter().map(|path| LocatedInput {
                path,
                root: root.clone(),
            }));
        }
        // An empty list is most likely the output of a command that failed.
        if all.is_empty() {
            bail!("there are no inputs: --files-from lists none; write one per line");
        }
        Ok(all)
    }

    /// The items of this shard, of one item per input; there may be none.
    pub(crate) fn part<T>(&self, items: Vec<T>) -> Vec<T> {
        match self.shard {
            Some(shard) => shard.part(items),
            None => items,
        }
    }
}

/// Refuses a URL where a path belongs, unless a file has this name.
pub(crate) fn refuse_remote(path: &Path) -> anyhow::Result<()> {
    // A name may have `://` without being a URL.
    let Some((scheme, rest)) = path.to_str().and_then(|text| text.split_once("://")) else {
        return Ok(());
    };
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    if !is_scheme || path.exists() {
        return Ok(());
    }
    // Storage has tools that stream, so the advice is a command for the scheme.
    let advice = match scheme.to_ascii_lowercase().as_str() {
        "file" => format!("write the path alone: {rest}"),
        "s3" | "s3a" | "s3n" => {
            "download it first (aws s3 cp), or pipe it: aws s3 cp URL - | robosieve ... -"
                .to_owned()
        }
        "gs" => {
            "download it first (gcloud storage cp), or pipe it: gcloud storage cat URL | robosieve \
             ... -"
                .to_owned()
        }
        "hdfs" => "download it first (hdfs dfs -get), or pipe it: hdfs dfs -cat URL | robosieve \
                   ... -"
            .to_owned(),
        "http" | "https" => {
            "download it first (curl -O), or pipe it: curl -s URL | robosieve ... -".to_owned()
        }
        _ => "download it first, or pipe it to standard input (-)".to_owned(),
    };
    bail!(
        "{}: robosieve reads and writes local files only; {advice}",
        path.display()
    )
}

/// Reads the names that a file lists.
fn read_list(list: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut bytes = Vec::new();
    if is_standard_stream(list) {
        std::io::stdin()
            .read_to_end(&mut bytes)
            .context("standard input")?;
    } else {
        bytes = std::fs::read(list).with_context(|| list.display().to_string())?;
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    let lines = bytes
        .split(|byte| *byte == b'\n')
        .map(|line| line.strip_suffix(b"\r").unwrap_or(line));
    lines
        .filter(|line| !line.trim_ascii().is_empty())
        .map(|line| to_path(line, list))
        .collect()
}

/// A file name may hold any bytes on Unix.
#[cfg(unix)]
fn to_path(name: &[u8], _: &Path) -> anyhow::Result<PathBuf> {
    use std::os::unix::ffi::OsStrExt;
    Ok(PathBuf::from(std::ffi::OsStr::from_bytes(name)))
}

#[cfg(not(unix))]
fn to_path(name: &[u8], list: &Path) -> anyhow::Result<PathBuf> {
    Ok(PathBuf::from(
        std::str::from_utf8(name).with_context(|| list.display().to_string())?,
    ))
}

/// The files that a name stands for.
fn expand(path: PathBuf, quiet: bool) -> anyhow::Result<Vec<PathBuf>> {
    refuse_remote(&path)?;
    let mut files = Vec::new();
    if path.is_dir() {
        refuse_tables([path.as_path()])?;
        expand_directory(&path, quiet, &mut files)?;
    } else if let Some(pattern) = as_glob(&path) {
        expand_glob(pattern, &mut files)?;
        refuse_tables(files.iter().filter_map(|file| file.parent()))?;
    } else {
        // Files of a table may be named: its engine can list those that hold its rows.
        files.push(path);
    }
    Ok(files)
}

/// Expands globs to the files that they match; other names, also of directories, stay.
pub(crate) fn expand_globs(paths: &[PathBuf]) -> anyhow::Result<Vec<PathBuf>> {
    check_stdin(paths)?;
    let mut all = Vec::new();
    paths
        .iter()
        .try_for_each(|path| expand_name(path.clone(), &mut all))?;
    Ok(all)
}

/// Appends the matches of a glob, or the name itself. An existing file is never a glob, whatever
/// characters its name has.
fn expand_name(path: PathBuf, all: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    match as_glob(&path) {
        Some(pattern) => expand_glob(pattern, all)?,
        None => all.push(path),
    }
    Ok(())
}

/// The path as a glob pattern; `None` if it has no wildcard, or if a file has this name.
fn as_glob(path: &Path) -> Option<&str> {
    path.to_str()
        .filter(|text| has_wildcard(text) && !path.exists())
}

fn has_wildcard(text: &str) -> bool {
    text.contains(['*', '?', '['])
}

/// The directory before the first wildcard, spelled as in the matches: without a leading `./`.
fn glob_root(path: &Path) -> Option<PathBuf> {
    let components = Path::new(as_glob(path)?).components();
    let fixed = components.take_while(|part| !part.as_os_str().to_str().is_some_and(has_wildcard));
    Some(fixed.filter(|part| *part != Component::CurDir).collect())
}

/// Appends the files of a directory, without hidden files, markers and subdirectories. The names of
/// files in subdirectories could collide in the output directory; a glob selects them explicitly.
fn expand_directory(dir: &Path, quiet: bool, all: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let name = dir.display().to_string();
    let mut files = Vec::new();
    let mut directories = 0_u64;
    for entry in std::fs::read_dir(dir).with_context(|| name.clone())? {
        let entry = entry.with_context(|| name.clone())?;
        // Hidden files are left out, as a glob of a shell leaves them out.
        let file_name = entry.file_name();
        if begins_with(&file_name, b'.') || is_marker(&file_name) {
            continue;
        }
        match entry.path().is_dir() {
            true => directories += 1,
            false => files.push(entry.path()),
        }
    }
    // Nothing to read is a mistake of the user, and a run without inputs would look like a success.
    if files.is_empty() {
        bail!(
            "{}: a directory without files; a quoted glob like '{0}/**/*.gz' includes those in \
             subdirectories",
            dir.display()
        );
    }
    // The user may expect the files of subdirectories to be read too.
    if directories > 0 && !quiet {
        print_line(format_args!(
            "robosieve: note: {0}: reads the {1} in it and skips {2}; a quoted glob like \
             '{0}/**/*.gz' includes the files in subdirectories",
            escape(&name),
            counted(files.len() as u64, "file"),
            counted_as(directories, "directory", "directories"),
        ));
    }
    files.sort();
    all.append(&mut files);
    Ok(())
}

/// Appends the files that a pattern matches. As in a shell, a hidden file matches only an explicit
/// dot; a marker matches only an explicit underscore. (The option of the `glob` crate for hidden
/// files panics at names that are not UTF-8; without the option, the crate skips such names.)
fn expand_glob(pattern: &str, all: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let mut files = matches(Path::new(pattern)).with_context(|| pattern.to_owned())?;
    let dots = count_components(Path::new(pattern), |name| begins_with(name, b'.'));
    let markers = count_components(Path::new(pattern), |name| {
        is_marker(name) || (begins_with(name, b'_') && name.to_str().is_some_and(has_wildcard))
    });
    files.retain(|path| {
        count_components(path, |name| begins_with(name, b'.')) <= dots
            && count_components(path, is_marker) <= markers
            && !path.is_dir()
    });
    if files.is_empty() {
        bail!(
            "{pattern}: no file has this name, and as a glob it matches none; look at it with `ls`"
        );
    }
    files.sort();
    // Several `**` match one file in several ways.
    files.dedup();
    all.append(&mut files);
    Ok(())
}

/// The paths that a pattern matches. The crate `glob` follows a link to a directory above it
/// for ever, so `**` is expanded here: the rest of the pattern is matched in each directory.
fn matches(pattern: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let parts: Vec<Component<'_>> = pattern.components().collect();
    let Some(at) = parts.iter().position(|part| part.as_os_str() == "**") else {
        // Only names that are UTF-8 get here.
        let pattern = pattern.to_str().unwrap_or_default();
        let paths = glob::glob_with(pattern, glob::MatchOptions::new()).context("not a glob")?;
        return Ok(paths.collect::<Result<_, _>>()?);
    };
    let tops = match at {
        0 => vec![PathBuf::new()],
        _ => matches(&parts[..at].iter().collect::<PathBuf>())?,
    };
    // Several `**` in a row are one, and one at the end stands for all files.
    let rest = parts[at..]
        .iter()
        .skip_while(|part| part.as_os_str() == "**");
    let mut rest: PathBuf = rest.collect();
    if rest.as_os_str().is_empty() {
        rest.push("*");
    }
    let mut directories = Vec::new();
    for top in tops.into_iter().filter(|top| in_place(top).is_dir()) {
        let real = in_place(&top).canonicalize()?;
        add_directories(top, real, &mut Vec::new(), &mut directories)?;
    }
    let mut found = Vec::new();
    for directory in directories.iter().filter_map(|path| path.to_str()) {
        let directory = glob::Pattern::escape(directory);
        found.append(&mut matches(&Path::new(&directory).join(&rest))?);
    }
    Ok(found)
}

/// The path to read: no name is that of the working directory.
fn in_place(path: &Path) -> &Path {
    match path.as_os_str().is_empty() {
        true => Path::new("."),
        false => path,
    }
}

/// Appends a directory and all directories in it. Links are followed, but not to a directory that is
/// one of those `above`: it would be in itself. `real` is the path without links.
fn add_directories(
    path: PathBuf,
    real: PathBuf,
    above: &mut Vec<PathBuf>,
    all: &mut Vec<PathBuf>,
) -> anyhow::Result<()> {
    if above.contains(&real) {
        return Ok(());
    }
    let shown = || in_place(&path).display().to_string();
    above.push(real.clone());
    for entry in std::fs::read_dir(in_place(&path)).with_context(shown)? {
        let entry = entry.with_context(shown)?;
        let below = path.join(entry.file_name());
        if !below.is_dir() {
            continue;
        }
        let real = match below.is_symlink() {
            true => below.canonicalize().with_context(shown)?,
            false => real.join(entry.file_name()),
        };
        add_directories(below, real, above, all)?;
    }
    above.pop();
    all.push(path);
    Ok(())
}

/// The number of components of a path with such a name.
fn count_components(path: &Path, is_such: impl Fn(&OsStr) -> bool) -> usize {
    let names = path.components().filter_map(|component| match component {
        Component::Normal(name) => Some(name),
        _ => None,
    });
    names.filter(|name| is_such(name)).count()
}

fn begins_with(name: &OsStr, byte: u8) -> bool {
    name.as_encoded_bytes().first() == Some(&byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_in_exactly_one_shard() {
        for (items, of) in [(0, 1), (1, 4), (10, 1), (10, 3), (10, 10), (10, 13)] {
            let shard = |number| {
                parse_shard(&format!("{number}/{of}"))
                    .unwrap()
                    .part((0..items).collect::<Vec<u32>>())
            };
            let shards: Vec<Vec<u32>> = (1..=of).map(shard).collect();
            let (least, most) = (
                shards.iter().map(Vec::len).min(),
                shards.iter().map(Vec::len).max(),
            );
            assert!(
                most.unwrap() - least.unwrap() <= 1,
                "{items} in {of}: {shards:?}"
            );
            let mut all = shards.concat();
            all.sort_unstable();
            assert_eq!(all, (0..items).collect::<Vec<_>>(), "{items} in {of}");
        }
    }

    #[test]
    fn malformed_shards_are_refused() {
        for text in [
            "0/4", "5/4", "0/0", "x/y", "4", "1/", "/4", "-1/4", "1/4/2", "1 /4", "",
        ] {
            assert!(parse_shard(text).is_err(), "{text}");
        }
    }
}
