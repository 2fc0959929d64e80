//! The input scheduler: decides which input a free worker reads next.
//!
//! One worker at a time reads an input. A compressed list or a Parquet row group takes longer to
//! decode than to judge, so one input alone would leave workers idle. They read later inputs
//! meanwhile, and the reorder buffer holds those blocks. The first input always comes first. How
//! far workers read ahead is bounded, in blocks and in bytes, and that bounds memory.

use super::reorder_buffer::BlockPosition;
use std::collections::VecDeque;

/// Inputs in their order: those not opened yet (`I`), and the readers of open ones (`R`).
pub(crate) struct InputScheduler<I, R> {
    unopened: std::vec::IntoIter<I>,
    /// Open inputs in order. The first is not at its end.
    open: VecDeque<OpenInput<R>>,
    /// The number of the first unopened input.
    next_input: u64,
    max_open: usize,
    /// The number of blocks that the input being written may be ahead of the output.
    max_ahead: u64,
}

struct OpenInput<R> {
    /// The position of its next block.
    next: BlockPosition,
    /// `None` while a worker reads, and after the end.
    reader: Option<R>,
    is_slow: bool,
    has_ended: bool,
}

/// A read that a worker has to do.
pub(crate) struct ReadTask<I, R> {
    /// The position of the block.
    pub position: BlockPosition,
    pub target: ReadTarget<I, R>,
}

pub(crate) enum ReadTarget<I, R> {
    Unopened(I),
    Open(R),
}

impl<I, R> InputScheduler<I, R> {
    /// A scheduler that keeps at most `max_open` inputs open.
    pub(crate) fn new(inputs: Vec<I>, max_open: usize, max_ahead: u64) -> Self {
        Self {
            unopened: inputs.into_iter(),
            open: VecDeque::new(),
            next_input: 0,
            max_open,
            max_ahead,
        }
    }

    /// The next read, if one can start now. `written` is the position that is written next;
    /// `has_room` says whether other blocks than that one may be read.
    ///
    /// If no read can start and the inputs are not [finished](Self::is_finished), a worker is
    /// reading, or has the block at `written`. So whoever waits for a read waits for a worker that
    /// does not wait itself.
    pub(crate) fn start_read(
        &mut self,
        written: BlockPosition,
        has_room: bool,
    ) -> Option<ReadTask<I, R>> {
        let chosen = self.choose(written, has_room)?;
        if let Some(open) = self.open.get_mut(chosen) {
            return Some(ReadTask {
                position: open.next,
                target: ReadTarget::Open(open.reader.take()?),
            });
        }
        let unopened = self.unopened.next()?;
        let position = self.first_of_unopened();
        self.open.push_back(OpenInput {
            next: position,
            reader: None,
            is_slow: false,
            has_ended: false,
        });
        self.next_input += 1;
        Some(ReadTask {
            position,
            target: ReadTarget::Unopened(unopened),
        })
    }

    /// Whether [`start_read`](Self::start_read) would start a read.
    pub(crate) fn can_start_read(&self, written: BlockPosition, has_room: bool) -> bool {
        self.choose(written, has_room).is_some()
    }

    /// The index in `open` of the input that is read next; the length of `open` is that of the
    /// first unopened input.
    fn choose(&self, written: BlockPosition, has_room: bool) -> Option<usize> {
        // The bounds on memory. The block that is written next has none, so a full pipeline never
        // stops the read that would empty it.
        let is_allowed = |next: BlockPosition| {
            let is_near =
                next.input != written.input || next.block < written.block + self.max_ahead;
            next == written || has_room && is_near
        };
        let mut open = self.open.iter();
        open.position(|open| open.reader.is_some() && is_allowed(open.next))
            .or_else(|| {
                // Every open input is being read or too far ahead, so open one more.
                let opens = is_allowed(self.first_of_unopened())
                    && self.can_open()
                    && self.unopened.len() > 0;
                opens.then_some(self.open.len())
            })
    }

    /// The position of the first block of the first unopened input.
    fn first_of_unopened(&self) -> BlockPosition {
        BlockPosition {
            input: self.next_input,
            block: 0,
        }
    }

