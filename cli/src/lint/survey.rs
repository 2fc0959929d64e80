//! The findings of a snapshot, counted by code.

use super::lint_args::{LintArgs, code_width};
use crate::figures::counts::{counted, grouped};
use crate::figures::escape::{escape_cut, to_json_pretty};
use crate::output::print_with;
use crate::progress::Progress;
use crate::stats_json::RunRecord;
use anyhow::{Context, bail};
use robosieve::Snapshot;
use robosieve::lint::{CodeCount, Survey, survey};
use serde_json::{Value, json};
use std::cmp::Reverse;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Prints a table, or a JSON object, for each snapshot.
pub(super) fn run(args: &LintArgs, paths: &[PathBuf], quiet: bool) -> anyhow::Result<()> {
    if args.sarif {
        bail!("--sarif lists findings in files, and a snapshot has counts only; use --json");
    }
    if args.deny.is_some() {
        bail!("--deny decides on findings in files, and a snapshot has counts only; leave it out");
    }
    let mut counts = args.stats.open()?;
    let mut record = RunRecord::new();
    let mut surveys = Vec::new();
    for path in paths {
        let snapshot = Snapshot::open(path)?;
        args.verify.all(&snapshot, path)?;
        record = record.snapshot(path, &snapshot)?;
        // Nearly all of the time goes into the texts, so their bytes are the progress.
        let texts = snapshot
            .sections()
            .find(|(name, _)| *name == "texts")
            .map_or(0, |(_, len)| len);
        let progress = Progress::of_part(texts, " of texts", quiet);
        let counted = survey(&snapshot, &args.allow, |bytes| progress.add(bytes));
        progress.finish();
        snapshot.verify_unchanged()?;
        surveys.push((
            path.as_path(),
            counted.with_context(|| path.display().to_string())?,
        ));
    }
    record.write(json!({ "lint": objects(&surveys) }), &mut counts)?;
    let text = match args.json {
        true => to_json_pretty(&objects(&surveys))?,
        false => text(&surveys),
    };
    print_with(&text, counts)
}

/// The longest example in the table. A host has at most 253 characters.
const LONGEST: usize = 60;

fn text(surveys: &[(&Path, Survey)]) -> String {
    let width = code_width();
    let mut out = String::new();
    for (path, survey) in surveys {
        let Survey {
            origins,
            files,
            clean_files,
            clean_origins,
            codes,
            ..
        } = survey;
        let origins = counted(*origins, "origin");
        let [files, clean_files, clean_origins] =
            [files, clean_files, clean_origins].map(|n| grouped(*n));
        let name = path.display().to_string();
        let _ = writeln!(
            out,
            "{}: {origins} with a robots.txt, {files} distinct; without findings: \
             {clean_origins}, {clean_files} distinct",
            escape_cut(&name, usize::MAX)
        );
        let _ = writeln!(
            out,
            "{:<width$}  {:<8} {:>12} {:>12}  example",
            "code", "severity", "files", "origins"
        );
        // The most severe codes come first, and of these the most frequent.
        let mut rows: Vec<&CodeCount> = codes.iter().filter(|row| row.files > 0).collect();
        rows.sort_by_key(|row| Reverse((row.code.severity(), row.origins)));
        for row in rows {
            let code = row.code.name();
            let severity = row.code.severity().name();
            let [files, origins] = [row.files, row.origins].map(grouped);
            let example = escape_cut(row.example.as_deref().unwrap_or_default(), LONGEST);
            let _ = writeln!(
                out,
                "{code:<width$}  {severity:<8} {files:>12} {origins:>12}  {example}"
            );
        }
    }
    out
}

fn objects(surveys: &[(&Path, Survey)]) -> Vec<Value> {
    let mut objects = Vec::new();
    for (path, survey) in surveys {
        objects.push(json!({
            "snapshot": path.display().to_string(), "origins": survey.origins, "files": survey.files,
            "clean_origins": survey.clean_origins, "clean_files": survey.clean_files,
            "codes": survey.codes.iter().map(json_of_code).collect::<Vec<Value>>(),
        }));
    }
    objects
}

fn json_of_code(row: &CodeCount) -> Value {
    json!({
        "code": row.code.name(), "severity": row.code.severity().name(), "files": row.files,
        "origins": row.origins, "example": row.example,
    })
}
