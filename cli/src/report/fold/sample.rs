//! A systematic sample of a stream of unknown length: every n-th item, in order. The interval
//! doubles when the sample is full.

/// Every [`every`](Self::every)-th item, from the first on. It holds between half of its limit and
/// the limit, and depends on nothing but the items and their order.
#[derive(Debug)]
pub(super) struct Sample {
    limit: usize,
    every: u64,
    seen: u64,
    urls: Vec<Vec<u8>>,
}

/// A longer URL is held as an empty one.
const MAX_URL: usize = 8 << 10;

impl Sample {
    /// An empty sample of at most `limit` items, which is at least 1.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit: limit.max(1),
            every: 1,
            seen: 0,
            urls: Vec::new(),
        }
    }

    /// Adds `count` items; `url` gives an item by its number among them.
    pub(super) fn add<'u>(&mut self, count: usize, url: impl Fn(usize) -> &'u [u8]) {
        let before = self.seen;
        let count = count as u64;
        self.seen += count;
        loop {
            // The number of the next sampled item is the next multiple of the interval.
            let next = self.urls.len() as u64 * self.every;
            if next >= before + count {
                return;
            }
            if self.urls.len() == self.limit {
                self.thin();
                continue;
            }
            let url = url((next - before) as usize);
            self.urls.push(if url.len() <= MAX_URL {
                url.to_vec()
            } else {
                Vec::new()
            });
        }
    }

    /// Drops every second item and doubles the interval.
    fn thin(&mut self) {
        let mut number = 0;
        self.urls.retain(|_| {
            number += 1;
            number % 2 == 1
        });
        self.every *= 2;
    }

    /// The sampling interval.
    pub(super) fn every(&self) -> u64 {
        self.every
    }

    /// The sampled URLs, in their order.
    pub(super) fn urls(&self) -> &[Vec<u8>] {
        &self.urls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_do_not_change_the_sample() {
        for (total, batch) in [
            (0, 1),
            (5, 5),
            (8, 3),
            (9, 1),
            (1000, 7),
            (1000, 1000),
            (1023, 64),
        ] {
            let mut sample = Sample::new(8);
            let items: Vec<Vec<u8>> = (0..total).map(|n| n.to_string().into_bytes()).collect();
            for batch in items.chunks(batch) {
                sample.add(batch.len(), |number| batch[number].as_slice());
            }
            let every = sample.every() as usize;
            let expected: Vec<Vec<u8>> = items.iter().step_by(every).cloned().collect();
            assert_eq!(sample.urls(), expected, "{total} in batches of {batch}");
            assert!(
                sample.urls().len() <= 8 && (every == 1 || sample.urls().len() >= 4),
                "{total}: {every}"
            );
        }
    }

    #[test]
    fn long_urls_are_held_as_empty() {
        let mut sample = Sample::new(2);
        sample.add(1, |_| &[b'x'; MAX_URL + 1]);
        assert_eq!(sample.urls(), [b""]);
    }
}
