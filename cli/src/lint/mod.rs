//! `robosieve lint`: reports defects of robots.txt files, or counts them over a snapshot.

mod fixes;
mod formats;
mod lint_args;
mod survey;

use crate::ExitCode;
use crate::figures::counts::{counted, grouped};
use crate::figures::escape::escape;
use crate::inputs::expand_globs;
use crate::option_guard::OptionGuard;
use crate::output::OutputTarget;
use crate::progress::Progress;
use crate::robots_file::read_robots;
use crate::stats_json::RunRecord;
use crate::stderr::print_line;
use anyhow::{Context, bail};
use fixes::MendedFile;
use formats::FindingWriter;
pub(crate) use lint_args::LintArgs;
use lint_args::shown;
use rayon::prelude::*;
use robosieve::lint::{Finding, Severity, lint, robots_files};
use serde_json::{Value, json};
use std::fmt::{self, Display};
use std::fs::{self, File};
use std::io::{self, IsTerminal, Read};
use std::path::{Path, PathBuf};

/// The number of files that are checked before their findings are written. It bounds the memory.
const CHUNK: usize = 256;

/// The first bytes of a snapshot.
const SNAPSHOT_START: &[u8] = b"RSIEVE";

pub(crate) fn run(args: &LintArgs, quiet: bool) -> anyhow::Result<ExitCode> {
    if args.codes {
        return formats::print_codes(args.json).map(|()| ExitCode::SUCCESS);
    }
    let named = expand_globs(&args.inputs)?;
    let guard = OptionGuard::default().add_inputs("the snapshot", &args.snapshots);
    let mut guard = guard.add_inputs("an input", &named).add_stdout()?;
    args.stats.refuse_overwriting(&mut guard)?;
    // The first bytes of an input say whether it is a snapshot, so no option does.
    let mut snapshots = args.snapshots.clone();
    let mut others = Vec::new();
    for path in named {
        if is_snapshot(&path) {
            snapshots.push(path)
        } else {
            others.push(path)
        }
    }
    match (snapshots.is_empty(), others.is_empty()) {
        (true, true) => {
            bail!(
                "nothing to check; name robots.txt files, a directory or a snapshot, or `-` for \
                 standard input"
            )
        }
        (true, false) => {
            let mut files = files_of(&others, quiet)?;
            if args.is_mending() {
                fixes::check_inputs(args, &files)?;
                files = fixes::without_repeated(files);
            }
            check_files(args, &files, quiet)
        }
        (false, true) if args.is_mending() => bail!(
            "{} is a snapshot, and --fix and --diff are for robots.txt files",
            snapshots[0].display()
        ),
        (false, true) => survey::run(args, &snapshots, quiet).map(|()| ExitCode::SUCCESS),
        (false, false) => bail!(
            "{} is a snapshot and {} is not; their outputs differ, so check them in two runs",
            snapshots[0].display(),
            others[0].display()
        ),
    }
}

/// Whether a file begins as a snapshot does, or would with another byte in one place: a damaged
/// snapshot is not a robots.txt either. An unreadable file does not; reading it later gives the
/// error.
fn is_snapshot(path: &Path) -> bool {
    let mut start = [0; SNAPSHOT_START.len()];
    let is_read = path.is_file()
        && File::open(path)
            .and_then(|mut file| file.read_exact(&mut start))
            .is_ok();
    let others = start
        .iter()
        .zip(SNAPSHOT_START)
        .filter(|(found, wanted)| found != wanted);
    is_read && others.count() <= 1
}

/// The files that the inputs stand for.
fn files_of(inputs: &[PathBuf], quiet: bool) -> anyhow::Result<Vec<PathBuf>> {
    let mut all = Vec::new();
    for input in inputs {
        if !input.is_dir() {
            all.push(input.clone());
            continue;
        }
        let mut found = robots_files(input)?;
        let shown = input.display().to_string();
        if found.files.is_empty() {
            bail!(
                "{shown}: no robots.txt file; files are named robots.txt, or HOST, HOST_PORT or \
                 SCHEME_HOST_PORT. Name those of subdirectories with a quoted glob \
                 ('*/robots.txt'); compile archives, and give the snapshot"
            );
        }
        // The directory of one site has other files by nature, so they are not mentioned.
        let is_site = found.files.len() == 1 && found.files[0].ends_with("robots.txt");
        if found.skipped > 0 && !is_site && !quiet {
            print_line(format_args!(
                "robosieve: note: {}: skips {} with names other than HOST, HOST_PORT and \
                 SCHEME_HOST_PORT",
                escape(&shown),
                counted(found.skipped, "file")
            ));
        }
        all.append(&mut found.files);
    }
    Ok(all)
}

/// The numbers of files and findings.
#[derive(Default)]
struct LintTotals {
    files: u64,
    clean: u64,
    unreadable: u64,
    /// Files with a fix, and all fixes; `None` without `--fix` and `--diff`.
    mended: Option<MendedTotals>,
    /// By severity: notes, warnings and errors.
    findings: [u64; 3],
}

/// The numbers of mended files and findings.
#[derive(Default)]
struct MendedTotals {
    files: u64,
    findings: u64,
}

impl LintTotals {
    fn add(&mut self, CheckedFile { findings, mended }: &CheckedFile) {
        self.files += 1;
        self.clean += u64::from(findings.is_empty());
        if let (Some(totals), Some(mended)) = (&mut self.mended, mended) {
            totals.files += u64::from(mended.is_changed());
            totals.findings += mended.fixed.mended.len() as u64;
        }
        findings
            .iter()
            .for_each(|finding| self.findings[finding.severity() as usize] += 1);
    }

