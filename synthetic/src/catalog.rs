//! The assignment of robots.txt files to sites: a well-known file, one shared with other sites, or
//! an individual one.

use crate::distributions::Popularity;
use crate::generated_file::GeneratedFile;
use crate::random::{Decision, Dice};
use crate::statistics::{
    FAMILIES, FAMILIES_PER_THOUSAND, GLOBAL_RULES, POPULAR_RULES, SHARED, SHARED_BUT_SITEMAP,
    SHARED_RULES, SITEMAP,
};

#[derive(Clone, Copy, Debug)]
pub(super) struct FileCatalog {
    seed: u64,
    families: Popularity,
}

/// The robots.txt that a site serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ServedFile {
    content: FileContent,
    own_sitemap: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum FileContent {
    WellKnown(&'static str),
    File(GeneratedFile),
}

/// The number of draws that the families of shared files divide among themselves.
const DRAWS: u64 = 1 << 40;

impl FileCatalog {
    pub(super) fn new(seed: u64, hosts: u64) -> Self {
        let family_count = hosts * FAMILIES_PER_THOUSAND / 1000 + FAMILIES.len() as u64;
        Self {
            seed,
            families: Popularity::new(family_count, DRAWS),
        }
    }

    pub(super) fn choose(&self, host: u64, popular: bool) -> ServedFile {
        let dice = &mut Dice::new(self.seed, Decision::Choice, host, 0);
        // Many sites share the file of a platform. Popular sites have their own.
        let family = self.families.rank_of(dice.below(DRAWS));
        if !popular && dice.chance(SHARED) {
            ServedFile {
                content: self.family(family),
                own_sitemap: false,
            }
        } else if !popular && dice.chance(SHARED_BUT_SITEMAP / (1.0 - SHARED)) {
            ServedFile {
                content: self.family(family),
                own_sitemap: true,
            }
        } else {
            let rules = if popular {
                &POPULAR_RULES
            } else {
                &GLOBAL_RULES
            };
            let file = GeneratedFile::new(self.seed, self.families.ranks + host, rules);
            let file = if popular { file.open() } else { file };
            ServedFile {
                content: FileContent::File(file),
                own_sitemap: dice.chance(SITEMAP),
            }
        }
    }

    fn family(&self, number: u64) -> FileContent {
        match FAMILIES.get(number as usize) {
            Some(text) => FileContent::WellKnown(text),
            None => FileContent::File(GeneratedFile::new(self.seed, number, &SHARED_RULES)),
        }
    }
}

impl ServedFile {
    /// Appends the text, for the site with this main origin.
    pub(super) fn push_text(&self, origin: &[u8], out: &mut Vec<u8>) {
        let sitemap_of = self.own_sitemap.then_some(origin);
        match self.content {
            FileContent::File(file) => file.push_text(sitemap_of, out),
            FileContent::WellKnown(text) => {
                out.extend_from_slice(text.as_bytes());
                if let Some(origin) = sitemap_of {
                    out.extend([b"\nSitemap: ", origin, b"/sitemap.xml\n"].concat());
                }
            }
        }
    }

    /// As [`GeneratedFile::push_path_for_a_rule`].
    pub(super) fn push_path_for_a_rule(&self, dice: &mut Dice, out: &mut Vec<u8>) -> bool {
        match self.content {
            FileContent::File(file) => file.push_path_for_a_rule(dice, out),
            FileContent::WellKnown(_) => false,
        }
    }
}
