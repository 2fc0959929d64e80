//! The plan of `--out-dir`: the output paths of every input. Overwriting is refused.

use crate::inputs::{InputArgs, LocatedInput};
use crate::judge_job::{Action, JobPaths};
use crate::option_guard::OptionGuard;
use anyhow::{Context, bail};
use robosieve::output::is_standard_stream;
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::path::{Component, Path, PathBuf};

/// The directory of state files, in the directory of outputs.
const STATE_DIR: &str = ".robosieve";

/// One input and its output paths.
pub(super) struct FileJob {
    pub input: PathBuf,
    /// The path of the input with links resolved.
    pub real: PathBuf,
    pub size: u64,
    pub paths: JobPaths,
    /// The state file of the outputs.
    pub state: PathBuf,
}

/// Makes one job per input of this shard, with outputs in `dirs` that `action` names after the input,
/// and creates their directories. `guard` has the other files that the run reads.
pub(super) fn plan(
    action: &Action,
    inputs: &InputArgs,
    dirs: &JobPaths,
    guard: OptionGuard,
    quiet: bool,
) -> anyhow::Result<Vec<FileJob>> {
    // Every shard checks the outputs of all shards, so that concurrent runs do not overwrite each
    // other.
    let all = inputs.all_located(quiet)?;
    check_dirs(dirs)?;
    let names = output_names(action, &all)?;
    let jobs = all
        .into_iter()
        .zip(&names)
        .map(|(input, name)| to_job(input.path, name, dirs));
    let files = jobs.collect::<anyhow::Result<Vec<FileJob>>>()?;
    refuse_overwriting(&files, guard)?;
    let files = inputs.part(files);
    make_dirs(&files, dirs)?;
    Ok(files)
}

/// The paths of the outputs, relative to the output directory.
fn output_names(action: &Action, inputs: &[LocatedInput]) -> anyhow::Result<Vec<PathBuf>> {
    let names = names(inputs)?;
    let outputs: Vec<PathBuf> = names.iter().map(|name| action.output_name(name)).collect();
    let among_states = inputs
        .iter()
        .zip(&outputs)
        .find(|(_, output)| has_state_dir(output));
    if let Some((input, output)) = among_states {
        bail!(
            "{}: its output {} would be among the state files of --resume, which are in \
             {STATE_DIR}; give it to a run of its own",
            input.path.display(),
            output.display()
        );
    }
    if let Some((one, other)) = equal_pair(&outputs) {
        bail!(
            "{} and {}: both give the output {}; give each to a run with another --out-dir",
            inputs[one].path.display(),
            inputs[other].path.display(),
            outputs[one].display()
        );
    }
    Ok(outputs)
}

/// The paths of the inputs, relative to the output directory. Each is the path of the input below
/// the root of its tree. If two would be equal, all inputs keep their directories below the common
/// one.
fn names(inputs: &[LocatedInput]) -> anyhow::Result<Vec<PathBuf>> {
    let names = inputs
        .iter()
        .map(LocatedInput::name)
        .collect::<anyhow::Result<Vec<PathBuf>>>()?;
    if equal_pair(&names).is_none() {
        return Ok(names);
    }
    let paths = inputs
        .iter()
        .map(|input| full_path(&input.path))
        .collect::<anyhow::Result<Vec<PathBuf>>>()?;
    if let Some((one, other)) = equal_pair(&paths) {
        let [one, other] = [one, other].map(|i| inputs[i].path.display());
        bail!("{one} and {other}: the same file twice, which would give one output; name it once");
    }
    let root = common_root(&paths);
    Ok(paths
        .iter()
        .map(|path| path.strip_prefix(&root).unwrap_or(path).to_owned())
        .collect())
}

/// The indices of two equal paths.
fn equal_pair(paths: &[PathBuf]) -> Option<(usize, usize)> {
    let mut seen: HashMap<&Path, usize> = HashMap::new();
    paths
        .iter()
        .enumerate()
        .find_map(|(i, path)| Some((seen.insert(path, i)?, i)))
}

/// The absolute path. Links stay, unless `..` leaves one.
fn full_path(path: &Path) -> anyhow::Result<PathBuf> {
    let full = std::path::absolute(path).with_context(|| path.display().to_string())?;
    if full.components().all(|part| part != Component::ParentDir) {
        return Ok(full);
    }
    let parent = full.parent().unwrap_or(&full);
    let name = full.file_name().unwrap_or_default();
    Ok(parent
        .canonicalize()
        .with_context(|| path.display().to_string())?
        .join(name))
}

