//! Adds columns to `ARROW:schema`, the metadata entry with the Arrow types of all columns: an
//! encapsulated message of Arrow's IPC format (Columnar.rst), in base64.

use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::root_as_message_with_opts;
use arrow_ipc::writer::{DictionaryTracker, IpcDataGenerator, IpcWriteOptions};
use arrow_schema::{DataType, Field, Schema};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flatbuffers::VerifierOptions;
use parquet::basic::{LogicalType, Type as PhysicalType};
use parquet::schema::types::{Type, TypePtr};
use std::sync::Arc;

/// The entry's key in the metadata of a file.
pub(super) const KEY: &str = "ARROW:schema";

/// The first bytes of an encapsulated message. Its length follows.
const CONTINUATION: [u8; 4] = [0xff; 4];

/// The entry with these columns of integers, doubles and texts at the end; `None` if the entry
/// cannot be parsed.
pub(super) fn with_columns(entry: &str, columns: &[TypePtr]) -> Option<String> {
    let old = decode(entry)?;
    let mut fields = old.fields.to_vec();
    fields.extend(columns.iter().map(|column| Arc::new(field(column))));
    let schema = Schema::new_with_metadata(fields, old.metadata);
    let message = IpcDataGenerator::default()
        .schema_to_bytes_with_dictionary_tracker(
            &schema,
            &mut DictionaryTracker::new(false),
            &IpcWriteOptions::default(),
        )
        .ipc_message;
    let len = u32::try_from(message.len()).ok()?.to_le_bytes();
    Some(STANDARD.encode([&CONTINUATION, &len, &message[..]].concat()))
}

fn decode(entry: &str) -> Option<Schema> {
    let message = STANDARD.decode(entry).ok()?;
    let (len, rest) = message.strip_prefix(&CONTINUATION)?.split_first_chunk()?;
    let message = rest.get(..u32::from_le_bytes(*len) as usize)?;
    // Several fields may refer to one child, and so on in each level of nesting: then a schema of a
    // few hundred bytes has millions of fields. Writers share no fields, so each table takes four
    // bytes or more. They share the heads of tables, which count for each.
    let options = VerifierOptions {
        max_tables: message.len() / 4,
        max_apparent_size: 16 * message.len(),
        ..VerifierOptions::default()
    };
    let message = root_as_message_with_opts(&options, message).ok()?;
    try_fb_to_schema(message.header_as_schema()?).ok()
}

/// A column that may have nulls.
fn field(column: &Type) -> Field {
    let logical = column.get_basic_info().logical_type_ref();
    let arrow_type = match (logical, column.get_physical_type()) {
        (Some(LogicalType::Integer(integer)), _) if integer.bit_width == 8 => DataType::Int8,
        (_, PhysicalType::DOUBLE) => DataType::Float64,
        (_, PhysicalType::BYTE_ARRAY) => DataType::Utf8,
        (_, PhysicalType::INT32) => DataType::Int32,
        _ => DataType::Int64,
    };
    Field::new(column.name(), arrow_type, true)
}

#[cfg(test)]
mod tests {
    use super::*;
    use arrow_ipc::{FieldBuilder, MessageBuilder, MessageHeader, SchemaBuilder, Struct_Builder};
    use flatbuffers::FlatBufferBuilder;
    use parquet::basic::Repetition;

    /// Columns `u` (large_string) and `l` (a dictionary of strings, described by the type of its
    /// values), metadata `a`: `b`.
    const ENTRY: &str = "/////wABAAAQAAAAAAAKAA4ABgAFAAgACgAAAAABBAAQAAAAAAAKAAwAAAAEAAgACgAAADQAAAAEAA\
                         AAAQAAAAwAAAAIAAwABAAIAAgAAAAQAAAABAAAAAEAAABiAAAAAQAAAGEAAAACAAAAdAAAABQAAAAQ\
                         ABgACAAGAAcADAAQABQAEAAAAAAAAQUUAAAAPAAAABwAAAAEAAAAAAAAAAEAAABsAAAACAAIAAAABA\
                         AIAAAADAAAAAgADAAIAAcACAAAAAAAAAEgAAAAzP///xAAFAAIAAYABwAMAAAAEAAQAAAAAAABFBAA\
                         AAAYAAAABAAAAAAAAAABAAAAdQAAAAQABAAEAAAA";

    fn column(name: &str, kind: PhysicalType, logical: Option<LogicalType>) -> TypePtr {
        let builder = Type::primitive_type_builder(name, kind)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical);
        Arc::new(builder.build().unwrap())
    }

    #[test]
    fn new_columns_follow_the_others() {
        let old = decode(ENTRY).unwrap();
        assert_eq!(old.field(0), &Field::new("u", DataType::LargeUtf8, true));
        assert!(
            matches!(old.field(1).data_type(), DataType::Dictionary(_, values) if **values == DataType::Utf8)
        );
        let mask = column("robots_allowed", PhysicalType::INT64, None);
        let entry = with_columns(ENTRY, &[mask]).unwrap();
        // The result can be extended again.
        let more = [
            column(
                "flag",
                PhysicalType::INT32,
                Some(LogicalType::integer(8, true)),
            ),
            column(
                "origin",
                PhysicalType::BYTE_ARRAY,
                Some(LogicalType::String),
            ),
            column("delay", PhysicalType::DOUBLE, None),
            column("line", PhysicalType::INT32, None),
        ];
        let new = decode(&with_columns(&entry, &more).unwrap()).unwrap();
        assert_eq!(new.fields[..2], old.fields[..]);
        assert_eq!(new.metadata, old.metadata);
        let added = [
            ("robots_allowed", DataType::Int64),
            ("flag", DataType::Int8),
            ("origin", DataType::Utf8),
            ("delay", DataType::Float64),
            ("line", DataType::Int32),
        ];
        for (field, (name, kind)) in new.fields[2..].iter().zip(added) {
            assert_eq!(**field, Field::new(name, kind, true));
        }
        assert_eq!(new.fields.len(), 7);
    }

    /// A struct whose two fields are one struct, and so on: 8,190 fields in half a kilobyte.
    #[test]
    fn shared_fields_are_not_multiplied() {
        let entry = |depth, shares| {
            let mut out = FlatBufferBuilder::new();
            let mut fields = Vec::new();
            for _ in 0..depth {
                let children = out.create_vector(&fields);
                let kind = Struct_Builder::new(&mut out).finish();
                let mut field = FieldBuilder::new(&mut out);
                field.add_type_type(arrow_ipc::Type::Struct_);
                field.add_type_(kind.as_union_value());
                field.add_children(children);
                fields = vec![field.finish(); shares];
            }
            let fields = out.create_vector(&fields);
            let mut schema = SchemaBuilder::new(&mut out);
            schema.add_fields(fields);
            let schema = schema.finish();
            let mut message = MessageBuilder::new(&mut out);
            message.add_header_type(MessageHeader::Schema);
            message.add_header(schema.as_union_value());
            let message = message.finish();
            out.finish(message, None);
            let bytes = out.finished_data();
            let len = (bytes.len() as u32).to_le_bytes();
            STANDARD.encode([&CONTINUATION, &len, bytes].concat())
        };
        assert!(decode(&entry(12, 1)).is_some());
        assert!(decode(&entry(12, 2)).is_none());
    }

    #[test]
    fn damage_causes_no_panic() {
        let columns = [column("robots_allowed", PhysicalType::INT64, None)];
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
