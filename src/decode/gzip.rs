//! A reader of gzip files with many members. It reports the offset of each member and can continue
//! after a damaged one.

use crate::decode::member::{MAGIC, MAX_MEMBER, TRAILER_LEN, WholeMembers, header_len};
use crate::error::Error;
use flate2::{Crc, Decompress, FlushDecompress, Status};
use std::io::{self, Read};

/// The bytes of a member that are kept for [`GzipReader::resync`]. A damaged stream may decode
/// garbage past its own end, so the search for the next member begins right after the damaged
/// header.
const MAX_KEPT: usize = 16 << 20;
const READ_SIZE: u64 = 1 << 17;

/// How many times the bytes read so far may be searched and decoded again after damage. False
/// headers in a damaged member can each begin a stream that reaches far, and all of them again would
/// take quadratic time.
const MAX_REREAD: u64 = 4;

/// Reads the members one after the other and checks the length and the CRC of each (RFC 1952). A
/// short member is inflated in one call; a long or damaged one is inflated as a stream.
///
/// The multi-member reader of `flate2` reports neither the offset of a damaged member nor a way to
/// continue after it.
pub(crate) struct GzipReader<R> {
    input: R,
    /// Input bytes from file offset `base` on.
    buf: Vec<u8>,
    base: u64,
    /// The next byte to decode, and the start of the current member, as indices into `buf`.
    at: usize,
    member: usize,
    whole: WholeMembers,
    inflate: Decompress,
    crc: Crc,
    state: MemberState,
    /// Whether the current member has no decoded byte yet.
    is_fresh: bool,
    /// Whether the bytes of the last read are the first of a member.
    starts_member: bool,
    /// The bytes to which [`resync`](Self::resync) has gone back.
    reread: u64,
}

/// The position of the next byte to decode.
#[derive(Clone, Copy, PartialEq, Eq)]
enum MemberState {
    /// Between two members.
    Header,
    /// After a header.
    Start,
    /// Within a member that is inflated as a stream.
    Body,
    /// At the end of the file.
    Done,
}

impl<R: Read> GzipReader<R> {
    pub(crate) fn new(input: R) -> Self {
        Self {
            input,
            buf: Vec::new(),
            base: 0,
            at: 0,
            member: 0,
            whole: WholeMembers::new(),
            inflate: Decompress::new(false),
            crc: Crc::new(),
            state: MemberState::Header,
            is_fresh: false,
            starts_member: false,
            reread: 0,
        }
    }

    /// The file offset of the current member.
    pub(crate) fn member_offset(&self) -> u64 {
        self.base + self.member as u64
    }

    /// Whether the bytes of the last read are the first of a member. A read never crosses the end of
    /// a member.
    pub(crate) fn starts_member(&self) -> bool {
        self.starts_member
    }

    pub(crate) fn get_ref(&self) -> &R {
        &self.input
    }

    /// Reads more input; `false` at the end of the file. Drops the bytes of earlier members.
    fn fill(&mut self) -> io::Result<bool> {
        let dropped = if self.at - self.member > MAX_KEPT {
            self.at
        } else {
            self.member
        };
        if dropped > 0 && self.buf.len() - dropped < dropped {
            self.buf.drain(..dropped);
            self.base += dropped as u64;
            self.at -= dropped;
            self.member = self.member.saturating_sub(dropped);
        }
        Ok(self
            .input
            .by_ref()
            .take(READ_SIZE)
            .read_to_end(&mut self.buf)?
            > 0)
    }

    fn damaged(&self, what: &str) -> io::Error {
        io::Error::other(Error::damaged(
            self.member_offset(),
            format!("gzip member: {what}"),
            true,
        ))
    }

    /// Reads more of the current member.
    fn fill_member(&mut self) -> io::Result<()> {
        if self.fill()? {
            Ok(())
        } else {
            Err(self.damaged("the file ends inside it"))
        }
    }

    /// Moves to the start of the next member; `false` at the end of the file. Zero bytes between
    /// members are padding.
    fn skip_padding(&mut self) -> io::Result<bool> {
        loop {
            self.member = self.at;
            if self.at == self.buf.len() && !self.fill()? {
                return Ok(false);
            }
            if self.buf.get(self.at) != Some(&0) {
                return Ok(true);
            }
            self.at += 1;
        }
    }

    /// Moves to the next member and skips its header.
    fn next_member(&mut self) -> io::Result<()> {
        if !self.skip_padding()? {
            self.state = MemberState::Done;
            return Ok(());
        }
        loop {
            if let Some(len) =
                header_len(&self.buf[self.at..]).map_err(|what| self.damaged(what))?
            {
                self.at += len;
                self.state = MemberState::Start;
                self.is_fresh = true;
                return Ok(());
            }
            self.fill_member()?;
        }
    }

