//! Which input goes where; refuses what would overwrite.

use super::super::task::Places;
use anyhow::{Context, bail};
use std::collections::{HashMap, HashSet};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The folder of state files in the directory of outputs.
const STATE_DIR: &str = ".robosieve";

/// One input and where its lines go.
pub(crate) struct FileJob {
    pub input: PathBuf,
    /// The input's path without links.
    pub real: PathBuf,
    pub size: u64,
    pub places: Places,
    /// The file that tells whether the outputs are complete.
    pub state: PathBuf,
}

/// A job for each input, whose outputs lie in `dirs` under the input's name.
pub(crate) fn plan(inputs: Vec<PathBuf>, dirs: &Places, snapshot: &Path) -> anyhow::Result<Vec<FileJob>> {
    check_dirs(dirs)?;
    let files = inputs.into_iter().map(|input| to_job(input, dirs)).collect::<anyhow::Result<Vec<FileJob>>>()?;
    let mut names: HashMap<OsString, &Path> = HashMap::new();
    for file in &files {
        if let Some(other) = names.insert(name_of(&file.input)?, &file.input) {
            bail!(
                "{} and {}: inputs of one name, which would become one output; rename one, or run them with an --out-dir each",
                other.display(),
                file.input.display(),
            );
        }
    }
    let mut read: HashSet<PathBuf> = files.iter().map(|file| file.real.clone()).collect();
    read.extend(snapshot.canonicalize());
    for (_, output) in files.iter().flat_map(|file| file.places.named()) {
        // What does not exist is no input.
        if output.canonicalize().is_ok_and(|real| read.contains(&real)) {
            bail!("{}: would be written over while it is read; name another directory for outputs", output.display());
        }
    }
    Ok(files)
}

fn to_job(input: PathBuf, dirs: &Places) -> anyhow::Result<FileJob> {
    let shown = || input.display().to_string();
    let name = name_of(&input)?;
    let meta = std::fs::metadata(&input).with_context(shown)?;
    if !meta.is_file() {
        bail!("{}: --out-dir takes files, and this is none; give it to a run of its own with -o", input.display());
    }
    let real = input.canonicalize().with_context(shown)?;
    let in_dir = |dir: &Option<PathBuf>| dir.as_ref().map(|dir| dir.join(&name));
    let places = Places {
        main: in_dir(&dirs.main),
        disallowed: in_dir(&dirs.disallowed),
        unknown: in_dir(&dirs.unknown),
        invalid: in_dir(&dirs.invalid),
    };
    let mut state = name.clone();
    state.push(".json");
    let state = state_dir(dirs).join(state);
    Ok(FileJob { real, size: meta.len(), places, state, input })
}

fn name_of(input: &Path) -> anyhow::Result<OsString> {
    if input.as_os_str() == "-" {
        bail!("--out-dir names outputs after inputs, and standard input has no name; use -o, or name files");
    }
    input.file_name().map(OsString::from).with_context(|| format!("{}: has no file name", input.display()))
}

fn state_dir(dirs: &Places) -> PathBuf {
    dirs.main.clone().unwrap_or_default().join(STATE_DIR)
}

fn check_dirs(dirs: &Places) -> anyhow::Result<()> {
    for (_, dir) in dirs.named() {
        if dir.as_os_str() == "-" {
            bail!("-: with --out-dir every place for lines is a directory; name one");
        }
        if dir.exists() && !dir.is_dir() {
            bail!(
                "{}: is a file, and --out-dir needs a directory; name another, which is made if needed",
                dir.display()
            );
        }
    }
    Ok(())
}

/// Makes the directories that are not there yet.
pub(crate) fn make_dirs(dirs: &Places) -> anyhow::Result<()> {
    for dir in dirs.named().map(|(_, dir)| dir).chain([state_dir(dirs).as_path()]) {
        std::fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
    }
    Ok(())
}
