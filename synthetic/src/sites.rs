//! Sites: their names, their origins, and the answer of each origin.

use crate::random::{Decision, hash};
use crate::statistics::{ENDINGS, IDN_EVERY, PORT_EVERY, UNKNOWN_EVERY};
use crate::vocabulary::{SYLLABLES, WORDS, push_syllables, read_syllables};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SiteOrigin {
    pub https: bool,
    pub www: bool,
    /// Whether it answers itself; if not, it redirects to the site's main origin.
    pub serves: bool,
}

const fn origin(https: bool, www: bool, serves: bool) -> SiteOrigin {
    SiteOrigin { https, www, serves }
}

/// The kinds of sites, in rotation. A quarter of all origins redirect, half of the sites have
/// `www.`, and one kind serves both schemes (assumed: archives do not record which origins were
/// never requested).
const KINDS: [&[SiteOrigin]; 11] = [
    &[origin(true, false, true), origin(false, false, false)],
    &[
        origin(true, true, true),
        origin(false, true, false),
        origin(true, false, false),
    ],
    &[origin(true, false, true), origin(false, false, true)],
    &[origin(true, false, true)],
    &[origin(true, true, true)],
    &[origin(false, false, true)],
    &[origin(false, true, true)],
    &[origin(true, true, true), origin(false, true, false)],
    &[origin(true, false, true)],
    &[origin(true, true, true)],
    &[origin(false, true, true)],
];

/// The first label of some hosts, in Punycode and in Unicode.
const IDN: [&str; 2] = ["xn--bcher-kva.", "bücher."];

/// All hosts, numbered in the order of their names. The archive has most of them; the rest only
/// occur in URLs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sites {
    seed: u64,
    /// Hosts, those that the archive lacks too.
    pub hosts: u64,
    /// The number of syllables in each name, enough for all hosts to differ.
    syllables: u32,
    /// The difference between the numbers that neighbouring names encode.
    stride: u64,
}

impl Sites {
    /// Sites with `origins` origins in total, from 1 to `WebOptions::MAX`.
    pub(super) fn new(seed: u64, origins: u64) -> Self {
        let sites = site_of(origins - 1).0 + 1;
        let hosts = host_of(sites - 1) + 1;
        let syllables = (1..9)
            .find(|count| SYLLABLES.pow(*count) >= hosts)
            .unwrap_or(9);
        Self {
            seed,
            hosts,
            syllables,
            stride: SYLLABLES.pow(syllables) / hosts,
        }
    }

    /// The host of an origin of the archive, and the index of the origin in its site.
    pub(super) fn of_origin(origin: u64) -> (u64, usize) {
        let (site, index) = site_of(origin);
        (host_of(site), index)
    }

    /// The origins of a host, the main one first.
    pub(super) fn origins(host: u64) -> &'static [SiteOrigin] {
        match is_unknown(host) {
            true => &KINDS[3][..1],
            false => KINDS[((host - host / UNKNOWN_EVERY) % KINDS.len() as u64) as usize],
        }
    }

    /// Appends an origin, its host in Punycode or in Unicode.
    pub(super) fn push_origin(
        &self,
        host: u64,
        origin: SiteOrigin,
        punycode: bool,
        out: &mut Vec<u8>,
    ) {
        out.extend_from_slice(if origin.https {
            b"https://"
        } else {
            b"http://"
        });
        if origin.www {
            out.extend_from_slice(b"www.");
        }
        if host % IDN_EVERY == IDN_EVERY / 2 {
            out.extend_from_slice(IDN[usize::from(!punycode)].as_bytes());
        }
        push_syllables(host * self.stride, self.syllables, out);
        // So that names look like those of real sites, half of them have a word, and a quarter
        // another.
        let bits = hash(self.seed, Decision::Name, host, 0);
        for (word, wanted) in [(bits >> 8, bits & 1 == 0), (bits >> 16, bits & 6 == 0)] {
            if wanted {
                out.extend_from_slice(WORDS[word as usize % WORDS.len()].as_bytes());
            }
        }
        out.extend_from_slice(ENDINGS[(bits >> 32) as usize % ENDINGS.len()].as_bytes());
        if host % PORT_EVERY == PORT_EVERY / 2 {
            out.extend_from_slice(b":8080");
        }
    }

    /// The host of an origin in canonical form; `None` if the archive lacks it.
    pub(super) fn find(&self, origin: &str) -> Option<u64> {
        let name = origin
            .strip_prefix("https://")
            .or_else(|| origin.strip_prefix("http://"))?;
        let name = name.strip_prefix("www.").unwrap_or(name);
        let name = name.strip_prefix(IDN[0]).unwrap_or(name);
        let host = read_syllables(name.as_bytes(), self.syllables)? / self.stride;
        if host >= self.hosts || is_unknown(host) {
            return None;
        }
        let mut spelled = Vec::new();
        for site_origin in Self::origins(host) {
            spelled.clear();
            self.push_origin(host, *site_origin, true, &mut spelled);
            if spelled == origin.as_bytes() {
                return Some(host);
            }
        }
        None
    }
}

/// Whether the archive lacks a host.
fn is_unknown(host: u64) -> bool {
    host % UNKNOWN_EVERY == UNKNOWN_EVERY - 1
}

/// The host of the site with this number in the archive.
fn host_of(site: u64) -> u64 {
    site + site / (UNKNOWN_EVERY - 1)
}

/// The site of an origin, and the index of the origin in it.
fn site_of(origin: u64) -> (u64, usize) {
    let origins_per_rotation = KINDS.iter().map(|kind| kind.len() as u64).sum::<u64>();
    let mut site = origin / origins_per_rotation * KINDS.len() as u64;
    let mut index = (origin % origins_per_rotation) as usize;
    for kind in KINDS {
        if index < kind.len() {
            break;
        }
        index -= kind.len();
        site += 1;
    }
    (site, index)
}
