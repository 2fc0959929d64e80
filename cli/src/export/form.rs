//! The format of an export, by option or file extension.

use anyhow::bail;
use clap::ValueEnum;
use robosieve::output::OutputFormat;
use std::path::Path;

/// The format of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ExportForm {
    /// Columns separated by tabs, with a header
    Tsv,
    /// Columns separated by commas, with a header
    Csv,
    /// One JSON object per line
    Jsonl,
    /// A Parquet file with typed columns
    Parquet,
}

impl ExportForm {
    fn of_extension(extension: &str) -> Option<Self> {
        match extension {
            "tsv" | "tab" | "txt" => Some(Self::Tsv),
            "csv" => Some(Self::Csv),
            "jsonl" | "ndjson" => Some(Self::Jsonl),
            "parquet" | "parq" | "pq" => Some(Self::Parquet),
            _ => None,
        }
    }

    /// The usual extension.
    fn extension(self) -> &'static str {
        match self {
            Self::Tsv => "tsv",
            Self::Csv => "csv",
            Self::Jsonl => "jsonl",
            Self::Parquet => "parquet",
        }
    }
}

/// The extension of a name in lower case.
fn extension(path: &Path) -> Option<String> {
    path.extension()
        .and_then(|extension| extension.to_str())
        .map(str::to_ascii_lowercase)
}

/// The format that `--as` or the extension of the output names.
pub(super) fn output_form(
    path: Option<&Path>,
    format: Option<ExportForm>,
) -> anyhow::Result<ExportForm> {
    let Some(path) = path else {
        return Ok(format.unwrap_or(ExportForm::Tsv));
    };
    // In `origins.tsv.gz`, the extension before the last names the format.
    let last = extension(path).unwrap_or_default();
    let is_compressed = matches!(last.as_str(), "gz" | "zst");
    let inner = if is_compressed {
        extension(&path.with_extension("")).unwrap_or_default()
    } else {
        last
    };
    let shown = path.display();
    if inner == "json" && format.is_none() {
        bail!("{shown}: -o writes one JSON object per line; name it .jsonl");
    }
    let by_name = ExportForm::of_extension(&inner);
    let form = format.or(by_name).unwrap_or(ExportForm::Tsv);
    if by_name.is_some_and(|by_name| by_name != form) {
        bail!(
            "{shown}: the name says .{inner}, and --as says {0}; name it .{0}",
            form.extension()
        );
    }
    match form {
        ExportForm::Parquet if is_compressed => {
            bail!(
                "{shown}: a Parquet file is not compressed as a whole; name it without .gz or .zst"
            )
        }
        ExportForm::Parquet => {}
        _ => OutputFormat::Text.check(path)?,
    }
    Ok(form)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_decide_the_format() {
        for (name, form) in [
            ("x", ExportForm::Tsv),
            ("-", ExportForm::Tsv),
            ("x.TSV.gz", ExportForm::Tsv),
            ("x.csv.zst", ExportForm::Csv),
            ("a.b/x.ndjson", ExportForm::Jsonl),
            ("x.pq", ExportForm::Parquet),
            ("x.gz", ExportForm::Tsv),
        ] {
            assert_eq!(
                output_form(Some(Path::new(name)), None).unwrap(),
                form,
                "{name}"
            );
        }
        assert_eq!(
            output_form(Some(Path::new("x.gz")), Some(ExportForm::Csv)).unwrap(),
            ExportForm::Csv
        );
    }

    #[test]
    fn contradictions_are_refused() {
        for (name, format, cause) in [
            ("x.json", None, "name it .jsonl"),
            ("x.parquet.gz", None, "without .gz"),
            ("x.csv", Some(ExportForm::Jsonl), "name it .jsonl"),
            ("x.xz", None, "cannot write .xz"),
            ("x.arrow", None, ".arrow"),
        ] {
            let err = output_form(Some(Path::new(name)), format)
                .unwrap_err()
                .to_string();
            assert!(err.contains(cause), "{name}: {err}");
        }
    }
}
