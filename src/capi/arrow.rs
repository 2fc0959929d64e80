//! Columns in the C data interface of Apache Arrow: a column of URLs in, a table of answers out.
//!
//! The structs are those of <https://arrow.apache.org/docs/format/CDataInterface.html>. The interface
//! gives no lengths of buffers, so those are trusted; numbers and formats are checked. The library
//! reads the caller's column and never releases it. The table is the caller's, and its release
//! functions free it.

use super::judge::robosieve_judge;
use super::options::require_of;
use super::pointers::{c_text, check_flags, output, reference, slice};
use super::status::{Failure, guard, robosieve_status};
use super::verdict::number;
use crate::agent::Agent;
use crate::explain::Reason;
use crate::judge::{CrawlDelays, Judge, Require, Rows, VerdictsRef};
use crate::url::Origin;
use std::ffi::{CString, c_char, c_void};
use std::ops::Range;
use std::ptr;

/// A type and a name, as Arrow defines them.
#[repr(C)]
pub struct ArrowSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *mut *mut ArrowSchema,
    dictionary: *mut ArrowSchema,
    release: Option<unsafe extern "C" fn(*mut ArrowSchema)>,
    private_data: *mut c_void,
}

/// A column, as Arrow defines it.
#[repr(C)]
pub struct ArrowArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *mut *const c_void,
    children: *mut *mut ArrowArray,
    dictionary: *mut ArrowArray,
    release: Option<unsafe extern "C" fn(*mut ArrowArray)>,
    private_data: *mut c_void,
}

/// The columns of the table of `robosieve_judge_arrow`. Add up those that you need.
#[repr(u32)]
pub enum robosieve_column {
    /// For each agent an `int8` column with its label as the name: values of `robosieve_verdict`.
    Verdicts = 1,
    /// `allowed`, boolean: as `robosieve_judge_allowed32`.
    Allowed = 2,
    /// `reason`: what the verdicts rest on, as dictionary-encoded text (docs/CHECK.md).
    Reason = 4,
    /// `origin`: scheme, host and port, as 64-bit text; null for text that is not a URL.
    Origin = 8,
    /// For each agent a `double` column `crawl_delay_LABEL`: the seconds that the robots.txt asks for;
    /// null if it has none.
    CrawlDelay = 16,
}

/// Whether a sum of columns has one of them.
fn has(columns: u32, column: robosieve_column) -> bool {
    columns & column as u32 != 0
}

/// All values of [`robosieve_column`].
const ALL_COLUMNS: u32 = 31;

/// Judges a column in the C data interface of Apache Arrow, into a table.
///
/// `array` and `schema` are a column of text or bytes: `utf8`, `large_utf8`, `binary`, `large_binary`,
/// their views, or `null`. Dictionaries are to be decoded first. Both stay the caller's, and are not
/// released.
///
/// `columns` is a sum of values of `robosieve_column`. `require` is a value of `robosieve_require`, for
/// the column `allowed`. `*out_array` and `*out_schema` are a struct with these columns, in the order
/// of `robosieve_column`; most libraries import it as a record batch. A null row is null in all of
/// them. Call the release function of each, or give both to a library that does. After an error,
/// both are released already (`release` is NULL).
///
/// Buffers are trusted to have the lengths that the column needs, since the interface does not give
/// them. Offsets are checked to ascend.
///
/// Cost: that of `robosieve_judge_rows32`, and that of each column: the crawl-delays of a robots.txt are
/// parsed once per call, and each URL again for its origin.
///
/// Errors: BAD_ARGUMENT, BAD_COLUMN, CORRUPT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_judge_arrow(
    judge: *const robosieve_judge,
    array: *const ArrowArray,
    schema: *const ArrowSchema,
    columns: u32,
    require: i32,
    out_array: *mut ArrowArray,
    out_schema: *mut ArrowSchema,
) -> robosieve_status {
    guard(|| {
        // SAFETY: the caller keeps the contract of the module.
        let (out_array, out_schema) = unsafe {
            (
                output(out_array, 1, "out_array")?,
                output(out_schema, 1, "out_schema")?,
            )
        };
        out_array[0].write(ArrowArray::released());
        out_schema[0].write(ArrowSchema::released());
        // SAFETY: as above.
        let (judge, array, schema) = unsafe {
            (
                &reference(judge, "judge")?.judge,
                reference(array, "array")?,
                reference(schema, "schema")?,
            )
        };
        check_flags(columns, ALL_COLUMNS)?;
        if columns == 0 {
            return Err(Failure::bad_argument(
                "columns is 0; name at least one column of robosieve_column",
            ));
        }
        let require = require_of("require", require)?;
        // SAFETY: as above.
        let urls = unsafe { UrlColumn::new(array, schema)? };
        let table = judged(judge, &urls, columns, require)?;
        out_schema[0].write(table.to_schema());
        out_array[0].write(table.into_array());
        Ok(())
    })
}

