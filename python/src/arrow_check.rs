//! Checks the structs of the Arrow C data interface before `arrow-array` reads them.
//!
//! `arrow-array` trusts the producer: a negative length becomes a huge one, and a missing child or a
//! format that is not UTF-8 is a panic. So the fields that contradict each other, the format or any
//! memory are refused here. Two things cannot be checked, because the interface has no lengths for
//! them: whether a buffer is as long as the array needs, and whether a pointer that is not null
//! leads to a struct.

use arrow_array::ffi::{FFI_ArrowArray, FFI_ArrowSchema};
use std::ffi::{CStr, c_char, c_void};

/// The layout of `ArrowSchema`, whose fields `FFI_ArrowSchema` hides.
#[repr(C)]
struct RawSchema {
    format: *const c_char,
    name: *const c_char,
    metadata: *const c_char,
    flags: i64,
    n_children: i64,
    children: *const *const RawSchema,
    dictionary: *const RawSchema,
    release: *const c_void,
    private_data: *const c_void,
}

/// The layout of `ArrowArray`.
#[repr(C)]
struct RawArray {
    length: i64,
    null_count: i64,
    offset: i64,
    n_buffers: i64,
    n_children: i64,
    buffers: *const *const c_void,
    children: *const *const RawArray,
    dictionary: *const RawArray,
    release: *const c_void,
    private_data: *const c_void,
}

const _: () = assert!(
    size_of::<RawSchema>() == size_of::<FFI_ArrowSchema>()
        && size_of::<RawArray>() == size_of::<FFI_ArrowArray>()
);

/// The most rows of an array. Each URL takes at least a byte, and no machine has this much memory.
const MAX_ROWS: i64 = 1 << 40;

/// The most buffers of an array. Arrays of views have one for some megabytes of text.
const MAX_BUFFERS: i64 = 1 << 24;

/// The most types of a table, nested ones included. A type that contains itself has more.
const MAX_TYPES: usize = 1 << 16;

/// The most types within one another. They are read recursively.
const MAX_DEPTH: usize = 64;

/// Checks a type: the texts, and the numbers of children.
///
/// # Errors
/// A message that names the field.
pub(crate) fn check_schema(schema: &FFI_ArrowSchema) -> Result<(), String> {
    // SAFETY: `RawSchema` has the layout of the C interface, as `FFI_ArrowSchema` has.
    let schema = unsafe { &*std::ptr::from_ref(schema).cast::<RawSchema>() };
    let mut left = MAX_TYPES;
    schema.check(0, &mut left)
}

/// Checks an array of a type that [`check_schema`] accepted.
///
/// # Errors
/// A message that names the field.
pub(crate) fn check_array(array: &FFI_ArrowArray, schema: &FFI_ArrowSchema) -> Result<(), String> {
    // SAFETY: As in `check_schema`.
    let (array, schema) = unsafe {
        (
            &*std::ptr::from_ref(array).cast::<RawArray>(),
            &*std::ptr::from_ref(schema).cast::<RawSchema>(),
        )
    };
    array.check(schema)
}

/// The struct at an address; `None` for null.
fn at<'s, T>(address: *const T) -> Option<&'s T> {
    // SAFETY: An address that is not null leads to a struct, by the interface. The caller keeps the
    // parent, which owns it.
    unsafe { address.as_ref() }
}

/// The children of a struct: `count` addresses at `children`.
fn children<'s, T>(count: i64, children: *const *const T) -> Result<Vec<&'s T>, String> {
    if !(0..=MAX_TYPES as i64).contains(&count) {
        return Err(format!("n_children is {count}"));
    }
    if count == 0 {
        return Ok(Vec::new());
    }
    if children.is_null() {
        return Err(format!("n_children is {count}, but children is null"));
    }
    let mut found = Vec::new();
    for number in 0..count as usize {
        // SAFETY: By the interface, there are `count` addresses.
        let address = unsafe { std::ptr::read_unaligned(children.add(number)) };
        found.push(at(address).ok_or_else(|| format!("child {number} is null"))?);
    }
    Ok(found)
}

/// Whether a number of rows is one that an array can have.
fn is_row_count(number: i64) -> bool {
    (0..=MAX_ROWS).contains(&number)
}

impl RawSchema {
    fn check(&self, depth: usize, left: &mut usize) -> Result<(), String> {
        if depth == MAX_DEPTH || *left == 0 {
            return Err("the type has too many types in it".to_owned());
        }
        *left -= 1;
        let format = self.format()?;
        if !self.name.is_null() {
            // SAFETY: By the interface, a name that is not null is a C string.
            let name = unsafe { CStr::from_ptr(self.name) };
            if name.to_str().is_err() {
                return Err(format!("the name {name:?} is not UTF-8"));
            }
        }
        let children = children(self.n_children, self.children)?;
        let expected = match children_of(format) {
            Some(expected) => expected,
            None => children.len(),
        };
        if children.len() != expected {
            return Err(format!(
                "the format {format:?} has {expected} children, but n_children is {}",
                children.len()
            ));
        }
        let dictionary = at(self.dictionary);
        if dictionary.is_some()
            && !matches!(
                format.as_bytes(),
                [b'c' | b'C' | b's' | b'S' | b'i' | b'I' | b'l' | b'L']
            )
        {
            return Err(format!(
                "the keys of a dictionary have the format {format:?}, which is not that of an integer"
            ));
        }
        for child in children.into_iter().chain(dictionary) {
            child.check(depth + 1, left)?;
        }
        Ok(())
    }