    /// Whether one more input may be open.
    fn can_open(&self) -> bool {
        // Every open input has given its first block, so the headers of lists come in input order.
        self.open.len() < self.max_open
            && self
                .open
                .iter()
                .all(|open| open.is_slow && (open.has_ended || open.next.block > 0))
    }

    /// Takes back the reader of an input that gave a block: the position of that block.
    pub(crate) fn return_reader(&mut self, input: u64, reader: R, is_slow: bool) -> BlockPosition {
        let position = self.next_of(input);
        if let Some(open) = self.open.iter_mut().find(|open| open.next.input == input) {
            open.next.block += 1;
            open.reader = Some(reader);
            open.is_slow = is_slow;
        }
        position
    }

    /// Ends an input: the position after its last block.
    pub(crate) fn end_input(&mut self, input: u64) -> BlockPosition {
        let position = self.next_of(input);
        if let Some(open) = self.open.iter_mut().find(|open| open.next.input == input) {
            open.has_ended = true;
        }
        while self.open.front().is_some_and(|open| open.has_ended) {
            self.open.pop_front();
        }
        position
    }

    fn next_of(&self, input: u64) -> BlockPosition {
        let open = self.open.iter().find(|open| open.next.input == input);
        open.map_or(BlockPosition { input, block: 0 }, |open| open.next)
    }

    /// Drops the inputs that are not open: after an error their blocks would never be written.
    pub(crate) fn drop_unopened(&mut self) {
        self.unopened.by_ref().for_each(drop);
    }

    /// Whether all inputs are read to their ends.
    pub(crate) fn is_finished(&self) -> bool {
        self.open.is_empty() && self.unopened.len() == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(input: u64, block: u64) -> BlockPosition {
        BlockPosition { input, block }
    }

    /// Starts a read and gives the number of its input.
    fn start(
        scheduler: &mut InputScheduler<(), ()>,
        written: BlockPosition,
        has_room: bool,
    ) -> Option<u64> {
        let can_start = scheduler.can_start_read(written, has_room);
        let read = scheduler.start_read(written, has_room);
        assert_eq!(read.is_some(), can_start);
        read.map(|read| read.position.input)
    }

    #[test]
    fn fast_inputs_are_read_one_after_the_other() {
        let mut scheduler = InputScheduler::new(vec![(), ()], 4, 2);
        assert_eq!(start(&mut scheduler, at(0, 0), true), Some(0));
        assert_eq!(scheduler.return_reader(0, (), false), at(0, 0));
        assert_eq!(start(&mut scheduler, at(0, 0), true), Some(0));
        assert_eq!(
            start(&mut scheduler, at(0, 0), true),
            None,
            "a worker reads the first input"
        );
        assert_eq!(scheduler.end_input(0), at(0, 1));
        assert_eq!(start(&mut scheduler, at(0, 1), true), Some(1));
        scheduler.end_input(1);
        assert!(scheduler.is_finished());
    }

    #[test]
    fn slow_inputs_are_read_at_once_within_the_limits() {
        let mut scheduler = InputScheduler::new(vec![(), (), ()], 2, 2);
        assert_eq!(start(&mut scheduler, at(0, 0), true), Some(0));
        assert_eq!(
            start(&mut scheduler, at(0, 0), true),
            None,
            "the first input has no block yet"
        );
        scheduler.return_reader(0, (), true);
        assert_eq!(start(&mut scheduler, at(0, 0), true), Some(0));
        assert_eq!(
            start(&mut scheduler, at(0, 0), false),
            None,
            "there is no room for later inputs"
        );
        assert_eq!(start(&mut scheduler, at(0, 0), true), Some(1));
        scheduler.return_reader(0, (), true);
        assert_eq!(
            start(&mut scheduler, at(0, 0), true),
            None,
            "two blocks ahead of the output, two inputs open"
        );
        assert_eq!(
            start(&mut scheduler, at(0, 1), false),
            None,
            "the next block is ahead of the output, and there is no room"
        );
        assert_eq!(
            start(&mut scheduler, at(0, 1), true),
            Some(0),
            "one block is written"
        );
        scheduler.end_input(0);
        scheduler.return_reader(1, (), true);
        assert_eq!(
            start(&mut scheduler, at(1, 1), false),
            Some(1),
            "the block that is written next needs no room"
        );
        assert_eq!(start(&mut scheduler, at(0, 2), true), Some(2));
    }
}