    /// Inflates a whole member in one call and returns its length, if its end is near and `out` has
    /// room for all of it.
    fn inflate_whole(&mut self, out: &mut [u8]) -> io::Result<Option<usize>> {
        let Some(end) = self.near_end()? else {
            return Ok(None);
        };
        let len = self.whole.inflate(&self.buf[self.at..end], out);
        if len.is_some() {
            self.at = end;
        }
        Ok(len)
    }

    /// The probable end of the member: the next header, or the end of the file.
    fn near_end(&mut self) -> io::Result<Option<usize>> {
        let mut searched = 0;
        loop {
            let ahead = &self.buf[self.at..];
            if let Some(at) = self
                .whole
                .next_start(&ahead[searched..ahead.len().min(MAX_MEMBER)])
            {
                return Ok(Some(self.at + searched + at));
            }
            if ahead.len() >= MAX_MEMBER {
                return Ok(None);
            }
            // The last two bytes may be the start of a header.
            searched = ahead.len().saturating_sub(MAGIC.len() - 1);
            if !self.fill()? {
                return Ok(Some(self.buf.len()));
            }
        }
    }

    /// Inflates a piece of a member as a stream. The piece may be empty.
    fn inflate_piece(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if self.at == self.buf.len() {
            self.fill_member()?;
        }
        let before_in = self.inflate.total_in();
        let before_out = self.inflate.total_out();
        let status = self
            .inflate
            .decompress(&self.buf[self.at..], out, FlushDecompress::None)
            .map_err(|err| self.damaged(&err.to_string()))?;
        self.at += (self.inflate.total_in() - before_in) as usize;
        let n = (self.inflate.total_out() - before_out) as usize;
        self.crc.update(&out[..n]);
        if status == Status::StreamEnd {
            self.check_trailer()?;
            self.state = MemberState::Header;
        }
        Ok(n)
    }

    /// Checks the trailer of a member that was inflated as a stream.
    fn check_trailer(&mut self) -> io::Result<()> {
        while self.buf.len() < self.at + TRAILER_LEN {
            self.fill_member()?;
        }
        let trailer = &self.buf[self.at..][..TRAILER_LEN];
        let is_right = *trailer
            == [
                self.crc.sum().to_le_bytes(),
                self.crc.amount().to_le_bytes(),
            ]
            .concat();
        self.at += TRAILER_LEN;
        if !is_right {
            return Err(self.damaged("its checksum does not fit its content"));
        }
        Ok(())
    }

    /// Moves to the next probable gzip header after the first byte of the current member; `false`
    /// if there is none. After much damage it moves on from the damaged byte instead, so the time is
    /// linear in the file.
    pub(crate) fn resync(&mut self) -> io::Result<bool> {
        let mut from = (self.member + 1).min(self.buf.len());
        let again = self.at.saturating_sub(from) as u64;
        let read = self.base + self.buf.len() as u64;
        if self.reread + again > MAX_KEPT as u64 + MAX_REREAD * read {
            from = self.at;
        } else {
            self.reread += again;
        }
        loop {
            if let Some(at) = self.whole.next_start(&self.buf[from..]) {
                self.at = from + at;
                self.member = self.at;
                self.state = MemberState::Header;
                return Ok(true);
            }
            // The last two bytes may be the start of a header.
            self.at = self
                .buf
                .len()
                .saturating_sub(2)
                .max(from.min(self.buf.len()));
            self.member = self.at;
            if !self.fill()? {
                self.state = MemberState::Done;
                return Ok(false);
            }
            from = self.member;
        }
    }
}

