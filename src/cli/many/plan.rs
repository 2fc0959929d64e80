//! Which input goes where; refuses what would overwrite.

use super::super::inputs::LocatedInput;
use super::super::overlap::{Files, place_of};
use super::super::task::Places;
use anyhow::{Context, bail};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

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

/// A job for each input, whose outputs lie in `dirs` under the input's name; `reads` are the other
/// files that the run reads.
pub(crate) fn plan(inputs: Vec<LocatedInput>, dirs: &Places, reads: Files) -> anyhow::Result<Vec<FileJob>> {
    check_dirs(dirs)?;
    let names = names(&inputs)?;
    let jobs = inputs.into_iter().zip(&names).map(|(input, name)| to_job(input.path, name, dirs));
    let files = jobs.collect::<anyhow::Result<Vec<FileJob>>>()?;
    refuse_overlap(&files, &names, dirs, reads)?;
    Ok(files)
}

/// The paths of the outputs in their directory: those of the inputs below the root of the tree they
/// were found in. Where two would be equal all inputs keep their folders, below the root that they
/// have in common.
fn names(inputs: &[LocatedInput]) -> anyhow::Result<Vec<PathBuf>> {
    let names = inputs.iter().map(LocatedInput::name).collect::<anyhow::Result<Vec<PathBuf>>>()?;
    if equal_pair(&names).is_none() {
        return Ok(names);
    }
    let paths = inputs.iter().map(|input| full_path(&input.path)).collect::<anyhow::Result<Vec<PathBuf>>>()?;
    if let Some((one, other)) = equal_pair(&paths) {
        let [one, other] = [one, other].map(|i| inputs[i].path.display());
        bail!("{one} and {other}: one file named twice, which would become one output; name it once");
    }
    let root = common_root(&paths);
    Ok(paths.iter().map(|path| path.strip_prefix(&root).unwrap_or(path).to_owned()).collect())
}

/// The places of two equal paths.
fn equal_pair(paths: &[PathBuf]) -> Option<(usize, usize)> {
    let mut seen: HashMap<&Path, usize> = HashMap::new();
    paths.iter().enumerate().find_map(|(i, path)| Some((seen.insert(path, i)?, i)))
}

/// The path from the root of the file system. Links stay, unless `..` leads out of one.
fn full_path(path: &Path) -> anyhow::Result<PathBuf> {
    let full = std::path::absolute(path).with_context(|| path.display().to_string())?;
    if full.components().all(|part| part != Component::ParentDir) {
        return Ok(full);
    }
    let (folder, name) = (full.parent().unwrap_or(&full), full.file_name().unwrap_or_default());
    Ok(folder.canonicalize().with_context(|| path.display().to_string())?.join(name))
}

/// The deepest directory that all paths lie in.
fn common_root(paths: &[PathBuf]) -> PathBuf {
    let mut root = paths.first().and_then(|path| path.parent()).unwrap_or(Path::new("")).to_owned();
    while !paths.iter().all(|path| path.starts_with(&root)) && root.pop() {}
    root
}

fn to_job(input: PathBuf, name: &Path, dirs: &Places) -> anyhow::Result<FileJob> {
    let shown = || input.display().to_string();
    let meta = std::fs::metadata(&input).with_context(shown)?;
    if !meta.is_file() {
        bail!("{}: --out-dir takes files, and this is none; give it to a run of its own with -o", input.display());
    }
    let real = input.canonicalize().with_context(shown)?;
    let in_dir = |dir: &Option<PathBuf>| dir.as_ref().map(|dir| dir.join(name));
    let places = Places {
        main: in_dir(&dirs.main),
        disallowed: in_dir(&dirs.disallowed),
        unknown: in_dir(&dirs.unknown),
        invalid: in_dir(&dirs.invalid),
        of_directory: true,
    };
    let state = state_of(dirs, name);
    Ok(FileJob { real, size: meta.len(), places, state, input })
}

/// The state file of the output with this name.
fn state_of(dirs: &Places, name: &Path) -> PathBuf {
    let mut file_name = name.file_name().unwrap_or_default().to_owned();
    file_name.push(OsStr::new(".json"));
    dirs.main.clone().unwrap_or_default().join(STATE_DIR).join(name).with_file_name(file_name)
}

fn check_dirs(dirs: &Places) -> anyhow::Result<()> {
    let mut seen = Files::default();
    for (part, dir) in dirs.named() {
        if dir.as_os_str() == "-" {
            bail!("-: with --out-dir every place for lines is a directory; name one");
        }
        if dir.exists() && !dir.is_dir() {
            bail!(
                "{}: is a file, and --out-dir needs a directory; name another, which is made if needed",
                dir.display()
            );
        }
        seen.writes(dirs.option_of(part), dir)?;
    }
    Ok(())
}

/// Refuses outputs and state files that are read too, and outputs that would be one file.
fn refuse_overlap(files: &[FileJob], names: &[PathBuf], dirs: &Places, reads: Files) -> anyhow::Result<()> {
    let mut all = reads.reads("an input", files.iter().map(|file| &file.input));
    let real_dirs: Vec<PathBuf> = dirs.named().map(|(_, dir)| place_of(dir)).collect();
    let main = dirs.main.as_deref().map(place_of).unwrap_or_default();
    let dirs = Places { main: Some(main), ..Places::default() };
    for (file, name) in files.iter().zip(names) {
        for ((part, path), dir) in file.places.named().zip(&real_dirs) {
            all.writes_in_directory(file.places.option_of(part), path, dir.join(name))?;
        }
        all.writes_in_directory("--out-dir", &file.state, state_of(&dirs, name))?;
    }
    Ok(())
}

/// Makes the directories of all outputs that are not there yet.
pub(crate) fn make_dirs(files: &[FileJob], dirs: &Places) -> anyhow::Result<()> {
    let states = dirs.main.clone().unwrap_or_default().join(STATE_DIR);
    let of_files = files.iter().flat_map(|file| {
        let outputs = file.places.named().map(|(_, path)| path).chain([file.state.as_path()]);
        outputs.filter_map(Path::parent)
    });
    let mut all: Vec<&Path> = of_files.chain(dirs.named().map(|(_, dir)| dir)).chain([states.as_path()]).collect();
    all.sort_unstable();
    all.dedup();
    all.into_iter().try_for_each(|dir| std::fs::create_dir_all(dir).with_context(|| dir.display().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_common_root_is_the_deepest_directory() {
        for (paths, root) in [
            (&["/a/b/c", "/a/b/d"][..], "/a/b"),
            (&["/a/b/c", "/a/bb/c"], "/a"),
            (&["/a/b/c", "/a/c"], "/a"),
            (&["/a/b", "/c/b"], "/"),
            (&["/a/b"], "/a"),
        ] {
            let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
            assert_eq!(common_root(&paths), Path::new(root), "{paths:?}");
        }
    }
}