/// A column of URLs in the memory of the caller.
struct UrlColumn<'a> {
    rows: TextRows<'a>,
    /// A bit per row, with one for each that is not null; `None` without nulls.
    validity: Option<Bits>,
}

/// The rows of a column. Views need memory for their buffers.
enum TextRows<'a> {
    Offsets32(&'a [u8], &'a [i32]),
    Offsets64(&'a [u8], &'a [i64]),
    Views(&'a [[u8; 16]], Vec<&'a [u8]>),
    /// This many nulls.
    Nulls(Vec<&'a [u8]>),
}

impl<'a> UrlColumn<'a> {
    /// # Safety
    /// As the [module](super) states.
    unsafe fn new(array: &'a ArrowArray, schema: &ArrowSchema) -> Result<Self, Failure> {
        if array.release.is_none() || schema.release.is_none() {
            return Err(Failure::bad_argument("array or schema is released already"));
        }
        let length = size("array->length", array.length)?;
        let offset = size("array->offset", array.offset)?;
        let buffer_count = size("array->n_buffers", array.n_buffers)?;
        // SAFETY: as the caller guarantees.
        let (format, buffers) = unsafe {
            (
                c_text(schema.format, "schema->format")?.to_bytes(),
                slice(array.buffers.cast_const(), buffer_count, "array->buffers")?,
            )
        };
        let needed = match (format, schema.dictionary.is_null()) {
            (b"n", true) => 0,
            (b"u" | b"z" | b"U" | b"Z" | b"vu" | b"vz", true) => 3,
            _ => {
                let format = String::from_utf8_lossy(format);
                return Err(Failure::bad_argument(format!(
                    "schema->format is {format:?}; give a column of text or bytes (u, U, z, Z, vu, vz \
                     or n), not dictionary-encoded"
                )));
            }
        };
        if buffers.len() < needed {
            let what = format!("array->n_buffers is {buffer_count}; this type has {needed}");
            return Err(Failure::bad_argument(what));
        }
        // SAFETY: as above.
        unsafe {
            let rows = match format {
                b"u" | b"z" => {
                    let offsets = offsets::<i32>(buffers[1], offset, length)?;
                    TextRows::Offsets32(text(buffers[2], offsets.last().copied())?, offsets)
                }
                b"U" | b"Z" => {
                    let offsets = offsets::<i64>(buffers[1], offset, length)?;
                    TextRows::Offsets64(text(buffers[2], offsets.last().copied())?, offsets)
                }
                b"n" => TextRows::Nulls(vec![&[]; length]),
                _ => {
                    let views = slice(buffers[1].cast::<[u8; 16]>(), offset + length, "views")?;
                    TextRows::Views(&views[offset..], view_buffers(buffers)?)
                }
            };
            let validity = match rows {
                TextRows::Nulls(_) => Some(Bits::repeated(false, length)),
                _ => validity(buffers[0], array.null_count, offset, length)?,
            };
            Ok(Self { rows, validity })
        }
    }

