//! The workings of `robosieve bench`: a synthetic web, the times of the stages of judging
//! ([`measure`]), and a comparison with the slow reference ([`reference_check`]).
//!
//! This package serves the command and the benchmarks of robosieve, and promises no interface.
//!
//! The synthetic web is an archive of robots.txt files and a list of URLs with the statistics of the
//! real web.
//!
//! Every property is a pure function of a seed and an index: the name of host 17, its answer, rule
//! 3 of its robots.txt. Nothing is stored, so memory does not depend on the size. A seed gives the
//! same web on every machine and in every version. `statistics.rs` has all figures;
//! `docs/dev/SYNTHETIC.md` compares the result with measurements.
//!
//! ```
//! use robosieve::job::{Input, Job, Outputs};
//! use robosieve::{Compiler, Judge, JudgeOptions, Snapshot};
//! use robosieve_synthetic::{Order, Web, WebOptions};
//!
//! let web = Web::new(WebOptions::default().origins(2_000).urls(10_000).order(Order::Sorted));
//! let mut compiler = Compiler::default();
//! compiler.add_reader("synthetic archive", web.archive())?;
//! let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
//! assert_eq!(snapshot.origin_count(), 2_000);
//!
//! let judge = Judge::new(&snapshot, &["GPTBot".parse()?], JudgeOptions::default())?;
//! let urls = vec![Input::from_reader("synthetic URLs", web.urls())];
//! let stats = Job::new(&judge).filter(urls, Outputs::default())?.commit()?;
//! assert_eq!(stats.lines, 10_000);
//! # Ok::<(), robosieve::Error>(())
//! ```

#![deny(unsafe_code)]

mod archive;
mod catalog;
mod ceilings;
mod distributions;
mod generated_file;
pub mod measure;
mod patterns;
mod random;
pub mod reference_check;
mod sites;
mod statistics;
mod stream;
mod urls;
mod vocabulary;

use catalog::FileCatalog;
use distributions::{Permutation, Popularity};
use random::{Decision, Dice};
use sites::Sites;
use statistics::{ANSWERS, OriginAnswer, POPULAR_ANSWERS, POPULAR_ONE_IN};
use std::io::Read;

/// The parameters of a synthetic web.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct WebOptions {
    /// The seed: each gives another web with the same statistics.
    pub seed: u64,
    /// The number of origins in the archive, from 1 to [`WebOptions::MAX`]. A site has one to
    /// three.
    pub origins: u64,
    /// The number of URLs in the list, up to [`WebOptions::MAX`].
    pub urls: u64,
    /// The order of the list.
    pub order: Order,
}

impl WebOptions {
    /// The maximum number of origins and of URLs.
    pub const MAX: u64 = 1_000_000_000_000;

    /// Sets [`seed`](Self::seed).
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets [`origins`](Self::origins).
    pub fn origins(mut self, origins: u64) -> Self {
        self.origins = origins;
        self
    }

    /// Sets [`urls`](Self::urls).
    pub fn urls(mut self, urls: u64) -> Self {
        self.urls = urls;
        self
    }

    /// Sets [`order`](Self::order).
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }
}

impl Default for WebOptions {
    /// 100,000 origins and a million URLs, sorted.
    fn default() -> Self {
        Self {
            seed: 1,
            origins: 100_000,
            urls: 1_000_000,
            order: Order::Sorted,
        }
    }
}

/// The order of the list of URLs. The URLs are the same in both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Order {
    /// Grouped by host, as in a crawl index.
    #[default]
    Sorted,
    /// In random order, as in a log or a frontier.
    Shuffled,
}

impl Order {
    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Sorted => "sorted",
            Self::Shuffled => "shuffled",
        }
    }
}

/// A synthetic web. The value is small and `Copy` for any number of origins.
#[derive(Clone, Copy, Debug)]
pub struct Web {
    options: WebOptions,
    sites: Sites,
    files: FileCatalog,
    /// The number of URLs of the host with each popularity rank.
    popularity: Popularity,
    /// Maps popularity ranks to hosts.
    ranks: Permutation,
    /// Maps lines of a shuffled list to URLs.
    order: Permutation,
}

impl Web {
    /// The web with these options. Sizes out of range are clamped. Generates nothing yet.
    pub fn new(mut options: WebOptions) -> Self {
        options.origins = options.origins.clamp(1, WebOptions::MAX);
        options.urls = options.urls.min(WebOptions::MAX);
        let seed = options.seed;
        let sites = Sites::new(seed, options.origins);
        Self {
            options,
            sites,
            files: FileCatalog::new(seed, sites.hosts),
            popularity: Popularity::new(sites.hosts, options.urls),
            ranks: Permutation::new(seed, Decision::Rank, sites.hosts),
            order: Permutation::new(seed, Decision::Order, options.urls),
        }
    }

    /// The options of this web.
    pub fn options(&self) -> WebOptions {
        self.options
    }

    /// The archive as JSON lines: one capture of each origin's robots.txt. Takes about 5 µs per
    /// origin.
    pub fn archive(&self) -> impl Read + Send + 'static {
        let web = *self;
        stream::lines(0..self.options.origins, move |origin, out| {
            archive::push_line(&web, origin, out)
        })
    }

    /// The list of URLs, one per line. A few lines are not URLs, and some URLs have origins that
    /// the archive lacks. Takes about 0.3 µs per URL.
    pub fn urls(&self) -> impl Read + Send + 'static {
        let web = *self;
        stream::lines(urls::visits(web), move |visit, out| {
            urls::push_line(&web, visit, out)
        })
    }

    /// The robots.txt of an origin in the archive: its own, or that of the origin it redirects to.
    /// `None` for an origin without one, and for an unknown origin. `origin` must be in the
    /// canonical form of [`Origin`](robosieve::Origin).
    pub fn robots(&self, origin: &str) -> Option<Vec<u8>> {
        self.answer(self.sites.find(origin)?).1
    }

    /// Whether a rank is that of a popular host. Such hosts are better maintained than most.
    fn is_popular(&self, rank: u64) -> bool {
        rank < self.sites.hosts / POPULAR_ONE_IN
    }

    /// The answer of a host, and its body.
    fn answer(&self, host: u64) -> (OriginAnswer, Option<Vec<u8>>) {
        let popular = self.is_popular(self.ranks.position_of(host));
        let answers = if popular { POPULAR_ANSWERS } else { ANSWERS };
        let answer = Dice::new(self.options.seed, Decision::Answer, host, 0).weighted(answers);
        let body = match answer {
            OriginAnswer::Robots => {
                let mut origin = Vec::new();
                let mut text = Vec::new();
                self.sites
                    .push_origin(host, Sites::origins(host)[0], true, &mut origin);
                self.files
                    .choose(host, popular)
                    .push_text(&origin, &mut text);
                Some(text)
            }
            OriginAnswer::Page => Some(archive::PAGE.as_bytes().to_vec()),
            OriginAnswer::Status(_) | OriginAnswer::Failed => None,
        };
        (answer, body)
    }
}
