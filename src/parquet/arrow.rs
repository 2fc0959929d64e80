//! Adds columns to `ARROW:schema`, the metadata entry with the Arrow types of all columns.
//!
//! The entry is an encapsulated message of Arrow's IPC format in base64 (Columnar.rst; Message.fbs
//! and Schema.fbs for the tables). Only its root is parsed. The fields of existing columns keep
//! their bytes, and the new root refers to them.

use crate::parquet::flatbuffer::{FlatbufferReader, FlatbufferWriter, Member, member_of};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use parquet::basic::{LogicalType, Type as PhysicalType};
use parquet::schema::types::{Type, TypePtr};

/// The entry's key in the metadata of a file.
pub(super) const KEY: &str = "ARROW:schema";

/// The first bytes of an encapsulated message. Its length follows.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// Members of `Message`: the type of the header, and the header.
const HEADER_TYPE: usize = 1;
const HEADER: usize = 2;
const IS_SCHEMA: u8 = 1;
const VERSION_5: u32 = 4;

/// Members of `Schema`: byte order and columns; its metadata and its features, which are only
/// referred to.
const BYTE_ORDER: usize = 0;
const FIELDS: usize = 1;
const OTHERS: [usize; 2] = [2, 3];

/// Members of `Field`: its name, its type, its children (none, but readers expect the list).
const NAME: usize = 0;
const TYPE: usize = 3;
const CHILDREN: usize = 5;
const IS_INT: u8 = 2;
const IS_FLOAT: u8 = 3;
const IS_TEXT: u8 = 5;
/// The precision of a `double`.
const IS_DOUBLE: u32 = 2;

/// The entry with these columns of integers, doubles and texts at the end; `None` if the entry
/// cannot be parsed.
pub(super) fn with_columns(entry: &str, columns: &[TypePtr]) -> Option<String> {
    let message = STANDARD.decode(entry).ok()?;
    let bytes = extend(FlatbufferReader(flatbuffer(&message)?), columns)?;
    let len = u32::try_from(bytes.len()).ok()?.to_le_bytes();
    Some(STANDARD.encode([&CONTINUATION, &len, &bytes[..]].concat()))
}

/// The flatbuffer of an encapsulated message.
fn flatbuffer(message: &[u8]) -> Option<&[u8]> {
    let (len, rest) = message.strip_prefix(&CONTINUATION)?.split_first_chunk()?;
    rest.get(..u32::from_le_bytes(*len) as usize)
}

/// A new root before the old flatbuffer, with these columns at the end.
fn extend(old: FlatbufferReader<'_>, columns: &[TypePtr]) -> Option<Vec<u8>> {
    let root = old.follow(0)?;
    if old.byte(old.member(root, HEADER_TYPE)?)? != IS_SCHEMA {
        return None;
    }
    // Read the old schema first: its fields decide the layout of the new one.
    let schema = old.follow(old.member(root, HEADER)?)?;
    let fields = old.vector(old.follow(old.member(schema, FIELDS)?)?)?;
    let byte_order = match old.optional(schema, BYTE_ORDER)? {
        Some(offset) => old.short(offset)?.into(),
        None => 0,
    };
    let [metadata, features] = OTHERS.map(|member| old.optional(schema, member));
    let others = [metadata?, features?];

    let mut new = FlatbufferWriter::default();
    let root = new.reference();
    let message = new.table(
        root,
        &[
            Member::Number(VERSION_5),
            Member::Number(IS_SCHEMA.into()),
            Member::Reference,
        ],
    );
    // Metadata and features stay in the old buffer. The new schema only refers to them.
    let kept = others.map(|offset| {
        if offset.is_some() {
            Member::Reference
        } else {
            Member::Absent
        }
    });
    let members = [
        Member::Number(byte_order),
        Member::Reference,
        kept[0],
        kept[1],
    ];
    let schema = new.table(member_of(message, HEADER), &members);
    for (member, offset) in OTHERS.into_iter().zip(others) {
        if let Some(offset) = offset {
            new.point_into_old(member_of(schema, member), old.follow(offset)?);
        }
    }
    // One list has the old fields, by reference, then the new ones.
    let list = new.vector(member_of(schema, FIELDS), fields.len() + columns.len());
    let (known, added) = list.split_at(fields.len());
    known
        .iter()
        .zip(fields)
        .for_each(|(reference, field)| new.point_into_old(*reference, field));
    added
        .iter()
        .zip(columns)
        .for_each(|(reference, column)| write_field(&mut new, *reference, column));
    new.finish(old)
}

/// Writes a column that may have nulls.
fn write_field(new: &mut FlatbufferWriter, reference: usize, column: &Type) {
    let integer = |bits| vec![Member::Number(bits), Member::Number(1)];
    let logical = column.get_basic_info().logical_type_ref();
    let (kind, members_of_kind) = match (logical, column.get_physical_type()) {
        (Some(LogicalType::Integer(of)), _) => {
            (IS_INT, integer(of.bit_width.unsigned_abs().into()))
        }
        (_, PhysicalType::DOUBLE) => (IS_FLOAT, vec![Member::Number(IS_DOUBLE)]),
        (_, PhysicalType::BYTE_ARRAY) => (IS_TEXT, Vec::new()),
        _ => (IS_INT, integer(64)),
    };
    let nullable = Member::Number(1);
    let members = [
        Member::Reference,
        nullable,
        Member::Number(kind.into()),
        Member::Reference,
        Member::Absent,
        Member::Reference,
    ];
    let field = new.table(reference, &members);
    new.text(member_of(field, NAME), column.name());
    new.table(member_of(field, TYPE), &members_of_kind);
    new.vector(member_of(field, CHILDREN), 0);
}

