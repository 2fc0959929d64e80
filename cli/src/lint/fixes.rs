//! Mended robots.txt files: read, rewritten in place or shown as a diff, with the changed verdicts.

use super::lint_args::{LintArgs, shown};
use crate::figures::counts::{counted, grouped};
use crate::figures::escape::{escape, escape_lines};
use crate::output::OutputTarget;
use crate::standard_streams::check_stdin;
use crate::stderr::print_line;
use anyhow::{Context, bail};
use robosieve::Profile;
use robosieve::lint::{FieldChange, FixOptions, Fixed, VerdictChange, fix};
use robosieve::output::is_standard_stream;
use similar::DiffTag;
use similar::algorithms::{Capture, Compact, Replace, myers};
use similar::udiff::UnifiedHunkHeader;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::fs::{self, File};
use std::io::{self, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// The longest file that is mended. Parsers read 500 KiB.
const MAX_LEN: u64 = 16 << 20;

/// A file before and after.
pub(super) struct MendedFile {
    original: Vec<u8>,
    pub(super) fixed: Fixed,
}

impl MendedFile {
    /// Reads a file, and mends it in memory.
    ///
    /// # Errors
    /// If it cannot be rewritten as it is: a compressed or very long file, and one that is not
    /// regular.
    pub(super) fn read(args: &LintArgs, path: &Path) -> anyhow::Result<Self> {
        let original = read_plain(path)?;
        let options = FixOptions::new()
            .unsafe_fixes(args.unsafe_fixes)
            .allowed(args.allow.iter().copied());
        let fixed = fix(&original, &options);
        Ok(Self { original, fixed })
    }

    pub(super) fn is_changed(&self) -> bool {
        self.fixed.body != self.original
    }

    /// Replaces the file, if it was mended and nobody else has changed it.
    pub(super) fn write_back(&self, path: &Path) -> anyhow::Result<()> {
        if !self.is_changed() {
            return Ok(());
        }
        if fs::read(path).with_context(|| shown(path))? != self.original {
            bail!(
                "{}: changed while it was checked, and was not rewritten; run again",
                shown(path)
            );
        }
        let mut out = OutputTarget::open(Some(path))?;
        out.write_all(&self.fixed.body)?;
        out.commit()
    }

    /// Writes the unified diff of a mended file.
    pub(super) fn write_diff(&self, path: &Path, out: &mut impl Write) -> anyhow::Result<()> {
        if !self.is_changed() {
            return Ok(());
        }
        // A hostile file has many changes, for which the shortest diff takes long. Without time, the
        // diff has one part, from the first change to the last.
        let time = match is_cheap(&self.original, &self.fixed.body) {
            true => Duration::from_secs(2),
            false => Duration::ZERO,
        };
        let old = patch_lines(&self.original);
        let new = patch_lines(&self.fixed.body);
        let name = escape(&shown(path)).into_owned();
        let diff = unified_diff(&name, &old, &new, Instant::now() + time);
        // A program applies the diff, so its lines have the bytes of the file. A terminal obeys
        // control characters, so there they are escaped.
        if io::stdout().is_terminal() {
            write!(out, "{}", escape_lines(&String::from_utf8_lossy(&diff)))?;
        } else {
            out.write_all(&diff)?;
        }
        Ok(())
    }

    /// Prints the changes that unsafe fixes made to verdicts and to other fields.
    pub(super) fn print_changes(&self, path: &Path) {
        let Fixed {
            verdict_changes,
            field_changes,
            ..
        } = &self.fixed;
        let verdicts = verdict_changes.iter().map(describe_verdict);
        let fields = field_changes.iter().map(describe_field);
        let name = shown(path);
        for change in verdicts.chain(fields).take(MAX_LISTED) {
            print_line(format_args!(
                "robosieve: note: {}: {}",
                escape(&name),
                escape(&change)
            ));
        }
        let count = verdict_changes.len() + field_changes.len();
        if count > MAX_LISTED {
            print_line(format_args!(
                "robosieve: note: {}: {} more",
                escape(&name),
                counted((count - MAX_LISTED) as u64, "change")
            ));
        }
    }
}

/// The unified diff of two files of one name. After the deadline, changes stay as they are found.
///
/// `similar::TextDiff` would write U+FFFD for bytes that are not UTF-8, and it brings four algorithms,
/// each for texts and for bytes: half a megabyte of code.
fn unified_diff(
    name: &str,
    old: &[Cow<'_, [u8]>],
    new: &[Cow<'_, [u8]>],
    deadline: Instant,
) -> Vec<u8> {
    let mut hook = Compact::new(Replace::new(Capture::new()), old, new);
    let result = myers::diff_deadline(
        &mut hook,
        old,
        0..old.len(),
        new,
        0..new.len(),
        Some(deadline),
    );
    // A `Capture` never fails.
    result.unwrap_or_else(|never| match never {});
    let changes = hook.into_inner().into_inner();
    let mut diff = format!("--- {name}\n+++ {name}\n").into_bytes();
    for hunk in changes.into_grouped_ops(CONTEXT_LINES) {
        diff.extend_from_slice(format!("{}\n", UnifiedHunkHeader::new(&hunk)).as_bytes());
        for change in hunk {
            if change.tag() == DiffTag::Equal {
                add_lines(&mut diff, b' ', &old[change.old_range()]);
            } else {
                add_lines(&mut diff, b'-', &old[change.old_range()]);
                add_lines(&mut diff, b'+', &new[change.new_range()]);
            }
        }
    }
    diff
}

fn add_lines(diff: &mut Vec<u8>, sign: u8, lines: &[Cow<'_, [u8]>]) {
    for line in lines {
        diff.push(sign);
        diff.extend_from_slice(line);
    }
}

/// The unchanged lines before and after a change, as `diff -u` has them.
const CONTEXT_LINES: usize = 3;

/// The lines of a text as a patch has them: only a line feed ends one, not a carriage return.
fn patch_lines(text: &[u8]) -> Vec<Cow<'_, [u8]>> {
    let mut lines: Vec<Cow<'_, [u8]>> = text
        .split_inclusive(|byte| *byte == b'\n')
        .map(Cow::Borrowed)
        .collect();
    if let Some(last) = lines.last_mut().filter(|last| !last.ends_with(b"\n")) {
        last.to_mut()
            .extend_from_slice(b"\n\\ No newline at end of file\n");
    }
    lines
}

/// The most steps of a search for the shortest diff, which take half a second.
const MAX_DIFF_STEPS: usize = 1 << 29;

/// Whether the shortest diff is found in a short time: it takes a step for each line and change.
fn is_cheap(old: &[u8], new: &[u8]) -> bool {
    let mut counts: HashMap<&[u8], i64> = HashMap::new();
    let mut lines = 0;
    for (text, step) in [(old, -1), (new, 1)] {
        for line in text.split(|byte| *byte == b'\n') {
            *counts.entry(line).or_default() += step;
            lines += 1;
        }
    }
    let changes: u64 = counts.values().map(|count| count.unsigned_abs()).sum();
    lines * changes as usize <= MAX_DIFF_STEPS
}

/// The most changes of a file that are listed.
const MAX_LISTED: usize = 20;

/// The most agents of one change that are listed.
const MAX_AGENTS: usize = 5;

fn describe_verdict(change: &VerdictChange) -> String {
    let listed: Vec<String> = change
        .agents
        .iter()
        .take(MAX_AGENTS)
        .map(|agent| format!("`{agent}`"))
        .collect();
    let mut agents = listed.join(", ");
    if change.agents.len() > MAX_AGENTS {
        let more = (change.agents.len() - MAX_AGENTS) as u64;
        agents += &format!(" and {} more", grouped(more));
    }
    let [before, after] = match change.was_allowed {
        true => ["allowed", "disallowed"],
        false => ["disallowed", "allowed"],
    };
    let profile = change.profile.map(Profile::name);
    let profile = profile.map_or(String::new(), |name| format!(" (profile {name})"));
    format!(
        "{agents}: {} was {before}, is now {after}{profile}",
        change.path
    )
}

fn describe_field(change: &FieldChange) -> String {
    let FieldChange { name, value, .. } = change;
    match change.is_new {
        true => format!("{name}: {value} is read now"),
        false => format!("{name}: {value} is no longer read"),
    }
}

/// Reads a plain file, which can be rewritten.
fn read_plain(path: &Path) -> anyhow::Result<Vec<u8>> {
    check_stdin([path])?;
    let is_stdin = is_standard_stream(path);
    if !is_stdin && !fs::metadata(path)?.is_file() {
        bail!("is not a regular file, so it cannot be rewritten; use - for standard input");
    }
    let file: Box<dyn Read> = if is_stdin {
        Box::new(io::stdin())
    } else {
        Box::new(File::open(path)?)
    };
    let mut body = Vec::new();
    file.take(MAX_LEN + 1).read_to_end(&mut body)?;
    if body.len() as u64 > MAX_LEN {
        bail!("is longer than 16 MiB, and only shorter files are mended");
    }
    // A name with `.gz` would compress what is written.
    let has_archive_name = path
        .extension()
        .is_some_and(|end| end.eq_ignore_ascii_case("gz") || end.eq_ignore_ascii_case("zst"));
    if has_archive_name || decoded(&body)? != body {
        bail!("is a compressed file, which is not rewritten; decompress it first");
    }
    Ok(body)
}

fn decoded(body: &[u8]) -> anyhow::Result<Vec<u8>> {
    let mut decoded = Vec::new();
    robosieve::decode::decode(body)?
        .take(MAX_LEN + 1)
        .read_to_end(&mut decoded)?;
    Ok(decoded)
}

/// The files, each once: two names of one file would be rewritten twice.
pub(super) fn without_repeated(mut files: Vec<PathBuf>) -> Vec<PathBuf> {
    let mut seen = HashSet::new();
    // A missing file is reported when it is read.
    files.retain(|path| seen.insert(fs::canonicalize(path).unwrap_or_else(|_| path.clone())));
    files
}

/// Refuses inputs that cannot be mended together.
pub(super) fn check_inputs(args: &LintArgs, files: &[PathBuf]) -> anyhow::Result<()> {
    let has_stdin = files.iter().any(is_standard_stream);
    if args.fix && has_stdin && !args.diff {
        if files.len() > 1 {
            bail!(
                "--fix writes the text of `-` to standard output, where nothing else may be; check \
                 the other files in another run"
            );
        }
        if args.json || args.sarif {
            bail!(
                "--fix writes the text of `-` to standard output, where --json and --sarif write \
                 too; name a file instead"
            );
        }
    }
    Ok(())
}

/// Writes a mended text to standard output.
pub(super) fn write_text(mended: &MendedFile, out: &mut impl Write) -> anyhow::Result<()> {
    out.write_all(&mended.fixed.body).context("standard output")
}