    /// 1 if a file would change.
    fn exit_code_of_diff(&self) -> ExitCode {
        let has_changes = self.mended.as_ref().is_some_and(|mended| mended.files > 0);
        ExitCode::from(if self.unreadable > 0 {
            2
        } else {
            u8::from(has_changes)
        })
    }

    fn exit_code(&self, deny: Severity) -> ExitCode {
        let is_denied = self.findings[deny as usize..]
            .iter()
            .any(|count| *count > 0);
        ExitCode::from(if self.unreadable > 0 {
            2
        } else {
            u8::from(is_denied)
        })
    }
}

impl LintTotals {
    fn json(&self) -> Value {
        let [notes, warnings, errors] = self.findings;
        json!({
            "files": self.files, "clean": self.clean, "unreadable": self.unreadable,
            "errors": errors, "warnings": warnings, "notes": notes,
            "mended": self.mended.as_ref().map(|mended| {
                json!({ "files": mended.files, "findings": mended.findings })
            }),
        })
    }
}

impl Display for LintTotals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [notes, warnings, errors] = self.findings.map(grouped);
        let files = grouped(self.files);
        let clean = grouped(self.clean);
        write!(
            f,
            "files {files}  clean {clean}  errors {errors}  warnings {warnings}  notes {notes}"
        )?;
        if let Some(MendedTotals { files, findings }) = &self.mended {
            let [files, findings] = [files, findings].map(|count| grouped(*count));
            write!(f, "  fixed {findings} in {files}")?;
        }
        if self.unreadable > 0 {
            write!(f, "  unreadable {}", grouped(self.unreadable))?;
        }
        Ok(())
    }
}

fn check_files(args: &LintArgs, files: &[PathBuf], quiet: bool) -> anyhow::Result<ExitCode> {
    // On a terminal, the findings show the progress, and a bar would break their lines.
    let has_bar = files.len() > CHUNK && !io::stdout().is_terminal();
    let progress = has_bar.then(|| Progress::of_inputs(files, quiet));
    let mut counts = args.stats.open()?;
    let mut out = OutputTarget::open(None)?;
    let mut writer = FindingWriter::begin(args, &mut out)?;
    let mut totals = LintTotals {
        mended: args.is_mending().then(MendedTotals::default),
        ..LintTotals::default()
    };
    for chunk in files.chunks(CHUNK) {
        let checked: Vec<anyhow::Result<CheckedFile>> = chunk
            .par_iter()
            .map(|path| check_file(args, path, progress.as_ref()))
            .collect();
        for (path, checked) in chunk.iter().zip(checked) {
            // Files are rewritten one after another, and before their findings are reported.
            let written = checked.and_then(|checked| {
                if let (Some(mended), true) = (&checked.mended, args.rewrites(path)) {
                    mended.write_back(path)?;
                }
                Ok(checked)
            });
            match written {
                Ok(checked) => {
                    totals.add(&checked);
                    if let Some(mended) = checked.mended.as_ref().filter(|_| !quiet) {
                        mended.print_changes(path);
                    }
                    write_checked(args, path, &checked, &mut writer, &mut out)?;
                }
                // The other files are checked nevertheless.
                Err(err) => {
                    totals.unreadable += 1;
                    print_line(format_args!("robosieve: {}", escape(&format!("{err:#}"))));
                }
            }
        }
    }
    writer.end(&mut out)?;
    RunRecord::new().write(json!({ "lint": totals.json() }), &mut counts)?;
    OutputTarget::commit_all(std::iter::once(out).chain(counts))?;
    drop(progress);
    if !quiet {
        print_line(format_args!("{totals}"));
    }
    Ok(if args.diff {
        totals.exit_code_of_diff()
    } else {
        totals.exit_code(args.deny.unwrap_or(Severity::Error))
    })
}

/// Writes what the options ask for: the findings, the diff, or the mended text of standard input.
fn write_checked(
    args: &LintArgs,
    path: &Path,
    checked: &CheckedFile,
    writer: &mut FindingWriter,
    out: &mut OutputTarget,
) -> anyhow::Result<()> {
    let CheckedFile { findings, mended } = checked;
    match mended {
        Some(mended) if args.diff => mended.write_diff(path, out),
        Some(mended) if !args.rewrites(path) => {
            // Standard output has the text, so the findings go to standard error.
            let mut lines = Vec::new();
            writer.write(&mut lines, path, findings)?;
            let lines = String::from_utf8_lossy(&lines);
            for line in lines.lines() {
                print_line(format_args!("{line}"));
            }
            fixes::write_text(mended, out)
        }
        _ => writer.write(out, path, findings),
    }
}

/// A file with the findings that are left.
struct CheckedFile {
    findings: Vec<Finding>,
    /// With `--fix` and `--diff`.
    mended: Option<MendedFile>,
}

fn check_file(
    args: &LintArgs,
    path: &Path,
    progress: Option<&Progress>,
) -> anyhow::Result<CheckedFile> {
    let mended = args
        .is_mending()
        .then(|| MendedFile::read(args, path).with_context(|| shown(path)))
        .transpose()?;
    let read;
    let body = match &mended {
        Some(mended) => &mended.fixed.body,
        None => {
            read = read_robots(path).with_context(|| shown(path))?;
            &read
        }
    };
    let mut findings = lint(body);
    findings.retain(|finding| !args.allow.contains(&finding.code));
    if let Some(progress) = progress {
        // The bar counts the bytes of the files, which may be compressed.
        progress.add(fs::metadata(path).map_or(body.len() as u64, |metadata| metadata.len()));
    }
    Ok(CheckedFile { findings, mended })
}