    fn rows(&self) -> Rows<'_> {
        match &self.rows {
            TextRows::Offsets32(data, offsets) => Rows::Offsets32 { data, offsets },
            TextRows::Offsets64(data, offsets) => Rows::Offsets64 { data, offsets },
            TextRows::Views(views, buffers) => Rows::Views { views, buffers },
            TextRows::Nulls(rows) => Rows::Slices(rows),
        }
    }

    fn is_null(&self, row: usize) -> bool {
        self.validity.as_ref().is_some_and(|bits| !bits.get(row))
    }
}

/// A number of an array, which is not negative.
fn size(name: &str, value: i64) -> Result<usize, Failure> {
    // A sum of two of these does not overflow.
    const MAX: i64 = 1 << 48;
    usize::try_from(value)
        .ok()
        .filter(|_| value <= MAX)
        .ok_or_else(|| Failure::bad_argument(format!("{name} is {value}")))
}

/// The offsets of some rows, or none without rows.
///
/// # Safety
/// As the [module](super) states.
unsafe fn offsets<'a, O>(
    buffer: *const c_void,
    offset: usize,
    length: usize,
) -> Result<&'a [O], Failure> {
    if length == 0 {
        return Ok(&[]);
    }
    // SAFETY: as the caller guarantees.
    let all = unsafe { slice(buffer.cast::<O>(), offset + length + 1, "offsets")? };
    Ok(&all[offset..])
}

/// The bytes up to the last offset.
///
/// # Safety
/// As the [module](super) states.
unsafe fn text<'a>(
    buffer: *const c_void,
    end: Option<impl Into<i64>>,
) -> Result<&'a [u8], Failure> {
    let end = size("the last offset", end.map_or(0, Into::into))?;
    // SAFETY: as the caller guarantees.
    unsafe { slice(buffer.cast::<u8>(), end, "data") }
}

/// The buffers of the longer rows of views. Their lengths are in the last buffer.
///
/// # Safety
/// As the [module](super) states.
unsafe fn view_buffers<'a>(buffers: &[*const c_void]) -> Result<Vec<&'a [u8]>, Failure> {
    let count = buffers.len() - 3;
    // SAFETY: as the caller guarantees.
    unsafe {
        let lengths = slice(buffers[buffers.len() - 1].cast::<i64>(), count, "lengths")?;
        let texts = buffers[2..].iter().zip(lengths);
        texts
            .map(|(buffer, length)| text(*buffer, Some(*length)))
            .collect()
    }
}

/// The validity of some rows; `None` if none is null.
///
/// # Safety
/// As the [module](super) states.
unsafe fn validity(
    buffer: *const c_void,
    null_count: i64,
    offset: usize,
    length: usize,
) -> Result<Option<Bits>, Failure> {
    if buffer.is_null() || null_count == 0 {
        return Ok(None);
    }
    // SAFETY: as the caller guarantees.
    let bytes = unsafe {
        slice(
            buffer.cast::<u8>(),
            (offset + length).div_ceil(8),
            "validity",
        )?
    };
    let mut bits = Bits::default();
    for row in offset..offset + length {
        bits.push(bytes[row / 8] >> (row % 8) & 1 == 1);
    }
    Ok((bits.zeros > 0).then_some(bits))
}

