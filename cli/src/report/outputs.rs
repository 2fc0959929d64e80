//! The outputs of a report: created first, written when the figures are complete.

use crate::figures::escape::to_json_pretty;
use crate::output::OutputTarget;
use crate::time::time;
use anyhow::Context;
use jiff::Timestamp;
use serde::Serialize;
use std::path::Path;

/// Creates the outputs ahead of the work, so that an unwritable output fails at once.
pub(super) fn open_outputs<'o>(
    named: &[(&'o str, &Path)],
) -> anyhow::Result<Vec<(&'o str, OutputTarget)>> {
    named
        .iter()
        .map(|(option, path)| Ok((*option, OutputTarget::open(Some(path))?)))
        .collect()
}

/// Writes each output with the text for its option.
pub(super) fn write(
    outputs: Vec<(&str, OutputTarget)>,
    text: impl Fn(&str) -> anyhow::Result<String>,
) -> anyhow::Result<Vec<OutputTarget>> {
    let mut written = Vec::new();
    for (option, mut output) in outputs {
        output.write_whole(&text(option)?)?;
        written.push(output);
    }
    Ok(written)
}

/// Figures with their date and the version of the program.
#[derive(Serialize)]
struct DatedFigures<'f, F> {
    made_at: String,
    made_by: &'static str,
    #[serde(flatten)]
    figures: &'f F,
}

pub(super) fn json_text(figures: &impl Serialize, made_at: i64) -> anyhow::Result<String> {
    let made_by = concat!("robosieve ", env!("CARGO_PKG_VERSION"));
    Ok(to_json_pretty(&DatedFigures {
        made_at: time(made_at),
        made_by,
        figures,
    })?)
}

/// The date of the report: the current time, or `SOURCE_DATE_EPOCH` for reproducible bytes.
pub(super) fn made_at() -> anyhow::Result<i64> {
    match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(text) => text.parse().with_context(|| {
            format!("SOURCE_DATE_EPOCH={text}: give seconds since 1970, or unset it")
        }),
        Err(_) => Ok(Timestamp::now().as_second()),
    }
}
