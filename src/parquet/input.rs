//! Opens and checks a Parquet file: its schema, its row groups, and the column of URLs.

use crate::container::settings::bad_job;
use crate::error::{Error, ErrorKind, Remedy, Result};
use crate::file_format::PARQUET_MAGIC;
use crate::parquet::chunks::ParquetFile;
use crate::parquet::times::TimeKind;
use crate::records::{Field, RecordOptions, USUAL, UrlComposer, UrlName, listed};
use crate::threads::catch_panic;
use parquet::basic::{CompressionCodec, Type as PhysicalType};
use parquet::errors::ParquetError;
use parquet::file::metadata::{
    ColumnChunkMetaData, PageIndexPolicy, ParquetMetaData, ParquetMetaDataOptions,
    ParquetMetaDataReader,
};
use parquet::file::reader::Length;
use parquet::schema::types::SchemaDescriptor;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::str::Utf8Error;
use std::string::FromUtf8Error;

/// A Parquet file with a column of URLs.
#[derive(Debug)]
pub(super) struct ParquetInput {
    pub path: PathBuf,
    pub chunks: ParquetFile,
    pub meta: ParquetMetaData,
    /// The number of the leaf column with the URLs.
    pub column: usize,
    /// The number of the leaf column with the times, and their kind; `None` if no times are asked
    /// for.
    pub time_column: Option<(usize, TimeKind)>,
    pub composer: Option<UrlComposer>,
}

/// What a column is read for.
#[derive(Clone, Copy, Debug)]
enum ColumnRole {
    Urls,
    Times,
}

impl ColumnRole {
    fn noun(self) -> &'static str {
        match self {
            Self::Urls => "column of URLs",
            Self::Times => "column of times",
        }
    }

    /// The error of a column that cannot have this role.
    fn refuse<T>(self, what: String) -> Result<T> {
        let remedy = match self {
            Self::Urls => Remedy::NameColumn,
            Self::Times => Remedy::NameTimeColumn,
        };
        bad(what).map_err(|err| err.with_remedy(remedy))
    }
}

impl ParquetInput {
    /// Opens a file, and finds the column of URLs that `records` names (`a.b` for a field of a
    /// struct). It must be a string or binary column that is not repeated. If no column has exactly
    /// this name, the only one that differs in the case of ASCII letters is used. By default it is
    /// `url`, or another name that is [usual for URLs](UrlName). A column of times is found likewise.
    /// Reads the footer and the page indexes. URLs that lack a scheme or a host are completed.
    ///
    /// # Errors
    /// I/O errors; [`ErrorKind::BadTable`] for a file that is not Parquet, is encrypted, is
    /// damaged, or has no such column; [`ErrorKind::BadJob`] for other ways to locate URLs. All but
    /// the last name the file.
    pub(super) fn open(path: &Path, records: &RecordOptions) -> Result<Self> {
        if records.json_key.is_some() {
            return bad_job("a JSON key locates URLs in lists; a Parquet file has columns")
                .map_err(|err| err.with_remedy(Remedy::NameColumn));
        }
        let column = match &records.field {
            None => None,
            Some(Field::Name(name)) => Some(name.as_str()),
            Some(Field::Number(number)) => {
                return bad_job(format!(
                    "field {number}: the columns of a Parquet file have names; give one of them"
                ));
            }
        };
        let times = match &records.as_of_column {
            _ if records.as_of_record => {
                return bad_job("the rows of a Parquet file have no time of their own")
                    .map_err(|err| err.with_remedy(Remedy::NameTimeColumn));
            }
            None => None,
            Some(Field::Name(name)) => Some(name.as_str()),
            Some(Field::Number(number)) => {
                return bad_job(format!(
                    "column {number} of times: the columns of a Parquet file have names; give one \
                     of them"
                ));
            }
        };
        let composer = UrlComposer::of(records);
        Self::read(path, column, times, composer).map_err(|err| err.at(path))
    }

    fn read(
        path: &Path,
        column: Option<&str>,
        times: Option<&str>,
        composer: Option<UrlComposer>,
    ) -> Result<Self> {
        let chunks = ParquetFile::new(File::open(path)?)?;
        let meta = guard(|| read_footer(&chunks))?;
        check_footer(&meta, chunks.len())?;
        let schema = meta.file_metadata().schema_descr();
        let column = match column {
            Some(name) => find_text_column(schema, name)?,
            None => find_url_column(schema)?,
        };
        let time_column = match times {
            Some(name) => Some(find_time_column(schema, name)?),
            None => None,
        };
        let times = time_column.map(|(number, _)| (number, ColumnRole::Times));
        for (number, role) in [(column, ColumnRole::Urls)].into_iter().chain(times) {
            for group in meta.row_groups() {
                check_codec(group.column(number))?;
                if group.column(number).num_values() != group.num_rows() {
                    return bad(format!(
                        "damaged: the {} has not one value a row",
                        role.noun()
                    ));
                }
            }
        }
        Ok(Self {
            path: path.to_owned(),
            chunks,
            meta,
            column,
            time_column,
            composer,
        })
    }

    /// The number of rows, from the footer.
    pub(super) fn rows(&self) -> u64 {
        self.meta
            .row_groups()
            .iter()
            .map(|group| group.num_rows().unsigned_abs())
            .sum()
    }

    pub(super) fn schema(&self) -> &SchemaDescriptor {
        self.meta.file_metadata().schema_descr()
    }
}

