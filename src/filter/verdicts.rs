//! The verdicts on one URL for any number of agents.

use super::basis::Basis;
use super::states::{OneSet, OriginState, Standing};
use crate::matcher::Verdict;
use crate::snapshot::format::NONE;

/// The verdicts on one URL, for the judge's agents in their order.
#[derive(Clone, Copy, Debug)]
pub struct Verdicts<'a> {
    pub(super) answer: Answer<'a>,
    pub(super) agents: usize,
    /// What holds for the origin; `None` if the snapshot does not know it, or the text is not a URL.
    pub(super) origin: Option<&'a OriginState<'a>>,
}

/// One verdict for all agents, or a bit for each: whether it may fetch the URL.
#[derive(Clone, Copy, Debug)]
pub(super) enum Answer<'a> {
    Same(Verdict),
    /// Those of up to 64 agents.
    Word(u64),
    Words(&'a [u64]),
}

impl Answer<'_> {
    /// The bits, or the one verdict.
    #[inline(always)]
    pub(super) fn bits(&self) -> Result<&[u64], Verdict> {
        match self {
            Self::Same(verdict) => Err(*verdict),
            Self::Word(word) => Ok(std::slice::from_ref(word)),
            Self::Words(words) => Ok(words),
        }
    }
}

impl Verdicts<'_> {
    /// Those on what is not a URL.
    pub(super) fn invalid(agents: usize) -> Self {
        Verdicts { answer: Answer::Same(Verdict::Invalid), agents, origin: None }
    }

    /// Those on an origin that the snapshot does not know.
    pub(super) fn on_unknown(verdict: Verdict, agents: usize) -> Self {
        Verdicts { answer: Answer::Same(verdict), agents, origin: None }
    }

    /// The verdict for the agent of this number; [`Verdict::Invalid`] for a number beyond the last.
    pub fn get(&self, agent: usize) -> Verdict {
        let word = match self.answer {
            _ if agent >= self.agents => return Verdict::Invalid,
            Answer::Same(verdict) => return verdict,
            Answer::Word(word) => word,
            Answer::Words(words) => words[agent / 64],
        };
        if word >> (agent % 64) & 1 == 1 { Verdict::Allowed } else { Verdict::Disallowed }
    }

    /// The verdicts in the order of the agents.
    pub fn iter(&self) -> impl Iterator<Item = Verdict> + '_ {
        (0..self.agents).map(|agent| self.get(agent))
    }

    /// `Unknown` or `Invalid`, which hold for all agents alike; else `None`.
    pub fn unjudged(&self) -> Option<Verdict> {
        match self.answer {
            Answer::Same(verdict @ (Verdict::Unknown | Verdict::Invalid)) => Some(verdict),
            _ => None,
        }
    }

    /// How many agents may fetch it.
    #[inline]
    pub fn allowed_count(&self) -> usize {
        match self.answer {
            Answer::Same(Verdict::Allowed) => self.agents,
            Answer::Same(_) => 0,
            Answer::Word(word) => word.count_ones() as usize,
            Answer::Words(words) => words.iter().map(|word| word.count_ones() as usize).sum(),
        }
    }

    /// Adds so many lines to the counts of the agents that may fetch them.
    #[inline]
    pub(super) fn count_allowed(&self, lines: u64, counts: &mut [u64]) {
        // Most lines of most lists are allowed to all.
        if self.allowed_count() == self.agents {
            counts.iter_mut().for_each(|count| *count += lines);
        } else if let Ok(words) = self.answer.bits() {
            let counts = counts.chunks_mut(64).zip(words);
            counts.for_each(|(counts, word)| {
                counts.iter_mut().zip(0..).for_each(|(count, agent)| *count += (word >> agent & 1) * lines);
            });
        }
    }

    /// Appends a byte for each agent, that of its verdict.
    #[inline]
    pub(super) fn put(&self, byte_of: impl Fn(Verdict) -> u8, out: &mut Vec<u8>) {
        let end = out.len() + self.agents;
        match self.answer.bits() {
            Err(verdict) => out.resize(end, byte_of(verdict)),
            Ok(words) => {
                let (allowed, disallowed) = (byte_of(Verdict::Allowed), byte_of(Verdict::Disallowed));
                for bits in words.iter().flat_map(|word| word.to_le_bytes()).take(self.agents.div_ceil(8)) {
                    out.extend_from_slice(&spread(bits, allowed, disallowed));
                }
                out.truncate(end);
            }
        }
    }

    /// A bit for each of the first 64 agents, as far as there are so many: whether it may fetch the URL.
    #[inline]
    pub(super) fn mask(&self) -> i64 {
        match self.answer.bits() {
            Err(Verdict::Allowed) if self.agents < 64 => (1 << self.agents) - 1,
            Err(Verdict::Allowed) => -1,
            Err(_) => 0,
            Ok(words) => words.first().map_or(0, |word| word.cast_signed()),
        }
    }

    /// Whether the agent of this number may fetch the URL.
    pub(super) fn may_fetch(&self, agent: usize) -> bool {
        self.get(agent) == Verdict::Allowed
    }

    /// The row of the origin that decides, in the section `facts`.
    #[inline]
    pub(crate) fn row(&self) -> Option<u32> {
        self.origin.map(|origin| origin.row).filter(|row| *row != NONE)
    }

    /// The number of the robots.txt whose rules decided; `NONE` where there is none.
    #[inline]
    pub(super) fn file(&self) -> u32 {
        self.origin.map_or(NONE, |origin| origin.file)
    }

    /// What they rest on, for all agents alike.
    #[inline]
    pub fn basis(&self) -> Basis {
        match (self.origin, self.answer) {
            (Some(origin), _) => origin.basis,
            (None, Answer::Same(Verdict::Invalid)) => Basis::NotAUrl,
            (None, _) => Basis::UnknownOrigin,
        }
    }

    /// Whether the other scheme's entry was used ([`JudgeOptions::any_scheme`](crate::JudgeOptions::any_scheme)).
    #[inline]
    pub fn via_other_scheme(&self) -> bool {
        self.origin.is_some_and(|origin| origin.via_other_scheme)
    }
}

