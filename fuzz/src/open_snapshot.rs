//! Forged snapshots with right checksums: every question ends with an answer or an error.

use crate::forging::{assemble, intact, sections, survives, with_history};
use crate::input::Bytes;
use robosieve::export::{ExportTable, Exporter};
use robosieve::lint::survey;
use robosieve::{Judge, JudgeOptions, Snapshot};

/// Changes of a valid snapshot: a section, the kind of the change, and its place and value.
pub(crate) fn run(input: &[u8]) {
    for bytes in [intact(), with_history()] {
        forge(bytes, input);
    }
}

/// Changes a snapshot, and asks it everything.
fn forge(bytes: &[u8], input: &[u8]) {
    let mut sections = sections(bytes);
    let mut input = Bytes(input);
    while !input.is_empty() {
        let number = usize::from(input.byte()) % sections.len();
        mutate(&mut sections[number], &mut input);
    }
    let bytes = assemble(&sections);
    survives(&bytes);
    let Ok(snapshot) = Snapshot::new(bytes) else {
        return;
    };
    let _ = survey(&snapshot, &[], |_| {});
    let _ = snapshot.sitemaps(&robosieve::Origin::of(b"https://rules.example").unwrap());
    let agents = ["FooBot".parse().unwrap(), "Absent".parse().unwrap()];
    let Ok(judge) = Judge::new(&snapshot, &agents, JudgeOptions::default()) else {
        return;
    };
    for table in [ExportTable::Origins, ExportTable::Rules] {
        let _ = Exporter::new(&judge, table)
            .map(|exporter| exporter.write_text(|_, _| (), &mut std::io::sink()).is_ok());
    }
}

/// Changes bytes in one of the ways that keep a section almost valid.
pub(crate) fn mutate(section: &mut Vec<u8>, input: &mut Bytes<'_>) {
    let (kind, at, value) = (input.byte(), input.number(), input.byte());
    if section.is_empty() {
        return section.push(value);
    }
    let at = at % section.len();
    match kind % 8 {
        0 => section[at] = value,
        1 => section[at] = section[at].wrapping_add(value),
        // A number of four bytes, as offsets and counts are.
        2 | 3 => {
            let at = at & !3;
            let number = match value {
                0..0x40 => u32::from(value),
                0x40..0x60 => u32::MAX - u32::from(value - 0x40),
                0x60..0x80 => 1 << (value - 0x60),
                _ => (section.len() as u32 / 8 + u32::from(value)).wrapping_sub(0xc0),
            };
            if let Some(place) = section.get_mut(at..at + 4) {
                place.copy_from_slice(&number.to_le_bytes());
            }
        }
        4 => section.truncate(at),
        5 => section.extend(std::iter::repeat_n(value, at % 256)),
        // Copies a row over another, or inserts it.
        6 => {
            let (from, to) = (at & !7, usize::from(value) * 8 % section.len());
            let len = 16.min(section.len() - from.max(to));
            section.copy_within(from..from + len, to);
        }
        _ => {
            let end = (at + 8 * usize::from(value % 16)).min(section.len());
            let copy = section[at..end].to_vec();
            section.splice(at..at, copy);
        }
    }
}
