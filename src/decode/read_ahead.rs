//! Stretches of a gzip file of many members that others inflate before the reader comes to them.
//!
//! Nothing relies on a stretch: what was inflated is kept by the place where its member seemed to begin, and is taken only by a reader
//! that comes to begin a member there. Where compressed bytes look like a member's beginning, what was made of them is never asked for.

use crate::decode::member::{self, MAX_MEMBER, WholeMembers};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// So many bytes a span has at least. It ends where the next member seems to begin.
const SPAN: usize = 1 << 17;

/// What is inflated of a span at most; real ones come to a quarter of this. More is left to the reader, who holds one member at a time.
const MAX_TEXT: usize = 2 << 20;

/// Whoever inflates spans when there is time.
pub(crate) trait Helpers: Send {
    /// Whether a span would be taken now.
    fn have_time(&self) -> bool;

    /// Hands a span over, to be [inflated](Span::inflate) by anyone; `false` if there is no time after all.
    fn post(&self, span: Arc<Span>) -> bool;

    /// How many spans are on the way at most.
    fn most(&self) -> usize;
}

/// Some members as they lie in the file, and then what was made of them.
pub(crate) struct Span {
    place: Range<u64>,
    state: Mutex<State>,
    changed: Condvar,
}

enum State {
    /// Nobody has begun.
    Waiting(Vec<u8>),
    Taken,
    Ready(Members),
}

/// Members that were inflated: each its place in the file, and where its text is.
#[derive(Default)]
struct Members {
    text: Vec<u8>,
    places: Vec<(Range<u64>, Range<usize>)>,
}