/// Judges a column, and makes the table.
fn judged(
    judge: &Judge,
    urls: &UrlColumn<'_>,
    columns: u32,
    require: Require,
) -> Result<Column, Failure> {
    let agents = judge.agents().len();
    let mut answers = Answers {
        verdicts: vec![
            Vec::new();
            if has(columns, robosieve_column::Verdicts) {
                agents
            } else {
                0
            }
        ],
        allowed: has(columns, robosieve_column::Allowed).then(Bits::default),
        reasons: has(columns, robosieve_column::Reason).then(Vec::new),
        delays: vec![
            Delays::default();
            if has(columns, robosieve_column::CrawlDelay) {
                agents
            } else {
                0
            }
        ],
    };
    let crawl_delays = CrawlDelays::new(judge);
    judge.judge_rows(urls.rows(), |rows, verdicts| {
        answers.append(&rows, &verdicts, require, &crawl_delays, urls)
    })?;
    let length = urls.rows().len();
    let mut children = Vec::new();
    for (label, numbers) in labels(judge).zip(answers.verdicts) {
        children.push(urls.column(label, "c", vec![Buffer::Int8(numbers)]));
    }
    if let Some(bits) = answers.allowed {
        children.push(urls.column("allowed", "b", vec![Buffer::Bytes(bits.bytes)]));
    }
    if let Some(numbers) = answers.reasons {
        let mut column = urls.column("reason", "c", vec![Buffer::Int8(numbers)]);
        let names = Reason::ALL
            .iter()
            .map(|reason| Some(reason.name().as_bytes()));
        column.dictionary = Some(Box::new(Column::texts("", names)));
        children.push(column);
    }
    if has(columns, robosieve_column::Origin) {
        children.push(urls.origins()?);
    }
    for (label, delays) in labels(judge).zip(answers.delays) {
        let mut column = urls.column(
            &format!("crawl_delay_{label}"),
            "g",
            vec![Buffer::Float64(delays.seconds)],
        );
        column.validity = Some(delays.validity);
        children.push(column);
    }
    Ok(Column {
        children,
        ..Column::new("", "+s", length, Vec::new())
    })
}

/// The names of the agents, in their order.
fn labels(judge: &Judge) -> impl Iterator<Item = &str> {
    judge.agents().iter().map(Agent::label)
}

/// The answers for the rows so far.
struct Answers {
    verdicts: Vec<Vec<i8>>,
    allowed: Option<Bits>,
    reasons: Option<Vec<i8>>,
    delays: Vec<Delays>,
}

#[derive(Clone, Default)]
struct Delays {
    seconds: Vec<f64>,
    validity: Bits,
}

impl Answers {
    /// Appends the answers for a run of rows with the same verdicts.
    fn append(
        &mut self,
        rows: &Range<usize>,
        verdicts: &VerdictsRef<'_>,
        require: Require,
        crawl_delays: &CrawlDelays<'_>,
        urls: &UrlColumn<'_>,
    ) -> crate::error::Result<()> {
        for (agent, numbers) in self.verdicts.iter_mut().enumerate() {
            numbers.resize(rows.end, number(verdicts.get(agent)));
        }
        if let Some(bits) = &mut self.allowed {
            let is_allowed = verdicts.is_allowed(require);
            rows.clone().for_each(|_| bits.push(is_allowed));
        }
        if let Some(numbers) = &mut self.reasons {
            let reason = verdicts.reason();
            let at = Reason::ALL.iter().position(|other| *other == reason);
            numbers.resize(rows.end, at.unwrap_or_default() as i8);
        }
        for (agent, delays) in self.delays.iter_mut().enumerate() {
            let delay = crawl_delays.of(verdicts, agent)?;
            let seconds = delay.map_or(0.0, |delay| delay.as_secs_f64());
            delays.seconds.resize(rows.end, seconds);
            for row in rows.clone() {
                delays.validity.push(delay.is_some() && !urls.is_null(row));
            }
        }
        Ok(())
    }
}

impl UrlColumn<'_> {
    /// A column of the table, which is null where the URL is.
    fn column(&self, name: &str, format: &'static str, buffers: Vec<Buffer>) -> Column {
        Column {
            validity: self.validity.clone(),
            ..Column::new(name, format, self.rows().len(), buffers)
        }
    }

    /// The origin of each row.
    fn origins(&self) -> Result<Column, Failure> {
        let mut text = Vec::new();
        let mut ends = Vec::with_capacity(self.rows().len());
        let mut is_url = Vec::with_capacity(ends.capacity());
        self.rows().try_for_each(|row, url| {
            is_url.push(!self.is_null(row) && Origin::append(url, &mut text));
            ends.push(text.len());
            Ok(())
        })?;
        let starts = std::iter::once(0).chain(ends.iter().copied());
        let origins = starts.zip(&ends).zip(&is_url);
        Ok(Column::texts(
            "origin",
            origins.map(|((start, end), is_url)| is_url.then(|| &text[start..*end])),
        ))
    }
}

