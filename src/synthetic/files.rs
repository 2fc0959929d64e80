//! Which robots.txt a site has: one of the well-known, one that other sites have too, or one of its own.

use crate::synthetic::order::Popularity;
use crate::synthetic::profile::{
    FAMILIES, FAMILIES_PER_THOUSAND, GLOBAL_RULES, POPULAR_RULES, SHARED, SHARED_BUT_SITEMAP, SHARED_RULES, SITEMAP,
};
use crate::synthetic::random::{Dice, Purpose};
use crate::synthetic::robots::File;

/// What sites choose from.
#[derive(Clone, Copy, Debug)]
pub(super) struct Files {
    seed: u64,
    families: Popularity,
    family_count: u64,
}

/// What a site serves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    content: Content,
    own_sitemap: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Content {
    WellKnown(&'static str),
    File(File),
}

/// Draws among the families, each of which decides by one of them.
const DRAWS: u64 = 1 << 40;

impl Files {
    pub(super) fn new(seed: u64, hosts: u64) -> Self {
        let family_count = hosts * FAMILIES_PER_THOUSAND / 1000 + FAMILIES.len() as u64;
        Self { seed, families: Popularity::new(family_count, DRAWS), family_count }
    }

    /// What a host serves.
    pub(super) fn choose(&self, host: u64, popular: bool) -> Choice {
        let dice = &mut Dice::new(self.seed, Purpose::Choice, host, 0);
        let family = self.families.rank_of(dice.below(DRAWS));
        if !popular && dice.chance(SHARED) {
            Choice { content: self.family(family), own_sitemap: false }
        } else if !popular && dice.chance(SHARED_BUT_SITEMAP / (1.0 - SHARED)) {
            Choice { content: self.family(family), own_sitemap: true }
        } else {
            let rules = if popular { &POPULAR_RULES } else { &GLOBAL_RULES };
            let file = File::new(self.seed, self.family_count + host, rules);
            let file = if popular { file.open() } else { file };
            Choice { content: Content::File(file), own_sitemap: dice.chance(SITEMAP) }
        }
    }

    fn family(&self, number: u64) -> Content {
        match FAMILIES.get(number as usize) {
            Some(text) => Content::WellKnown(text),
            None => Content::File(File::new(self.seed, number, &SHARED_RULES)),
        }
    }
}

impl Choice {
    /// Appends the text, for a site with this main origin.
    pub(super) fn push_text(&self, origin: &[u8], out: &mut Vec<u8>) {
        let sitemap_of = self.own_sitemap.then_some(origin);
        match self.content {
            Content::File(file) => file.push_text(sitemap_of, out),
            Content::WellKnown(text) => {
                out.extend_from_slice(text.as_bytes());
                if let Some(origin) = sitemap_of {
                    out.extend([b"\nSitemap: ", origin, b"/sitemap.xml\n"].concat());
                }
            }
        }
    }

    /// As [`File::push_path_for_a_rule`].
    pub(super) fn push_path_for_a_rule(&self, dice: &mut Dice, out: &mut Vec<u8>) -> bool {
        match self.content {
            Content::File(file) => file.push_path_for_a_rule(dice, out),
            Content::WellKnown(_) => false,
        }
    }
}