/// The deepest directory that contains all paths.
fn common_root(paths: &[PathBuf]) -> PathBuf {
    let mut root = paths
        .first()
        .and_then(|path| path.parent())
        .unwrap_or(Path::new(""))
        .to_owned();
    while !paths.iter().all(|path| path.starts_with(&root)) && root.pop() {}
    root
}

/// The job of one input: its outputs have this name in the directories of `dirs`.
fn to_job(input: PathBuf, name: &Path, dirs: &JobPaths) -> anyhow::Result<FileJob> {
    // `--resume` compares sizes and times, which pipes and devices do not have.
    let meta = std::fs::metadata(&input).with_context(|| input.display().to_string())?;
    if !meta.is_file() {
        bail!(
            "{}: not a regular file, and --out-dir takes only these; give it to a run of its own \
             with -o",
            input.display()
        );
    }
    // A link may be pointed at another file between two runs, and then the output is not complete.
    let real = input
        .canonicalize()
        .with_context(|| input.display().to_string())?;
    let paths = JobPaths {
        main: path_in(&dirs.main, name),
        disallowed: path_in(&dirs.disallowed, name),
        unknown: path_in(&dirs.unknown, name),
        invalid: path_in(&dirs.invalid, name),
        listed: path_in(&dirs.listed, name),
        // The ending distinguishes an index from the output with the same name.
        cdxj: path_in(&dirs.cdxj, &with_ending(name, ".cdxj")),
        of_directory: true,
    };
    Ok(FileJob {
        real,
        size: meta.len(),
        paths,
        state: state_dir(dirs).join(with_ending(name, ".json")),
        input,
    })
}

/// The output in a directory, if there is one.
fn path_in(dir: &Option<PathBuf>, name: &Path) -> Option<PathBuf> {
    dir.as_ref().map(|dir| dir.join(name))
}

fn state_dir(dirs: &JobPaths) -> PathBuf {
    dirs.main.clone().unwrap_or_default().join(STATE_DIR)
}

/// The name with an additional ending.
fn with_ending(name: &Path, ending: &str) -> PathBuf {
    let mut file_name = name.file_name().unwrap_or_default().to_owned();
    file_name.push(OsStr::new(ending));
    name.with_file_name(file_name)
}

fn check_dirs(dirs: &JobPaths) -> anyhow::Result<()> {
    let mut guard = OptionGuard::default();
    for (output, dir) in dirs.named() {
        if is_standard_stream(dir) {
            bail!("-: with --out-dir every output is a directory; name one");
        }
        if dir.exists() && !dir.is_dir() {
            bail!(
                "{}: is a file, and --out-dir needs a directory; name another, which is created if \
                 needed",
                dir.display()
            );
        }
        let option = dirs.option_of(output);
        guard.add_output(option, dir)?;
        if is_among_states(dir) {
            bail!(
                "{}: {option} names the directory of the state files of --resume; name another",
                dir.display()
            );
        }
    }
    // Under a dangling link, which names it as soon as it is created.
    guard.add_output("--out-dir", &state_dir(dirs))
}

/// Whether a directory is one of state files, or in one, under any of its names. It need not exist.
fn is_among_states(dir: &Path) -> bool {
    let full = std::path::absolute(dir).unwrap_or_default();
    let existing = full.ancestors().find_map(|part| part.canonicalize().ok());
    has_state_dir(dir) || existing.is_some_and(|existing| has_state_dir(&existing))
}

fn has_state_dir(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == STATE_DIR)
}

/// Refuses outputs and state files that are inputs too, and two outputs that are one file.
fn refuse_overwriting(files: &[FileJob], guard: OptionGuard) -> anyhow::Result<()> {
    let mut guard = guard.add_inputs("an input", files.iter().map(|file| &file.input));
    for file in files {
        for (output, path) in file.paths.named() {
            guard.add_output_in_directory(file.paths.option_of(output), path)?;
        }
        guard.add_output_in_directory("--out-dir", &file.state)?;
    }
    Ok(())
}

/// Creates the missing directories of all outputs.
fn make_dirs(files: &[FileJob], dirs: &JobPaths) -> anyhow::Result<()> {
    let states = state_dir(dirs);
    let mut all: BTreeSet<&Path> = dirs.named().map(|(_, dir)| dir).collect();
    all.insert(&states);
    for file in files {
        all.extend(file.state.parent());
        all.extend(file.paths.named().filter_map(|(_, path)| path.parent()));
    }
    all.into_iter()
        .try_for_each(|dir| std::fs::create_dir_all(dir).with_context(|| dir.display().to_string()))
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
