//! A reorder buffer: workers insert judged blocks in any order and remove them in input order.

use crate::error::Error;
use std::collections::BTreeMap;

/// The position of a block in the output: the number of its input, and its number within that
/// input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct BlockPosition {
    pub input: u64,
    pub block: u64,
}

/// What a worker inserts at a position.
pub(crate) enum BufferedItem<B> {
    Block(B),
    /// The input has no block at this position.
    EndOfInput,
    /// The error that ends the run once all earlier blocks are written.
    Failed(Error),
}

/// Items that wait for earlier ones.
pub(crate) struct ReorderBuffer<B> {
    next: BlockPosition,
    waiting: BTreeMap<BlockPosition, BufferedItem<B>>,
}

impl<B> ReorderBuffer<B> {
    pub(crate) fn new() -> Self {
        Self {
            next: BlockPosition::default(),
            waiting: BTreeMap::new(),
        }
    }

    /// The position that is written next.
    pub(crate) fn next_position(&self) -> BlockPosition {
        self.next
    }

    pub(crate) fn insert(&mut self, position: BlockPosition, item: BufferedItem<B>) {
        self.waiting.insert(position, item);
    }

    /// Removes the item at the next position and advances that position; `None` if it is
    /// missing.
    pub(crate) fn pop(&mut self) -> Option<BufferedItem<B>> {
        let item = self.waiting.remove(&self.next)?;
        match item {
            BufferedItem::Block(_) => self.next.block += 1,
            BufferedItem::EndOfInput => {
                self.next = BlockPosition {
                    input: self.next.input + 1,
                    block: 0,
                }
            }
            BufferedItem::Failed(_) => {}
        }
        Some(item)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::sample::select;

    proptest! {
        #[test]
        fn any_order_of_insertion_gives_input_order(
            lengths in proptest::collection::vec(0u64..5, 0..5),
            shuffle in any::<u64>(),
            step in select(vec![1u64, 3, 7, 11]),
        ) {
            let ends = |(input, len): (u64, u64)| (0..=len).map(move |block| BlockPosition { input, block });
            let expected: Vec<_> = lengths.iter().enumerate().flat_map(|(i, len)| ends((i as u64, *len))).collect();
            let mut order = expected.clone();
            order.sort_by_key(|at| (at.input * 5 + at.block).wrapping_mul(step).wrapping_add(shuffle) % 13);
            let (mut buffer, mut popped) = (ReorderBuffer::new(), Vec::new());
            for at in order {
                let is_end = at.block == lengths[at.input as usize];
                buffer.insert(at, if is_end { BufferedItem::EndOfInput } else { BufferedItem::Block(at) });
                loop {
                    let position = buffer.next_position();
                    match buffer.pop() {
                        Some(BufferedItem::Block(block)) => prop_assert_eq!(block, position),
                        Some(_) => {}
                        None => break,
                    }
                    popped.push(position);
                }
            }
            prop_assert_eq!(popped, expected);
        }
    }
}