impl<R: Read> Read for GzipReader<R> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        if out.is_empty() {
            return Ok(0);
        }
        loop {
            let n = match self.state {
                MemberState::Header => {
                    self.next_member()?;
                    0
                }
                MemberState::Start => match self.inflate_whole(out)? {
                    Some(n) => {
                        self.state = MemberState::Header;
                        n
                    }
                    // Too long for one call, or its end is not known yet.
                    None => {
                        self.inflate.reset(false);
                        self.crc.reset();
                        self.state = MemberState::Body;
                        0
                    }
                },
                MemberState::Body => self.inflate_piece(out)?,
                MemberState::Done => return Ok(0),
            };
            if n > 0 {
                self.starts_member = std::mem::take(&mut self.is_fresh);
                return Ok(n);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn member(text: &[u8]) -> Vec<u8> {
        let mut out = flate2::GzBuilder::new()
            .filename("name")
            .extra(vec![1, 2])
            .write(Vec::new(), flate2::Compression::default());
        out.write_all(text).unwrap();
        out.finish().unwrap()
    }

    /// Reads to the end and skips damage: the text and the number of damaged members.
    fn read_all(bytes: &[u8]) -> (String, u32) {
        let (mut reader, mut text, mut damaged) = (GzipReader::new(bytes), Vec::new(), 0);
        while reader.read_to_end(&mut text).is_err() {
            damaged += 1;
            if !reader.resync().unwrap() {
                break;
            }
        }
        (String::from_utf8_lossy(&text).into_owned(), damaged)
    }

    #[test]
    fn padding_between_members_is_skipped() {
        let file = [member(b"one "), vec![0; 7], member(b""), member(b"two")].concat();
        assert_eq!(read_all(&file), ("one two".to_owned(), 0));
    }

    #[test]
    fn damage_costs_its_own_member_only() {
        let (a, b, c) = (member(b"one "), member(b"two "), member(b"three"));
        for at in 0..b.len() {
            let mut file = [a.clone(), b.clone(), c.clone()].concat();
            file[a.len() + at] ^= 0xff;
            let (text, _) = read_all(&file);
            assert!(
                text.starts_with("one ") && text.ends_with("three"),
                "byte {at}: {text:?}"
            );
        }
    }

    /// The errors of a file that is read `room` bytes at a time. The causes are left out:
    /// their wording depends on the size of the reads.
    fn errors(bytes: &[u8], room: usize) -> Vec<String> {
        let (mut reader, mut out, mut errors) = (GzipReader::new(bytes), vec![0; room], Vec::new());
        loop {
            match reader.read(&mut out) {
                Ok(0) => return errors,
                Ok(_) => {}
                Err(err) => {
                    errors.push(err.to_string().split(": ").take(1).collect());
                    reader.resync().unwrap();
                }
            }
        }
    }

    #[test]
    fn reads_of_any_size_find_the_same_damage() {
        let file = [
            member(b"one one "),
            member(b"two"),
            vec![0; 3],
            member(b"three"),
        ]
        .concat();
        for at in 0..file.len() {
            let mut flipped = file.clone();
            flipped[at] ^= 0x11;
            for damaged in [
                flipped,
                [&file[..at], &file[at + 1..]].concat(),
                file[..at].to_vec(),
            ] {
                assert_eq!(
                    errors(&damaged, 4096),
                    errors(&damaged, 1),
                    "byte {at}: {damaged:?}"
                );
            }
        }
    }

    /// A header per 15 bytes, each the start of a stored block that ends where the others end. So
    /// each stream reaches to the damage at the end, and begins again if the one before it failed.
    #[test]
    fn false_headers_take_linear_time() {
        let mut file = Vec::new();
        for number in 0..20 {
            let mut part = Vec::new();
            for later in (0..4000_u16).rev() {
                let len = later * 15;
                part.extend_from_slice(b"\x1f\x8b\x08\0\0\0\0\0\0\x03\0");
                part.extend_from_slice(&[len.to_le_bytes(), (!len).to_le_bytes()].concat());
            }
            let len = part.len() as u16;
            if number < 19 {
                part.push(0);
                part.extend_from_slice(&[len.to_le_bytes(), (!len).to_le_bytes()].concat());
            }
            file.extend(part);
        }
        file.extend([7; 10]);
        file.extend(member(b"last"));
        let (mut reader, mut out, mut inflated) = (GzipReader::new(&file[..]), vec![0; 1 << 16], 0);
        loop {
            match reader.read(&mut out) {
                Ok(0) => break,
                Ok(n) => inflated += n,
                Err(_) => assert!(reader.resync().unwrap()),
            }
        }
        assert!(
            out.starts_with(b"last"),
            "the member after the damage is read"
        );
        let bound = MAX_KEPT + (MAX_REREAD as usize + 2) * file.len();
        assert!(inflated < bound, "{inflated} bytes of {}", file.len());
    }

    #[test]
    fn an_error_names_the_members_offset() {
        let a = member(b"one ");
        let mut file = [a.clone(), member(b"two ")].concat();
        file.truncate(file.len() - 2);
        let err = GzipReader::new(&file[..])
            .read_to_end(&mut Vec::new())
            .unwrap_err();
        assert!(
            err.to_string().contains(&format!("byte {}", a.len())),
            "{err}"
        );
    }
}
