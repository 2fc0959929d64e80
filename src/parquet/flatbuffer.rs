//! The part of flatbuffers that is needed to write a new root before an old one
//! (flatbuffers.dev, "Internals").
//!
//! All offsets except those to vtables point forward. So a new root can refer to anything after it,
//! and the old bytes stay the same. The crate `flatbuffers` reads tables of unknown schemas only
//! through unsafe functions.

/// Reads a flatbuffer. Every read is bounds-checked.
#[derive(Clone, Copy)]
pub(super) struct FlatbufferReader<'b>(pub &'b [u8]);

impl FlatbufferReader<'_> {
    fn bytes<const N: usize>(self, at: usize) -> Option<[u8; N]> {
        self.0.get(at..at.checked_add(N)?)?.try_into().ok()
    }

    pub(super) fn byte(self, at: usize) -> Option<u8> {
        self.bytes(at).map(u8::from_le_bytes)
    }

    pub(super) fn short(self, at: usize) -> Option<u16> {
        self.bytes(at).map(u16::from_le_bytes)
    }

    pub(super) fn long(self, at: usize) -> Option<u32> {
        self.bytes(at).map(u32::from_le_bytes)
    }

    /// The target of the reference at this offset.
    pub(super) fn follow(self, at: usize) -> Option<usize> {
        let target = at.checked_add(self.long(at)? as usize)?;
        (target < self.0.len()).then_some(target)
    }

    /// The offset of a member of a table; `Some(None)` if the table lacks it.
    pub(super) fn optional(self, table: usize, member: usize) -> Option<Option<usize>> {
        let back = i64::from(i32::from_le_bytes(self.bytes(table)?));
        let vtable = usize::try_from(table as i64 - back).ok()?;
        let len = self.short(vtable)?;
        let slot = 4 + 2 * member;
        if slot + 2 > usize::from(len) {
            return Some(None);
        }
        let offset = self.short(vtable.checked_add(slot)?)?;
        Some((offset > 0).then(|| table + usize::from(offset)))
    }

    /// The offset of a required member of a table.
    pub(super) fn member(self, table: usize, member: usize) -> Option<usize> {
        self.optional(table, member)?
    }

    /// The targets of a vector of references.
    pub(super) fn vector(self, at: usize) -> Option<Vec<usize>> {
        let len = self.long(at)? as usize;
        if len > self.0.len() / 4 {
            return None;
        }
        (0..len)
            .map(|number| self.follow(at + 4 + 4 * number))
            .collect()
    }
}

/// A member of a table to write.
#[derive(Clone, Copy)]
pub(super) enum Member {
    Absent,
    /// A number of any width: in little endian, the bytes after a narrower one are 0.
    Number(u32),
    /// A reference whose target is set later.
    Reference,
}

/// Writes the part before an old flatbuffer, parents before children.
#[derive(Default)]
pub(super) struct FlatbufferWriter {
    bytes: Vec<u8>,
    /// References into the old flatbuffer, each with the offset of its target there.
    into_old: Vec<(usize, usize)>,
}

/// The bytes between the members of a table. All members have the largest alignment, which costs
/// little here.
const STRIDE: usize = 8;

/// The offset of a member of a written table.
pub(super) fn member_of(table: usize, member: usize) -> usize {
    table + STRIDE * (member + 1)
}

impl FlatbufferWriter {
    fn align(&mut self) {
        self.bytes
            .resize(self.bytes.len().next_multiple_of(STRIDE), 0);
    }

    fn write_u16(&mut self, number: usize) {
        self.bytes.extend_from_slice(&(number as u16).to_le_bytes());
    }

    fn write_u32(&mut self, number: u32) {
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    /// Writes a reference, and returns its offset.
    pub(super) fn reference(&mut self) -> usize {
        self.write_u32(0);
        self.bytes.len() - 4
    }

    /// Points a reference to the next aligned offset.
    pub(super) fn point_here(&mut self, reference: usize) {
        self.align();
        self.set(reference, self.bytes.len());
    }

    /// Points a reference to an offset in the old flatbuffer.
    pub(super) fn point_into_old(&mut self, reference: usize, target: usize) {
        self.into_old.push((reference, target));
    }

    fn set(&mut self, reference: usize, target: usize) {
        let offset = (target - reference) as u32;
        self.bytes[reference..reference + 4].copy_from_slice(&offset.to_le_bytes());
    }

    /// Writes a table that `reference` refers to, and returns its offset.
    pub(super) fn table(&mut self, reference: usize, members: &[Member]) -> usize {
        self.align();
        let vtable = self.bytes.len();
        // The vtable precedes its table, and starts with the lengths of both.
        self.write_u16(4 + 2 * members.len());
        self.write_u16(STRIDE * (members.len() + 1));
        for (number, member) in members.iter().enumerate() {
            self.write_u16(match member {
                Member::Absent => 0,
                Member::Number(_) | Member::Reference => STRIDE * (number + 1),
            });
        }
        self.point_here(reference);
        let table = self.bytes.len();
        self.write_u32((table - vtable) as u32);
        // An absent member takes room too: offsets then follow from the number alone.
        for member in members {
            self.align();
            match *member {
                Member::Number(number) => self.write_u32(number),
                Member::Absent | Member::Reference => self.write_u32(0),
            }
        }
        table
    }

    /// Writes a vector of references that `reference` refers to, and returns their offsets.
    pub(super) fn vector(&mut self, reference: usize, len: usize) -> Vec<usize> {
        self.point_here(reference);
        self.write_u32(len as u32);
        (0..len).map(|_| self.reference()).collect()
    }

    /// Writes a text that `reference` refers to.
    pub(super) fn text(&mut self, reference: usize, text: &str) {
        self.point_here(reference);
        self.write_u32(text.len() as u32);
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.push(0);
    }

    /// The new flatbuffer; `None` if it is too long for its references.
    pub(super) fn finish(mut self, old: FlatbufferReader<'_>) -> Option<Vec<u8>> {
        self.align();
        let start = self.bytes.len();
        i32::try_from(start + old.0.len()).ok()?;
        for (reference, target) in std::mem::take(&mut self.into_old) {
            self.set(reference, start + target);
        }
        self.bytes.extend_from_slice(old.0);
        Some(self.bytes)
    }
}