impl OriginState<'_> {
    /// The verdicts on one of its URLs.
    #[inline(always)]
    pub(super) fn verdicts<'a>(&'a self, answer: Answer<'a>) -> Verdicts<'a> {
        Verdicts { answer, agents: self.agents, origin: Some(self) }
    }

    /// Those on all of its URLs, if they do not depend on the path.
    #[inline(always)]
    pub(super) fn verdicts_of_all(&self) -> Option<Verdicts<'_>> {
        match self.standing {
            Standing::Same(verdict) => Some(self.verdicts(Answer::Same(verdict))),
            _ => None,
        }
    }
}

impl OneSet<'_> {
    /// The agents who may fetch what the rule set allows, or does not allow.
    #[inline(always)]
    pub(super) fn answer(&self, is_allowed: bool) -> Answer<'static> {
        Answer::Word(if is_allowed { self.all } else { self.free })
    }
}

/// For each of eight bits one byte if it is set, and another one if not: eight at once, as a number of eight bytes.
#[inline]
fn spread(bits: u8, set: u8, unset: u8) -> [u8; 8] {
    const ONES: u64 = 0x0101_0101_0101_0101;
    // In each byte the bit that is its own, carried to the highest by an addition that cannot reach the next byte.
    let own = (u64::from(bits) * ONES) & 0x8040_2010_0804_0201;
    let is_set = ((own + 0x7f * ONES) >> 7) & ONES;
    (is_set * u64::from(set) + (is_set ^ ONES) * u64::from(unset)).to_le_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bits_are_spread_in_their_order() {
        for bits in 0..=u8::MAX {
            let expected: [u8; 8] = std::array::from_fn(|at| if bits >> at & 1 == 1 { b'A' } else { 0xff });
            assert_eq!(spread(bits, b'A', 0xff), expected, "{bits:08b}");
        }
    }

    #[test]
    fn what_is_put_and_counted_is_each_agent_s_verdict() {
        let words = [0x8000_0000_0000_0005, 1 << 8 | 3];
        let verdicts = |answer, agents| Verdicts { answer, agents, origin: None };
        let cases = [
            verdicts(Answer::Words(&words), 73),
            verdicts(Answer::Word(0b1011), 4),
            verdicts(Answer::Word(u64::MAX), 64),
            verdicts(Answer::Word(0), 1),
            verdicts(Answer::Same(Verdict::Unknown), 20),
            verdicts(Answer::Same(Verdict::Allowed), 3),
        ];
        for verdicts in cases {
            let (mut put, mut counts) = (b"x".to_vec(), vec![1; verdicts.agents]);
            verdicts.put(|verdict| verdict.letter() as u8, &mut put);
            verdicts.count_allowed(5, &mut counts);
            let letters: Vec<u8> = verdicts.iter().map(|verdict| verdict.letter() as u8).collect();
            assert_eq!(put[1..], letters);
            let expected = letters.iter().map(|letter| if *letter == b'A' { 6 } else { 1 });
            assert_eq!(counts, expected.collect::<Vec<u64>>());
            assert_eq!(verdicts.allowed_count(), counts.iter().filter(|count| **count == 6).count());
        }
    }
}