/// Bits as Arrow stores them: eight to a byte, from the lowest on.
#[derive(Clone, Debug, Default)]
struct Bits {
    bytes: Vec<u8>,
    len: usize,
    zeros: usize,
}

impl Bits {
    fn repeated(bit: bool, len: usize) -> Self {
        let mut bits = Self::default();
        (0..len).for_each(|_| bits.push(bit));
        bits
    }

    fn push(&mut self, bit: bool) {
        if self.len.is_multiple_of(8) {
            self.bytes.push(0);
        }
        self.bytes[self.len / 8] |= u8::from(bit) << (self.len % 8);
        self.len += 1;
        self.zeros += usize::from(!bit);
    }

    fn get(&self, at: usize) -> bool {
        self.bytes[at / 8] >> (at % 8) & 1 == 1
    }
}

/// A column of the table, before it is exported.
struct Column {
    name: CString,
    format: &'static str,
    length: usize,
    validity: Option<Bits>,
    /// Those after the validity.
    buffers: Vec<Buffer>,
    children: Vec<Column>,
    dictionary: Option<Box<Column>>,
}

enum Buffer {
    Bytes(Vec<u8>),
    Int8(Vec<i8>),
    Int64(Vec<i64>),
    Float64(Vec<f64>),
}

impl Buffer {
    fn pointer(&self) -> *const c_void {
        match self {
            Self::Bytes(items) => items.as_ptr().cast(),
            Self::Int8(items) => items.as_ptr().cast(),
            Self::Int64(items) => items.as_ptr().cast(),
            Self::Float64(items) => items.as_ptr().cast(),
        }
    }
}

impl Column {
    fn new(name: &str, format: &'static str, length: usize, buffers: Vec<Buffer>) -> Self {
        Self {
            // A label has no NUL byte: it is a part of a text of C, or a row of the registry.
            name: CString::new(name).unwrap_or_default(),
            format,
            length,
            validity: None,
            buffers,
            children: Vec::new(),
            dictionary: None,
        }
    }

    /// A column of texts with 64-bit offsets.
    fn texts<'t>(name: &str, texts: impl Iterator<Item = Option<&'t [u8]>>) -> Self {
        let mut data = Vec::new();
        let mut offsets = vec![0];
        let mut validity = Bits::default();
        for text in texts {
            data.extend_from_slice(text.unwrap_or_default());
            offsets.push(data.len() as i64);
            validity.push(text.is_some());
        }
        let buffers = vec![Buffer::Int64(offsets), Buffer::Bytes(data)];
        Self {
            validity: (validity.zeros > 0).then_some(validity.clone()),
            ..Self::new(name, "U", validity.len, buffers)
        }
    }

    fn to_schema(&self) -> ArrowSchema {
        const NULLABLE: i64 = 2;
        let children = self.children.iter();
        let mut owner = Box::new(SchemaOwner {
            format: CString::new(self.format).unwrap_or_default(),
            name: self.name.clone(),
            children: children.map(|child| boxed(child.to_schema())).collect(),
        });
        let dictionary = self.dictionary.as_ref();
        ArrowSchema {
            format: owner.format.as_ptr(),
            name: owner.name.as_ptr(),
            metadata: ptr::null(),
            flags: NULLABLE,
            n_children: owner.children.len() as i64,
            children: owner.children.as_mut_ptr(),
            dictionary: dictionary.map_or(ptr::null_mut(), |column| boxed(column.to_schema())),
            release: Some(release_schema),
            private_data: Box::into_raw(owner).cast(),
        }
    }

    fn into_array(self) -> ArrowArray {
        let null_count = self.validity.as_ref().map_or(0, |bits| bits.zeros);
        let validity = self.validity.map(|bits| Buffer::Bytes(bits.bytes));
        let first = validity.as_ref().map_or(ptr::null(), Buffer::pointer);
        let pointers = self.buffers.iter().map(Buffer::pointer);
        let children = self.children.into_iter();
        let mut owner = Box::new(ArrayOwner {
            pointers: std::iter::once(first).chain(pointers).collect(),
            children: children.map(|child| boxed(child.into_array())).collect(),
            _buffers: self.buffers.into_iter().chain(validity).collect(),
        });
        let dictionary = self.dictionary;
        ArrowArray {
            length: self.length as i64,
            null_count: null_count as i64,
            offset: 0,
            n_buffers: owner.pointers.len() as i64,
            n_children: owner.children.len() as i64,
            buffers: owner.pointers.as_mut_ptr(),
            children: owner.children.as_mut_ptr(),
            dictionary: dictionary.map_or(ptr::null_mut(), |column| boxed(column.into_array())),
            release: Some(release_array),
            private_data: Box::into_raw(owner).cast(),
        }
    }
}