/// The first of the inputs, if all have its schema.
pub(super) fn same_schema(inputs: &[ParquetInput]) -> Result<&ParquetInput> {
    let Some(first) = inputs.first() else {
        return bad("there is no input");
    };
    let fields = first.schema().root_schema().get_fields();
    if let Some(other) = inputs
        .iter()
        .find(|input| input.schema().root_schema().get_fields() != fields)
    {
        let what = format!(
            "its columns differ from those of {}; give each an output of its own",
            first.path.display()
        );
        return Err(Error::from(ErrorKind::BadTable(what)).at(&other.path));
    }
    Ok(first)
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
        // The crate reads key-value metadata as text, and writers may store any bytes there.
        ParquetError::External(inner) if inner.is::<FromUtf8Error>() || inner.is::<Utf8Error>() => {
            let what = "a text in its footer is not UTF-8: the name of a column, or a value of its \
                        key-value metadata; write the file again without it";
            ErrorKind::BadTable(what.to_owned()).into()
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
                    "damaged: column {column:?} of row group {number} reaches past the end of the \
                     file"
                ));
            }
        }
    }
    Ok(())
}

fn is_within_file(chunk: &ColumnChunkMetaData, len: u64) -> bool {
    let data = chunk.data_page_offset();
    let size = chunk.compressed_size();
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

/// The paths of the leaf columns.
fn column_paths(schema: &SchemaDescriptor) -> Vec<String> {
    schema
        .columns()
        .iter()
        .map(|column| column.path().string())
        .collect()
}

/// The number of the leaf column whose name is usual for URLs. Columns of other types are passed
/// over, unless they have the most usual name.
fn find_url_column(schema: &SchemaDescriptor) -> Result<usize> {
    let paths = column_paths(schema);
    let may_hold_urls = |number: &usize| {
        let column = schema.column(*number);
        let holds_texts =
            column.max_rep_level() == 0 && column.physical_type() == PhysicalType::BYTE_ARRAY;
        holds_texts || paths[*number].eq_ignore_ascii_case(USUAL)
    };
    let numbers: Vec<usize> = (0..paths.len()).filter(may_hold_urls).collect();
    let names = numbers.iter().map(|&number| paths[number].as_bytes());
    match UrlName::among(names) {
        UrlName::Found(found) => find_text_column(schema, &paths[numbers[found]]),
        UrlName::Missing => find_text_column(schema, USUAL),
        UrlName::Several(several)
            if several
                .iter()
                .all(|&found| paths[numbers[found]].eq_ignore_ascii_case(USUAL)) =>
        {
            find_text_column(schema, USUAL)
        }
        UrlName::Several(several) => {
            let names = several
                .iter()
                .map(|&found| paths[numbers[found]].as_bytes());
            ColumnRole::Urls.refuse(format!(
                "has no column {USUAL:?}, and several that may hold URLs: {}",
                listed(names)
            ))
        }
    }
}

/// The number of the column of URLs with this path. The type is checked before any row is read, so a
/// wrong column costs no time.
fn find_text_column(schema: &SchemaDescriptor, name: &str) -> Result<usize> {
    let number = find_column(schema, name, ColumnRole::Urls)?;
    let physical = schema.column(number).physical_type();
    if physical != PhysicalType::BYTE_ARRAY {
        let what = format!("column {name:?} holds {physical}, not strings");
        return ColumnRole::Urls.refuse(what);
    }
    Ok(number)
}

/// The number of the column of times with this path, and the kind of its values.
fn find_time_column(schema: &SchemaDescriptor, name: &str) -> Result<(usize, TimeKind)> {
    let number = find_column(schema, name, ColumnRole::Times)?;
    Ok((number, TimeKind::of(&schema.column(number))?))
}

/// The number of the leaf column with this path, or of the only one that differs from it in case
/// alone. It has at most one value a row.
fn find_column(schema: &SchemaDescriptor, name: &str, role: ColumnRole) -> Result<usize> {
    let paths = column_paths(schema);
    // An exact match wins: two columns may differ in case alone.
    let similar: Vec<usize> = (0..paths.len())
        .filter(|column| paths[*column].eq_ignore_ascii_case(name))
        .collect();
    let number = match (paths.iter().position(|path| path == name), &*similar) {
        (Some(number), _) | (None, &[number]) => number,
        (None, []) => {
            let names = paths[..paths.len().min(100)].join(", ");
            return role.refuse(format!("has no column {name:?}, only {names}"));
        }
        (None, several) => {
            let names = several
                .iter()
                .map(|column| paths[*column].as_str())
                .collect::<Vec<_>>()
                .join(", ");
            return role.refuse(format!(
                "has no column {name:?}, and several that differ in case only: {names}"
            ));
        }
    };
    if schema.column(number).max_rep_level() > 0 {
        return bad(format!(
            "column {name:?} is repeated (a list or map); the {} must hold one value a row",
            role.noun()
        ));
    }
    Ok(number)
}

/// Checks that the values of a column can be decompressed. Columns that are only copied may use any
/// codec.
pub(super) fn check_codec(chunk: &ColumnChunkMetaData) -> Result<()> {
    match chunk.compression_codec() {
        codec @ (CompressionCodec::BROTLI | CompressionCodec::LZO) => bad(format!(
            "column {:?} is compressed with {codec}, which cannot be read here; write the file \
             again with zstd or snappy",
            chunk.column_path().string()
        )),
        _ => Ok(()),
    }
}

pub(super) fn bad<T>(what: impl Into<String>) -> Result<T> {
    Err(ErrorKind::BadTable(what.into()).into())
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
/// about damage, with its message. `work` must not use the pool.
pub(super) fn guard<T>(work: impl FnOnce() -> Result<T>) -> Result<T> {
    catch_panic(work).unwrap_or_else(|panic| {
        bad(format!(
            "damaged: the Parquet reader gave up on it: {panic}"
        ))
    })
}