    fn format(&self) -> Result<&str, String> {
        if self.format.is_null() {
            return Err("the format is null".to_owned());
        }
        // SAFETY: By the interface, the format is a C string.
        let format = unsafe { CStr::from_ptr(self.format) };
        format
            .to_str()
            .map_err(|_| format!("the format {format:?} is not UTF-8"))
    }
}

/// The number of children of a format; `None` for structs and unions, which have any number.
fn children_of(format: &str) -> Option<usize> {
    match format.as_bytes() {
        [b'+', b's' | b'u', ..] => None,
        [b'+', b'r'] => Some(2),
        [b'+', ..] => Some(1),
        _ => Some(0),
    }
}

/// The number of buffers of a format, the least for views. `None` for one that the interface does
/// not have.
fn buffers_of(format: &str) -> Option<i64> {
    Some(match format.as_bytes() {
        b"+r" => 0,
        [b'+', b's'] | [b'+', b'w', ..] | [b'+', b'u', b's', ..] => 1,
        b"+l" | b"+L" | b"+m" | [b'+', b'u', b'd', ..] => 2,
        b"u" | b"U" | b"z" | b"Z" | b"vu" | b"vz" | b"+vl" | b"+vL" => 3,
        [b'+', ..] => return None,
        _ => 2,
    })
}

impl RawArray {
    fn check(&self, schema: &RawSchema) -> Result<(), String> {
        let format = schema.format()?;
        if !is_row_count(self.length) {
            return Err(format!("length is {}", self.length));
        }
        if !is_row_count(self.offset) {
            return Err(format!("offset is {}", self.offset));
        }
        if self.null_count < -1 || self.null_count > self.length {
            return Err(format!(
                "null_count is {}, and length {}",
                self.null_count, self.length
            ));
        }
        self.check_buffers(format)?;
        let arrays = children(self.n_children, self.children)?;
        let types = children(schema.n_children, schema.children)?;
        if arrays.len() != types.len() {
            return Err(format!(
                "the array has {} children, and its type {}",
                self.n_children, schema.n_children
            ));
        }
        for (number, (child, of)) in arrays.into_iter().zip(types).enumerate() {
            child
                .check(of)
                .map_err(|what| format!("child {number}: {what}"))?;
            // A struct's rows are those of its children.
            if format == "+s" && child.length < self.length + self.offset {
                return Err(format!(
                    "child {number} has the length {}, where the table needs {}",
                    child.length,
                    self.length + self.offset
                ));
            }
        }
        match (at(self.dictionary), at(schema.dictionary)) {
            (Some(values), Some(of)) => values
                .check(of)
                .map_err(|what| format!("dictionary: {what}")),
            (None, None) => Ok(()),
            (Some(_), None) => Err("the array has a dictionary, but its type has none".to_owned()),
            (None, Some(_)) => Err("the type has a dictionary, but the array has none".to_owned()),
        }
    }

    /// The address of a buffer, one of `n_buffers` where `buffers` is not null.
    fn buffer(&self, number: i64) -> *const c_void {
        // SAFETY: By the interface, there are `n_buffers` addresses.
        unsafe { std::ptr::read_unaligned(self.buffers.add(number as usize)) }
    }

    /// Checks that the buffers are there, and the lengths that buffers state.
    fn check_buffers(&self, format: &str) -> Result<(), String> {
        // Some producers give nulls a buffer, which has no meaning.
        if format == "n" {
            return Ok(());
        }
        let Some(expected) = buffers_of(format) else {
            return Err(format!("the format {format:?} is unknown"));
        };
        let is_view = format.starts_with('v');
        if self.n_buffers != expected
            && !(is_view && (expected..=MAX_BUFFERS).contains(&self.n_buffers))
        {
            return Err(format!(
                "n_buffers is {}, but the format {format:?} has {expected}",
                self.n_buffers
            ));
        }
        if expected == 0 {
            return Ok(());
        }
        if self.buffers.is_null() {
            return Err(format!("n_buffers is {expected}, but buffers is null"));
        }
        // The first buffer, of the validity, may be null, and so may all of an empty array.
        let rows = self.length + self.offset;
        if rows == 0 {
            return Ok(());
        }
        if expected > 1 && self.buffer(1).is_null() {
            return Err("buffer 1 is null".to_owned());
        }
        if is_view {
            let texts = self.n_buffers - 3;
            let lengths = self.buffer(self.n_buffers - 1).cast::<i64>();
            for number in 0..texts {
                if lengths.is_null() {
                    return Err("the buffer of the lengths of the other buffers is null".to_owned());
                }
                // SAFETY: By the interface, this buffer has the length of each buffer of texts.
                let length = unsafe { lengths.add(number as usize).read_unaligned() };
                if length < 0 {
                    return Err(format!("the length of buffer {} is {length}", number + 2));
                }
            }
        }
        // The last offset is taken for the length of the texts.
        let last = match format {
            // SAFETY: By the interface, there are `rows + 1` offsets.
            "u" | "z" => unsafe {
                i64::from(
                    self.buffer(1)
                        .cast::<i32>()
                        .add(rows as usize)
                        .read_unaligned(),
                )
            },
            // SAFETY: As above.
            "U" | "Z" => unsafe {
                self.buffer(1)
                    .cast::<i64>()
                    .add(rows as usize)
                    .read_unaligned()
            },
            _ => 0,
        };
        if last < 0 {
            return Err(format!("the last offset is {last}"));
        }
        Ok(())
    }
}