fn boxed<T>(value: T) -> *mut T {
    Box::into_raw(Box::new(value))
}

/// The memory of an exported schema.
struct SchemaOwner {
    format: CString,
    name: CString,
    children: Vec<*mut ArrowSchema>,
}

/// The memory of an exported array. Moving a vector leaves its items in place.
struct ArrayOwner {
    pointers: Vec<*const c_void>,
    children: Vec<*mut ArrowArray>,
    _buffers: Vec<Buffer>,
}

impl ArrowSchema {
    fn released() -> Self {
        Self {
            format: ptr::null(),
            name: ptr::null(),
            metadata: ptr::null(),
            flags: 0,
            n_children: 0,
            children: ptr::null_mut(),
            dictionary: ptr::null_mut(),
            release: None,
            private_data: ptr::null_mut(),
        }
    }
}

impl ArrowArray {
    fn released() -> Self {
        Self {
            length: 0,
            null_count: 0,
            offset: 0,
            n_buffers: 0,
            n_children: 0,
            buffers: ptr::null_mut(),
            children: ptr::null_mut(),
            dictionary: ptr::null_mut(),
            release: None,
            private_data: ptr::null_mut(),
        }
    }
}

/// Frees an exported schema.
///
/// # Safety
/// `schema` is one of [`Column::to_schema`], or a copy of one, and is not released.
unsafe extern "C" fn release_schema(schema: *mut ArrowSchema) {
    // SAFETY: as the caller guarantees.
    unsafe {
        let owner = Box::from_raw((*schema).private_data.cast::<SchemaOwner>());
        free(&owner.children, (*schema).dictionary, |child| child.release);
        (*schema).release = None;
    }
}

/// Frees an exported array.
///
/// # Safety
/// `array` is one of [`Column::into_array`], or a copy of one, and is not released.
unsafe extern "C" fn release_array(array: *mut ArrowArray) {
    // SAFETY: as the caller guarantees.
    unsafe {
        let owner = Box::from_raw((*array).private_data.cast::<ArrayOwner>());
        free(&owner.children, (*array).dictionary, |child| child.release);
        (*array).release = None;
    }
}

/// Releases children and a dictionary, and frees their structs. A consumer may have moved one out:
/// its `release` is NULL then.
///
/// # Safety
/// All came from [`boxed`], and this is their end.
unsafe fn free<T>(
    children: &[*mut T],
    dictionary: *mut T,
    release_of: impl Fn(&T) -> Option<unsafe extern "C" fn(*mut T)>,
) {
    let dictionary = (!dictionary.is_null()).then_some(dictionary);
    for child in children.iter().copied().chain(dictionary) {
        // SAFETY: as the caller guarantees.
        unsafe {
            if let Some(release) = release_of(&*child) {
                release(child);
            }
            drop(Box::from_raw(child));
        }
    }
}
