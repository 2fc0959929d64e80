//! Flatbuffers, as little of them as it takes to put a new root before an old one (flatbuffers.dev, "Internals").
//!
//! All offsets but those to vtables point forward, so a new beginning can refer to anything behind it, and what is behind stays
//! as it is. The crate `flatbuffers` reads tables of unknown schemas only through unsafe functions.

/// A flatbuffer; every read is checked against its end.
#[derive(Clone, Copy)]
pub(super) struct Reader<'b>(pub &'b [u8]);

impl Reader<'_> {
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

    /// What the reference at this place refers to.
    pub(super) fn follow(self, at: usize) -> Option<usize> {
        let target = at.checked_add(self.long(at)? as usize)?;
        (target < self.0.len()).then_some(target)
    }

    /// Where a member of a table is; `Some(None)` if the table lacks it.
    pub(super) fn optional(self, table: usize, member: usize) -> Option<Option<usize>> {
        let back = i64::from(i32::from_le_bytes(self.bytes(table)?));
        let vtable = usize::try_from(table as i64 - back).ok()?;
        let (len, slot) = (self.short(vtable)?, 4 + 2 * member);
        if slot + 2 > usize::from(len) {
            return Some(None);
        }
        let offset = self.short(vtable.checked_add(slot)?)?;
        Some((offset > 0).then(|| table + usize::from(offset)))
    }

    /// Where a member of a table is that has to be there.
    pub(super) fn member(self, table: usize, member: usize) -> Option<usize> {
        self.optional(table, member)?
    }

    /// What the members of a vector of references refer to.
    pub(super) fn vector(self, at: usize) -> Option<Vec<usize>> {
        let len = self.long(at)? as usize;
        if len > self.0.len() / 4 {
            return None;
        }
        (0..len).map(|number| self.follow(at + 4 + 4 * number)).collect()
    }
}

/// A member of a table that is written.
#[derive(Clone, Copy)]
pub(super) enum Member {
    Absent,
    Byte(u8),
    Short(u16),
    Long(u32),
    /// Has to be pointed somewhere.
    Reference,
}

/// Writes what comes before an old flatbuffer, parents before children.
#[derive(Default)]
pub(super) struct Writer {
    bytes: Vec<u8>,
    /// References into the old one: where they are, and to what place in it.
    behind: Vec<(usize, usize)>,
}

/// Bytes between the members of a table. All have the alignment of the largest there is, which costs little here.
const STRIDE: usize = 8;

/// Where a member of a written table is.
pub(super) fn member_of(table: usize, member: usize) -> usize {
    table + STRIDE * (member + 1)
}

impl Writer {
    fn align(&mut self) {
        self.bytes.resize(self.bytes.len().next_multiple_of(STRIDE), 0);
    }

    fn put(&mut self, number: u32) {
        self.bytes.extend_from_slice(&number.to_le_bytes());
    }

    /// Writes a reference, and gives its place.
    pub(super) fn reference(&mut self) -> usize {
        self.put(0);
        self.bytes.len() - 4
    }

    /// Points a reference to what is written next, and aligns that.
    pub(super) fn point_here(&mut self, reference: usize) {
        self.align();
        self.set(reference, self.bytes.len());
    }

    /// Points a reference to a place in the old flatbuffer.
    pub(super) fn point_behind(&mut self, reference: usize, target: usize) {
        self.behind.push((reference, target));
    }

    fn set(&mut self, reference: usize, target: usize) {
        let offset = (target - reference) as u32;
        self.bytes[reference..reference + 4].copy_from_slice(&offset.to_le_bytes());
    }

    /// Writes a table that `reference` refers to, and gives its place.
    pub(super) fn table(&mut self, reference: usize, members: &[Member]) -> usize {
        self.align();
        let vtable = self.bytes.len();
        let offset = |(number, member): (usize, &Member)| match member {
            Member::Absent => 0,
            _ => STRIDE * (number + 1),
        };
        let lens = [4 + 2 * members.len(), STRIDE * (members.len() + 1)];
        for short in lens.into_iter().chain(members.iter().enumerate().map(offset)) {
            self.bytes.extend_from_slice(&(short as u16).to_le_bytes());
        }
        self.point_here(reference);
        let table = self.bytes.len();
        self.put((table - vtable) as u32);
        for member in members {
            self.align();
            match *member {
                Member::Byte(byte) => self.put(byte.into()),
                Member::Short(short) => self.put(short.into()),
                Member::Long(long) => self.put(long),
                Member::Absent | Member::Reference => self.put(0),
            }
        }
        table
    }

    /// Writes a vector of references that `reference` refers to, and gives their places.
    pub(super) fn vector(&mut self, reference: usize, len: usize) -> Vec<usize> {
        self.point_here(reference);
        self.put(len as u32);
        (0..len).map(|_| self.reference()).collect()
    }

    /// Writes a text that `reference` refers to.
    pub(super) fn text(&mut self, reference: usize, text: &str) {
        self.point_here(reference);
        self.put(text.len() as u32);
        self.bytes.extend_from_slice(text.as_bytes());
        self.bytes.push(0);
    }

    /// The whole flatbuffer; `None` if it became too long for its references.
    pub(super) fn before(mut self, old: Reader<'_>) -> Option<Vec<u8>> {
        self.align();
        let start = self.bytes.len();
        i32::try_from(start + old.0.len()).ok()?;
        for (reference, target) in std::mem::take(&mut self.behind) {
            self.set(reference, start + target);
        }
        self.bytes.extend_from_slice(old.0);
        Some(self.bytes)
    }
}
