//! Opens and checks a Parquet file: its schema, its row groups, and the column of URLs.

use crate::error::{Error, ErrorKind, Remedy, Result};
use crate::file_format::{ENOUGH, FileFormat, PARQUET_MAGIC};
use crate::parquet::chunks::ParquetFile;
use crate::records::{RecordOptions, UrlComposer};
use parquet::basic::{CompressionCodec, Type as PhysicalType};
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMetaData, PageIndexPolicy, ParquetMetaData, ParquetMetaDataOptions,
    ParquetMetaDataReader,
};
use parquet::file::reader::Length;
use parquet::schema::types::SchemaDescriptor;
use std::fs::File;
use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

/// A Parquet file with a column of URLs. Its footer is read and checked, its rows are not.
///
/// ```no_run
/// let table = robosieve::parquet::ParquetInput::open("crawl.parquet", "url")?;
/// println!("{} rows", table.rows());
/// # Ok::<(), robosieve::Error>(())
/// ```
#[derive(Debug)]
pub struct ParquetInput {
    pub(super) path: PathBuf,
    pub(super) chunks: ParquetFile,
    pub(super) meta: ParquetMetaData,
    /// The number of the leaf column with the URLs.
    pub(super) column: usize,
    pub(super) composer: Option<UrlComposer>,
}

impl ParquetInput {
    /// Opens a file and finds the column of this name (`a.b` for a field of a struct). It must be a
    /// string or binary column that is not repeated. If no column has exactly this name, the only
    /// one that differs in the case of ASCII letters is used. Reads the footer and the page
    /// indexes.
    ///
    /// # Errors
    /// I/O errors; [`ErrorKind::BadTable`] for a file that is not Parquet, is encrypted, is
    /// damaged, or has no such column. All name the file.
    pub fn open(path: impl AsRef<Path>, column: &str) -> Result<Self> {
        let path = path.as_ref();
        Self::read(path, column).map_err(|err| err.at(path))
    }

    /// Whether a file is Parquet: its name ends in `.parquet`, or it starts with the format's magic
    /// number. A pipe or a directory is not, nor is a file of another name that cannot be opened.
    pub fn is_parquet(path: impl AsRef<Path>) -> bool {
        let path = path.as_ref();
        // If the metadata cannot be read, the name decides. Opening the file then reports why, and
        // its bytes never become lines.
        if std::fs::metadata(path).is_ok_and(|meta| !meta.is_file()) {
            return false;
        }
        let named = path
            .extension()
            .is_some_and(|ending| ending.eq_ignore_ascii_case("parquet"));
        named || File::open(path).is_ok_and(begins_with_magic)
    }

    /// Completes URLs that lack a scheme or a host, as `options` say. The other options are for
    /// lists.
    pub fn records(mut self, options: &RecordOptions) -> Self {
        self.composer = UrlComposer::of(options);
        self
    }

    /// The number of rows, from the footer.
    pub fn rows(&self) -> u64 {
        self.meta
            .row_groups()
            .iter()
            .map(|group| group.num_rows().unsigned_abs())
            .sum()
    }

    pub(super) fn schema(&self) -> &SchemaDescriptor {
        self.meta.file_metadata().schema_descr()
    }

    fn read(path: &Path, column: &str) -> Result<Self> {
        let file = File::open(path)?;
        if !file.metadata()?.is_file() {
            return bad("not a regular file; Parquet is read from its end, so it must be a file");
        }
        let chunks = ParquetFile::new(file)?;
        let meta = guard(|| read_footer(&chunks))?;
        check_footer(&meta, chunks.len())?;
        let column = find_column(meta.file_metadata().schema_descr(), column)?;
        for group in meta.row_groups() {
            check_codec(group.column(column))?;
            if group.column(column).num_values() != group.num_rows() {
                return bad("damaged: the column of URLs has not one value a row");
            }
        }
        Ok(Self {
            path: path.to_owned(),
            chunks,
            meta,
            column,
            composer: None,
        })
    }
}

fn begins_with_magic(file: File) -> bool {
    let mut start = Vec::new();
    file.take(ENOUGH as u64).read_to_end(&mut start).is_ok()
        && FileFormat::of(&start) == Some(FileFormat::Parquet)
}

fn read_footer(chunks: &ParquetFile) -> Result<ParquetMetaData> {
    let options = ParquetMetaDataOptions::new().with_encoding_stats_as_mask(false);
    let reader = ParquetMetaDataReader::new()
        .with_page_index_policy(PageIndexPolicy::Optional)
        .with_metadata_options(Some(options));
    reader.parse_and_finish(chunks).map_err(|err| match err {
        // An encrypted file fails like a damaged one.
        ParquetError::General(what) => {
            ErrorKind::BadTable(format!("damaged, or encrypted: {what}")).into()
        }
        err => table_error(err),
    })
}