impl Span {
    fn new(place: Range<u64>, bytes: &[u8]) -> Self {
        Self { place, state: Mutex::new(State::Waiting(bytes.to_vec())), changed: Condvar::new() }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The bytes, if nobody has begun with them.
    fn take(&self) -> Option<Vec<u8>> {
        let mut state = self.state();
        let State::Waiting(bytes) = &mut *state else { return None };
        let bytes = std::mem::take(bytes);
        *state = State::Taken;
        Some(bytes)
    }

    /// Inflates its members, if nobody has begun with that.
    pub(crate) fn inflate(&self) {
        let Some(bytes) = self.take() else { return };
        // Whatever happens, the reader does not wait for ever.
        let mut ready = OnDrop { span: self, members: Members::default() };
        ready.members.inflate(&bytes, self.place.start);
    }

    /// What was made of it, waiting for who has begun; nothing if nobody has.
    fn fetch(&self) -> Members {
        if self.take().is_some() {
            return Members::default();
        }
        let mut state = self.state();
        loop {
            match &mut *state {
                State::Ready(members) => return std::mem::take(members),
                _ => state = self.changed.wait(state).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

/// Hands over what was made of a span, also if that went wrong.
struct OnDrop<'s> {
    span: &'s Span,
    members: Members,
}

impl Drop for OnDrop<'_> {
    fn drop(&mut self) {
        *self.span.state() = State::Ready(std::mem::take(&mut self.members));
        self.span.changed.notify_all();
    }
}

impl Members {
    /// Inflates what begins as a member and ends where another seems to begin; `offset` is the place of `bytes` in the file.
    fn inflate(&mut self, bytes: &[u8], offset: u64) {
        let mut whole = WholeMembers::new();
        // About what comes of them, so that little is copied as it grows. (To use the memory of spans that were read again saved nothing.)
        self.text.reserve((bytes.len() * 4).min(MAX_TEXT));
        let mut at = 0;
        while let Ok(Some(header)) = member::header_len(&bytes[at..]) {
            let stream = at + header;
            let end = whole.next_start(&bytes[stream..]).map_or(bytes.len(), |next| stream + next);
            let (member, start) = (&bytes[stream..end], self.text.len());
            let len = member::claimed_len(member).filter(|len| start + len <= MAX_TEXT && member.len() <= MAX_MEMBER);
            if let Some(len) = len {
                self.text.resize(start + len, 0);
                match whole.inflate(member, &mut self.text[start..]) {
                    Some(len) => {
                        self.places.push((offset + at as u64..offset + end as u64, start..start + len));
                    }
                    None => self.text.truncate(start),
                }
            }
            at = end;
        }
    }
}

/// The spans ahead of a reader.
pub(crate) struct Ahead {
    helpers: Box<dyn Helpers>,
    spans: VecDeque<Arc<Span>>,
    /// Up to where spans were cut.
    cut: u64,
    /// Up to where the end of the next was looked for.
    searched: u64,
    /// What was made of the first span, once it was fetched.
    ready: Option<Ready>,
}

/// What was made of a span.
struct Ready {
    members: Members,
    /// The number of the member that was asked for last, and what was not read of its text.
    next: usize,
    text: Range<usize>,
}

impl Ahead {
    pub(crate) fn new(helpers: Box<dyn Helpers>) -> Self {
        Self { helpers, spans: VecDeque::new(), cut: 0, searched: 0, ready: None }
    }

    /// Whether another span would be taken now.
    pub(crate) fn wants_more(&self) -> bool {
        self.spans.len() < self.helpers.most() && self.helpers.have_time()
    }

    /// How much of the file is looked at ahead at most.
    pub(crate) fn reach(&self) -> usize {
        self.helpers.most() * 2 * SPAN
    }

    /// Hands over the next span of `bytes`, which lie at `base` of the file; `from` is where the reader begins a member. `false` if no end
    /// of it was found, or nobody has time for it.
    pub(crate) fn cut(&mut self, bytes: &[u8], base: u64, from: u64, whole: &WholeMembers) -> bool {
        let start = self.cut.max(from);
        let at = |offset: u64| usize::try_from(offset.saturating_sub(base)).unwrap_or(usize::MAX).min(bytes.len());
        let searched = at(self.searched.max(start + SPAN as u64));
        let Some(end) = whole.next_start(&bytes[searched..]) else {
            // The last two bytes may be the beginning of a header.
            self.searched = (base + bytes.len() as u64).saturating_sub(2);
            return false;
        };
        let place = start..base + (searched + end) as u64;
        let span = Arc::new(Span::new(place.clone(), &bytes[at(start)..searched + end]));
        let posted = self.helpers.post(span.clone());
        if posted {
            self.cut = place.end;
            self.spans.push_back(span);
        }
        posted
    }

    /// Takes the member that begins at `start`, to be [read](Self::text), if anyone came to it: where it ends.
    pub(crate) fn take_member(&mut self, start: u64) -> Option<u64> {
        while self.spans.front()?.place.end <= start {
            self.spans.pop_front();
            self.ready = None;
        }
        let span = self.spans.front().filter(|span| span.place.start <= start)?;
        let ready = self.ready.get_or_insert_with(|| Ready { members: span.fetch(), next: 0, text: 0..0 });
        let places = &ready.members.places[ready.next..];
        ready.next += places.iter().take_while(|(place, _)| place.start < start).count();
        let (place, text) = ready.members.places.get(ready.next).filter(|(place, _)| place.start == start)?;
        ready.text = text.clone();
        Some(place.end)
    }

    /// What was not read of the member that was taken.
    pub(crate) fn text(&self) -> &[u8] {
        self.ready.as_ref().map_or(&[], |ready| &ready.members.text[ready.text.clone()])
    }

    /// Passes over so much of it.
    pub(crate) fn consume(&mut self, n: usize) {
        if let Some(Ready { text, .. }) = &mut self.ready {
            text.start += n.min(text.len());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::gzip::GzipReader;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::io::{self, Read, Write};
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// What helpers do with a span.
    #[derive(Clone, Copy, Debug)]
    enum Way {
        AtOnce,
        OnAnotherThread,
        Never,
    }

    struct Crew {
        way: Way,
        posted: Arc<AtomicUsize>,
    }

    impl Helpers for Crew {
        fn have_time(&self) -> bool {
            true
        }

        fn post(&self, span: Arc<Span>) -> bool {
            // Every fifth finds nobody who has time.
            let number = self.posted.fetch_add(1, Ordering::Relaxed);
            match self.way {
                Way::AtOnce => span.inflate(),
                Way::OnAnotherThread => drop(std::thread::spawn(move || span.inflate())),
                Way::Never => {}
            }
            number % 5 != 4
        }

        fn most(&self) -> usize {
            4
        }
    }

    /// A member: either text, or bytes that no compression makes shorter and that hold a member themselves.
    fn member(seed: u32, len: usize, plain: bool) -> Vec<u8> {
        let mut word = seed | 1;
        let noise = std::iter::repeat_with(|| {
            word = word.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            if plain { b"/ab\n"[(word >> 30) as usize] } else { (word >> 24) as u8 }
        });
        let mut text: Vec<u8> = noise.take(len).collect();
        if !plain {
            text.extend(member(seed, len / 8, true));
        }
        let mut out = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(&text).unwrap();
        out.finish().unwrap()
    }

    /// Reads what is next, where it lies or into `out`, and puts it behind `text`: how much that was.
    fn read_some(
        reader: &mut GzipReader<&[u8]>,
        in_place: bool,
        out: &mut [u8],
        text: &mut Vec<u8>,
    ) -> io::Result<usize> {
        if in_place && reader.look_ahead()? {
            // Not all of it at once.
            let len = reader.ahead().len().div_ceil(2);
            text.extend_from_slice(&reader.ahead()[..len]);
            reader.consume(len);
            return Ok(len);
        }
        let len = reader.read(out)?;
        text.extend_from_slice(&out[..len]);
        Ok(len)
    }

    /// What is read of a file, without damaged members (how much of these comes before the damage is seen depends on how much is read at
    /// once), and where it is damaged; and how many spans were posted.
    fn read(bytes: &[u8], way: Option<Way>, in_place: bool) -> (Vec<u8>, Vec<String>, usize) {
        let (mut reader, mut text, mut errors) = (GzipReader::new(bytes), Vec::new(), Vec::new());
        let posted = Arc::new(AtomicUsize::new(0));
        if let Some(way) = way {
            reader.help(Box::new(Crew { way, posted: posted.clone() }));
        }
        let mut out = vec![0; 1 << 14];
        let mut begin = (0, 0);
        loop {
            let before = text.len();
            let result = read_some(&mut reader, in_place, &mut out, &mut text);
            if reader.member_offset() != begin.0 {
                begin = (reader.member_offset(), before);
            }
            match result {
                Ok(0) => return (text, errors, posted.load(Ordering::Relaxed)),
                Ok(_) => {}
                Err(err) => {
                    text.truncate(begin.1);
                    errors.push(err.to_string().split(": ").take(1).collect());
                    reader.resync().unwrap();
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn with_helpers_the_same_is_read(
            members in vec((any::<u32>(), 0usize..40_000, any::<bool>()), 40..80),
            long in any::<bool>(),
            flips in vec((any::<proptest::sample::Index>(), 1u8..), 0..4),
        ) {
            let mut file: Vec<u8> =
                members.iter().flat_map(|&(seed, len, plain)| member(seed, len, plain)).collect();
            if long {
                file.extend(member(7, 3_000_000, true));
                file.extend(members.iter().flat_map(|&(seed, len, plain)| member(seed + 1, len, plain)));
            }
            for (at, flip) in flips {
                let at = at.index(file.len());
                file[at] ^= flip;
            }
            let (text, errors, _) = read(&file, None, false);
            for (way, in_place) in [(Way::AtOnce, true), (Way::OnAnotherThread, true), (Way::AtOnce, false), (Way::Never, true)] {
                let (helped, helped_errors, posted) = read(&file, Some(way), in_place);
                prop_assert!(helped == text, "{way:?}");
                prop_assert_eq!(&helped_errors, &errors);
                prop_assert!(posted > 0 || file.len() < 3 * SPAN || !errors.is_empty());
            }
        }
    }

    #[test]
    fn a_bomb_is_left_to_the_reader() {
        let mut bomb = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        bomb.write_all(&vec![0; 2 * MAX_TEXT]).unwrap();
        let bytes = [bomb.finish().unwrap(), member(1, 500, true)].concat();
        let mut members = Members::default();
        members.inflate(&bytes, 10);
        assert_eq!((members.places.len(), members.text.len()), (1, 500));
        assert_eq!(members.places[0].0.end, 10 + bytes.len() as u64);
    }
}
