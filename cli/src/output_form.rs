//! The form of an output that has several: by option, or by its file extension.

use anyhow::bail;
use robosieve::output::OutputFormat;
use std::path::Path;

/// The forms of an output, such as text and JSON lines.
pub(crate) trait OutputForm: Copy + PartialEq {
    /// The form of standard output, and of a file with any other extension.
    const DEFAULT: Self;

    /// The form that a file extension in lower case names.
    fn of_extension(extension: &str) -> Option<Self>;

    /// The usual extensions of all forms, for messages.
    const EXTENSIONS: &'static str;

    /// The usual extension.
    fn extension(self) -> &'static str;

    /// Whether it is text, which .gz and .zst compress as a whole.
    fn is_text(self) -> bool {
        true
    }
}

/// Extensions of tables that some verb or no verb writes. Text under such a name would be taken for
/// a damaged table.
const OTHER_TABLES: [&str; 11] = [
    "arrow", "avro", "db", "duckdb", "feather", "ods", "orc", "parquet", "sqlite", "xls", "xlsx",
];

/// The extension of a name in lower case.
fn extension(path: &Path) -> Option<String> {
    path.extension()
        .and_then(|extension| extension.to_str())
        .map(str::to_ascii_lowercase)
}

/// The form that `--as` or the extension of the output names.
pub(crate) fn output_form<F: OutputForm>(
    path: Option<&Path>,
    format: Option<F>,
) -> anyhow::Result<F> {
    let Some(path) = path else {
        return Ok(format.unwrap_or(F::DEFAULT));
    };
    // In `origins.tsv.gz`, the extension before the last names the form.
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
    let by_name = F::of_extension(&inner);
    let form = format.or(by_name).unwrap_or(F::DEFAULT);
    if by_name.is_none() && OTHER_TABLES.contains(&inner.as_str()) {
        bail!(
            "{shown}: -o does not write .{inner}; it writes {}",
            F::EXTENSIONS
        );
    }
    if by_name.is_some_and(|by_name| by_name != form) {
        bail!(
            "{shown}: the name says .{inner}, and --as says {0}; name it .{0}",
            form.extension()
        );
    }
    if form.is_text() {
        OutputFormat::Text.check(path)?;
    } else if is_compressed {
        bail!("{shown}: a Parquet file is not compressed as a whole; name it without .gz or .zst");
    } else {
        OutputFormat::Parquet.check(path)?;
    }
    Ok(form)
}
