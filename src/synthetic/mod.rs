//! A made-up web, for benchmarks: an archive of robots.txt files and a list of URLs that are like those of the real web.
//!
//! Everything follows from a seed and from numbers: which host is the 17th, what it answers, what the 3rd rule of its robots.txt
//! is. Nothing is stored, so memory does not depend on the size, and a seed means the same web on every machine, for ever. The
//! figures stand in `profile.rs`; docs/DESIGN.md compares them with measured ones.
//!
//! ```
//! use robosieve::synthetic::{Order, Web, WebOptions};
//! use robosieve::{Compiler, Filter, Input, Judge, JudgeOptions, Outputs, Snapshot};
//!
//! let web = Web::new(WebOptions { origins: 2_000, urls: 10_000, order: Order::Sorted, seed: 1 });
//! let mut compiler = Compiler::default();
//! compiler.add_reader("synthetic archive", web.archive())?;
//! let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
//! assert_eq!(snapshot.origin_count(), 2_000);
//!
//! let judge = Judge::new(&snapshot, &["GPTBot".parse()?], JudgeOptions::default())?;
//! let stats = Filter::new(&judge).run(vec![Input::from_reader("synthetic URLs", web.urls())], Outputs::default())?;
//! assert_eq!(stats.lines, 10_000);
//! # Ok::<(), robosieve::Error>(())
//! ```

mod archive;
mod files;
mod kinds;
mod order;
mod patterns;
mod profile;
mod random;
mod robots;
mod sites;
mod stream;
mod urls;
mod words;

use files::Files;
use kinds::Answer;
use order::{Popularity, Shuffle};
use profile::POPULAR_ONE_IN;
use random::Purpose;
use sites::Sites;
use std::io::Read;

/// Which web to make.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WebOptions {
    /// Another seed makes another web of the same kind.
    pub seed: u64,
    /// Origins in the archive, from 1 to [`WebOptions::MAX`]; a site has one to three.
    pub origins: u64,
    /// URLs in the list, up to [`WebOptions::MAX`].
    pub urls: u64,
    /// The order of the list.
    pub order: Order,
}

impl WebOptions {
    /// The largest number of origins and of URLs: far more than anyone waits for.
    pub const MAX: u64 = 1_000_000_000_000;
}

impl Default for WebOptions {
    /// 100,000 origins and a million URLs, sorted.
    fn default() -> Self {
        Self { seed: 1, origins: 100_000, urls: 1_000_000, order: Order::Sorted }
    }
}

/// The order of a list; the URLs are the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// Grouped by host, as in a crawl index.
    #[default]
    Sorted,
    /// Mixed, as in a log or a frontier.
    Shuffled,
}

/// A made-up web. Small and `Copy`, whatever its size.
#[derive(Clone, Copy, Debug)]
pub struct Web {
    options: WebOptions,
    sites: Sites,
    files: Files,
    /// How many URLs the host of each rank has.
    popularity: Popularity,
    /// Ranks to hosts.
    ranks: Shuffle,
    /// Places in a shuffled list to URLs.
    order: Shuffle,
}

impl Web {
    /// The web of these options; sizes beyond what is possible are taken as the nearest that is. Costs nothing.
    pub fn new(mut options: WebOptions) -> Self {
        options.origins = options.origins.clamp(1, WebOptions::MAX);
        options.urls = options.urls.min(WebOptions::MAX);
        let seed = options.seed;
        let sites = Sites::new(seed, options.origins);
        Self {
            options,
            sites,
            files: Files::new(seed, sites.hosts),
            popularity: Popularity::new(sites.hosts, options.urls),
            ranks: Shuffle::new(seed, Purpose::Rank, sites.hosts),
            order: Shuffle::new(seed, Purpose::Order, options.urls),
        }
    }

    /// What it was made with.
    pub fn options(&self) -> WebOptions {
        self.options
    }

    /// The archive, in JSON lines: one capture of each origin's robots.txt. Takes some 5 µs an origin.
    pub fn archive(&self) -> impl Read + Send + 'static {
        let web = *self;
        stream::lines(0..self.options.origins, move |origin, out| archive::push_line(&web, origin, out))
    }

    /// The list of URLs, one a line. A few are no URLs, or lead to origins that the archive lacks. Takes some
    /// 0.3 µs each.
    pub fn urls(&self) -> impl Read + Send + 'static {
        let web = *self;
        stream::lines(urls::visits(web), move |visit, out| urls::push_line(&web, visit, out))
    }

    /// The body that an origin of the archive obeys, its own or that of the origin it redirects to; `None` for other origins and
    /// those without one. `origin` is in canonical form, as [`Origin`](crate::Origin) has it.
    pub fn robots(&self, origin: &str) -> Option<Vec<u8>> {
        self.answer(self.sites.find(origin)?).1
    }

    /// Whether a rank is among the first, whose hosts are looked after better than most.
    fn is_popular(&self, rank: u64) -> bool {
        rank < self.sites.hosts / POPULAR_ONE_IN
    }

    /// What a host answers, and the body.
    fn answer(&self, host: u64) -> (Answer, Option<Vec<u8>>) {
        let popular = self.is_popular(self.ranks.place_of(host));
        let answer = self.sites.answer(host, popular);
        let body = match answer {
            Answer::Robots => {
                let (mut origin, mut text) = (Vec::new(), Vec::new());
                self.sites.push_origin(host, Sites::places(host)[0], true, &mut origin);
                self.files.choose(host, popular).push_text(&origin, &mut text);
                Some(text)
            }
            Answer::Page => Some(archive::PAGE.as_bytes().to_vec()),
            Answer::Status(_) | Answer::Failed => None,
        };
        (answer, body)
    }
}