#[cfg(test)]
mod tests {
    use super::*;
    use parquet::basic::Repetition;
    use std::sync::Arc;

    /// Columns `u` (large_string) and `l` (a dictionary of strings, described by the type of its
    /// values), metadata `a`: `b`.
    const ENTRY: &str = "/////wABAAAQAAAAAAAKAA4ABgAFAAgACgAAAAABBAAQAAAAAAAKAAwAAAAEAAgACgAAADQAAAAEAA\
                         AAAQAAAAwAAAAIAAwABAAIAAgAAAAQAAAABAAAAAEAAABiAAAAAQAAAGEAAAACAAAAdAAAABQAAAAQ\
                         ABgACAAGAAcADAAQABQAEAAAAAAAAQUUAAAAPAAAABwAAAAEAAAAAAAAAAEAAABsAAAACAAIAAAABA\
                         AIAAAADAAAAAgADAAIAAcACAAAAAAAAAEgAAAAzP///xAAFAAIAAYABwAMAAAAEAAQAAAAAAABFBAA\
                         AAAYAAAABAAAAAAAAAABAAAAdQAAAAQABAAEAAAA";

    fn column(name: &str, kind: PhysicalType, bits: i8) -> TypePtr {
        let builder =
            Type::primitive_type_builder(name, kind).with_repetition(Repetition::OPTIONAL);
        Arc::new(
            builder
                .with_logical_type(Some(LogicalType::integer(bits, true)))
                .build()
                .unwrap(),
        )
    }

    /// The name and the type of each column, and the bits of an integer.
    fn columns_of(entry: &str) -> Option<Vec<(String, u8, Option<u32>)>> {
        let message = STANDARD.decode(entry).unwrap();
        let read = FlatbufferReader(flatbuffer(&message)?);
        let schema = read.follow(read.member(read.follow(0)?, HEADER)?)?;
        let field = |field| {
            let name = read.follow(read.member(field, NAME)?)?;
            let len = usize::from(read.byte(name)?);
            let kind = read.byte(read.member(field, TYPE - 1)?)?;
            let bits = || read.long(read.member(read.follow(read.member(field, TYPE)?)?, 0)?);
            let name = std::str::from_utf8(&read.0[name + 4..][..len]).ok()?;
            Some((
                name.to_owned(),
                kind,
                if kind == IS_INT { bits() } else { None },
            ))
        };
        read.vector(read.follow(read.member(schema, FIELDS)?)?)?
            .into_iter()
            .map(field)
            .collect()
    }

    #[test]
    fn new_columns_follow_the_others() {
        let (u, l) = (("u".to_owned(), 20, None), ("l".to_owned(), 5, None));
        assert_eq!(columns_of(ENTRY).unwrap(), [u.clone(), l.clone()]);
        let mask = column("robots_allowed", PhysicalType::INT64, 64);
        let entry = with_columns(ENTRY, &[mask]).unwrap();
        let integer = |name: &str, bits| (name.to_owned(), IS_INT, Some(bits));
        assert_eq!(
            columns_of(&entry).unwrap(),
            [u.clone(), l.clone(), integer("robots_allowed", 64)]
        );
        // The result can be extended again.
        let flag = column("robots_FooBot", PhysicalType::INT32, 8);
        let entry = with_columns(&entry, &[flag]).unwrap();
        assert_eq!(
            columns_of(&entry).unwrap(),
            [
                u,
                l,
                integer("robots_allowed", 64),
                integer("robots_FooBot", 8)
            ]
        );
    }

    #[test]
    fn new_columns_may_be_texts_and_doubles() {
        let optional = |name: &str, kind, logical| {
            let builder = Type::primitive_type_builder(name, kind)
                .with_repetition(Repetition::OPTIONAL)
                .with_logical_type(logical);
            Arc::new(builder.build().unwrap())
        };
        let text = Some(LogicalType::String);
        let added = [
            optional("robots_origin", PhysicalType::BYTE_ARRAY, text),
            optional("robots_crawl_delay_a", PhysicalType::DOUBLE, None),
        ];
        let columns = columns_of(&with_columns(ENTRY, &added).unwrap()).unwrap();
        assert_eq!(
            columns[2..],
            [
                ("robots_origin".to_owned(), IS_TEXT, None),
                ("robots_crawl_delay_a".to_owned(), IS_FLOAT, None)
            ]
        );
    }

    #[test]
    fn damage_causes_no_panic() {
        let columns = [column("robots_allowed", PhysicalType::INT64, 64)];
        let message = STANDARD.decode(ENTRY).unwrap();
        for len in 0..message.len() {
            with_columns(&STANDARD.encode(&message[..len]), &columns);
        }
        for offset in 0..message.len() {
            for value in [0, 1, 0x7f, 0x80, 0xff] {
                let mut damaged = message.clone();
                damaged[offset] = value;
                with_columns(&STANDARD.encode(&damaged), &columns);
            }
        }
        assert_eq!(with_columns("", &columns), None);
        assert_eq!(with_columns("no base64", &columns), None);
    }
}
