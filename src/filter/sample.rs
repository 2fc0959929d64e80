//! A sample of the refused URLs of lists of any length: every so-manieth, in the order of the input.

/// Every [`every`](Self::every)-th of the items that were put, beginning with the first. It holds from half of its limit up to that
/// limit, and what it holds depends on the items and their order alone.
#[derive(Debug)]
pub(crate) struct Sample {
    limit: usize,
    every: u64,
    seen: u64,
    urls: Vec<Vec<u8>>,
}

/// A longer URL is not held; it stands in the sample as an empty one.
const MAX_URL: usize = 8 << 10;

impl Sample {
    /// An empty sample of at most `limit` items, which is at least 1.
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit: limit.max(1), every: 1, seen: 0, urls: Vec::new() }
    }

    /// Puts so many items, of which `url` gives the one of a number.
    pub(crate) fn put(&mut self, count: usize, url: impl Fn(usize) -> Vec<u8>) {
        let (before, count) = (self.seen, count as u64);
        self.seen += count;
        loop {
            // The first item of these whose number is a multiple.
            let next = self.urls.len() as u64 * self.every;
            if next >= before + count {
                return;
            }
            if self.urls.len() == self.limit {
                self.thin();
                continue;
            }
            let url = url((next - before) as usize);
            self.urls.push(if url.len() <= MAX_URL { url } else { Vec::new() });
        }
    }

    /// Keeps every other one.
    fn thin(&mut self) {
        let mut number = 0;
        self.urls.retain(|_| {
            number += 1;
            number % 2 == 1
        });
        self.every *= 2;
    }

    /// How many items there are to one of the sample.
    pub(crate) fn every(&self) -> u64 {
        self.every
    }

    /// The sampled URLs, in their order.
    pub(crate) fn urls(&self) -> &[Vec<u8>] {
        &self.urls
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_holds_every_so_manieth_whatever_the_parcels() {
        for (total, parcel) in [(0, 1), (5, 5), (8, 3), (9, 1), (1000, 7), (1000, 1000), (1023, 64)] {
            let mut sample = Sample::new(8);
            let items: Vec<usize> = (0..total).collect();
            for parcel in items.chunks(parcel) {
                sample.put(parcel.len(), |number| parcel[number].to_string().into_bytes());
            }
            let every = sample.every() as usize;
            let expected: Vec<Vec<u8>> = (0..total).step_by(every).map(|n| n.to_string().into_bytes()).collect();
            assert_eq!(sample.urls(), expected, "{total} in parcels of {parcel}");
            assert!(sample.urls().len() <= 8 && (every == 1 || sample.urls().len() >= 4), "{total}: {every}");
        }
    }

    #[test]
    fn a_long_one_is_not_held() {
        let mut sample = Sample::new(2);
        sample.put(1, |_| vec![b'x'; MAX_URL + 1]);
        assert_eq!(sample.urls(), [b""]);
    }
}
