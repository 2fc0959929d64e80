//! The formats of an export.

use crate::output_form::OutputForm;
use clap::ValueEnum;
use robosieve::export::ColumnNames;

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
    /// How agents' columns are named by default. Parquet files are read by SQL, which takes a dot
    /// for a field of a struct.
    pub(super) fn column_names(self) -> ColumnNames {
        match self {
            Self::Parquet => ColumnNames::Underscores,
            _ => ColumnNames::Dots,
        }
    }
}

impl OutputForm for ExportForm {
    const DEFAULT: Self = Self::Tsv;
    const EXTENSIONS: &'static str = ".tsv, .csv, .jsonl and .parquet (a spreadsheet opens .csv)";

    fn of_extension(extension: &str) -> Option<Self> {
        match extension {
            "tsv" | "tab" | "txt" => Some(Self::Tsv),
            "csv" => Some(Self::Csv),
            "jsonl" | "ndjson" => Some(Self::Jsonl),
            "parquet" | "parq" | "pq" => Some(Self::Parquet),
            _ => None,
        }
    }

    fn extension(self) -> &'static str {
        match self {
            Self::Tsv => "tsv",
            Self::Csv => "csv",
            Self::Jsonl => "jsonl",
            Self::Parquet => "parquet",
        }
    }

    fn is_text(self) -> bool {
        self != Self::Parquet
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::output_form::output_form;
    use std::path::Path;

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
                output_form::<ExportForm>(Some(Path::new(name)), None).unwrap(),
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
            (
                "x.arrow",
                None,
                "does not write .arrow; it writes .tsv, .csv,",
            ),
            (
                "x.XLSX",
                None,
                "does not write .xlsx; it writes .tsv, .csv,",
            ),
            ("x.sqlite.gz", None, "does not write .sqlite"),
            ("x.ods", Some(ExportForm::Csv), "does not write .ods"),
        ] {
            let err = output_form(Some(Path::new(name)), format)
                .unwrap_err()
                .to_string();
            assert!(err.contains(cause), "{name}: {err}");
        }
    }
}