/// Checks that the footer is consistent, so that later code can rely on it.
fn check_footer(meta: &ParquetMetaData, len: u64) -> Result<()> {
    let columns = meta.file_metadata().schema_descr().num_columns();
    for (number, group) in meta.row_groups().iter().enumerate() {
        if group.num_rows() < 0 || group.num_columns() != columns {
            return bad(format!(
                "damaged: row group {number} contradicts the schema"
            ));
        }
        for chunk in group.columns() {
            if chunk.file_path().is_some_and(|path| !path.is_empty()) {
                return bad("the data is in other files; combine them into one file first");
            }
            if !is_within_file(chunk, len) {
                let column = chunk.column_path().string();
                return bad(format!(
                    "damaged: column {column:?} of row group {number} reaches past the end of the file"
                ));
            }
        }
    }
    Ok(())
}

fn is_within_file(chunk: &ColumnChunkMetaData, len: u64) -> bool {
    let (data, size) = (chunk.data_page_offset(), chunk.compressed_size());
    let start = chunk.dictionary_page_offset().unwrap_or(data);
    if size == 0 && chunk.num_values() == 0 {
        // Writers set arbitrary offsets if there are no rows.
        return start >= 0 && data >= 0;
    }
    // A chunk without values may have a dictionary page. pyarrow then gives 0 as the offset of the
    // missing data pages.
    let is_ordered = if chunk.num_values() == 0 {
        data >= 0
    } else {
        start <= data && chunk.num_values() > 0
    };
    let end = start.checked_add(size);
    start >= PARQUET_MAGIC.len() as i64
        && is_ordered
        && size >= 0
        && end.is_some_and(|end| end as u64 <= len)
}

/// The number of the leaf column with this path, or of the only one that differs from it in case
/// alone.
fn find_column(schema: &SchemaDescriptor, name: &str) -> Result<usize> {
    let paths: Vec<String> = schema
        .columns()
        .iter()
        .map(|column| column.path().string())
        .collect();
    let same_letters = |place: &usize| paths[*place].eq_ignore_ascii_case(name);
    let similar: Vec<usize> = (0..paths.len()).filter(same_letters).collect();
    let place = match (paths.iter().position(|path| path == name), &*similar) {
        (Some(place), _) | (None, &[place]) => place,
        (None, []) => {
            let names = paths[..paths.len().min(100)].join(", ");
            return wrong_column(format!("has no column {name:?}, only {names}"));
        }
        (None, several) => {
            let names = several
                .iter()
                .map(|place| paths[*place].as_str())
                .collect::<Vec<_>>()
                .join(", ");
            return wrong_column(format!(
                "has no column {name:?}, and several that differ in case only: {names}"
            ));
        }
    };
    let column = schema.column(place);
    if column.max_rep_level() > 0 {
        return bad(format!(
            "column {name:?} is repeated (a list or map); the column of URLs must hold one value a row"
        ));
    }
    if column.physical_type() != PhysicalType::BYTE_ARRAY {
        return wrong_column(format!(
            "column {name:?} holds {}, not strings",
            column.physical_type()
        ));
    }
    Ok(place)
}

/// Checks that the values of a column can be decompressed. Columns that are only copied may use any
/// codec.
pub(super) fn check_codec(chunk: &ColumnChunkMetaData) -> Result<()> {
    match chunk.compression_codec() {
        codec @ (CompressionCodec::BROTLI | CompressionCodec::LZO) => bad(format!(
            "column {:?} is compressed with {codec}, which cannot be read here; write the file again with zstd or snappy",
            chunk.column_path().string()
        )),
        _ => Ok(()),
    }
}

pub(super) fn bad<T>(what: impl Into<String>) -> Result<T> {
    Err(ErrorKind::BadTable(what.into()).into())
}

fn wrong_column<T>(what: String) -> Result<T> {
    bad(what).map_err(|err| err.with_remedy(Remedy::NameColumn))
}

/// Converts an error of the `parquet` crate, which may contain an I/O error.
pub(super) fn table_error(err: ParquetError) -> Error {
    match err {
        ParquetError::External(inner) => match inner.downcast::<std::io::Error>() {
            Ok(err) => Error::from_io(*err),
            Err(other) => ErrorKind::BadTable(other.to_string()).into(),
        },
        ParquetError::General(what) | ParquetError::EOF(what) => {
            ErrorKind::BadTable(format!("damaged: {what}")).into()
        }
        other => ErrorKind::BadTable(other.to_string()).into(),
    }
}

/// Runs code of the `parquet` crate, which panics on some damaged files. A panic becomes an error
/// about damage.
pub(super) fn guard<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    // The error discards the unfinished work, so no caller sees it.
    catch_unwind(AssertUnwindSafe(work))
        .unwrap_or_else(|_| bad("damaged: the Parquet reader gave up on it"))
}
