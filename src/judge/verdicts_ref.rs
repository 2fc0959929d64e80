//! The verdicts on one URL or on neighbouring lines, borrowed from the memory of the thread.

use super::options::Require;
use crate::explain::{Reason, Verdict};
use crate::filter_lists::{FilterLists, ListDecision, ListMatch};
use crate::snapshot::format::NONE;

/// What the verdicts on an origin's URLs rest on, for all agents alike.
#[derive(Clone, Copy, Debug)]
pub(super) struct OriginContext {
    pub reason: Reason,
    /// The row of the entry that decides, in the section of origin metadata; [`NONE`] if the
    /// snapshot does not hold the origin.
    pub row: u32,
    /// The number of the robots.txt whose rules hold; [`NONE`] if none do.
    pub file: u32,
    /// The number of the robots.txt that the origin has, also if its rules do not hold: of an answer
    /// as of a time, or [`OF_NEWEST`](Self::OF_NEWEST). [`NONE`] if it has none.
    pub text: u32,
    /// The entry is that of the other of http and https.
    pub via_other_scheme: bool,
}

impl OriginContext {
    pub(super) const UNKNOWN: Self = Self {
        reason: Reason::UnknownOrigin,
        row: NONE,
        file: NONE,
        text: Self::OF_NEWEST,
        via_other_scheme: false,
    };

    /// In the place of [`text`](Self::text): that of the newest answer, which the entry has.
    pub(super) const OF_NEWEST: u32 = NONE - 1;

    pub(super) const UNTIMED: Self = Self {
        reason: Reason::UnknownTime,
        ..Self::UNKNOWN
    };
}

/// The verdicts on one URL or on neighbouring rows, for the judge's agents in their order.
#[derive(Clone, Copy, Debug)]
pub struct VerdictsRef<'a> {
    pub(super) answer: VerdictBits<'a>,
    pub(crate) agents: usize,
    /// `None` if the snapshot does not hold the origin, or the text is not a URL.
    pub(super) context: Option<&'a OriginContext>,
    /// The entry of a filter list that names the URL.
    pub(super) listed: Option<ListedBy<'a>>,
}

/// The entry of a filter list that names a URL: not an exception.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListedBy<'a> {
    pub lists: &'a FilterLists,
    pub decision: &'a ListDecision,
}

impl<'a> ListedBy<'a> {
    /// The entry that decides about a URL, unless it is an exception.
    pub(super) fn of(
        lists: Option<&'a FilterLists>,
        decision: Option<&'a ListDecision>,
    ) -> Option<Self> {
        Some(Self {
            lists: lists?,
            decision: decision.filter(|decision| !decision.is_exception)?,
        })
    }
}

/// One verdict for all agents, or a bit for each: whether it may fetch the URL.
#[derive(Clone, Copy, Debug)]
pub(super) enum VerdictBits<'a> {
    Same(Verdict),
    /// Of up to 64 agents.
    Word(u64),
    Words(&'a [u64]),
}

impl<'a> VerdictBits<'a> {
    /// A bit for each agent, in words.
    #[inline(always)]
    pub(super) fn of_words(words: &'a [u64]) -> Self {
        match words {
            [word] => Self::Word(*word),
            words => Self::Words(words),
        }
    }

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

impl<'a> VerdictsRef<'a> {
    /// On text that is not a URL.
    pub(crate) fn invalid(agents: usize) -> Self {
        Self {
            answer: VerdictBits::Same(Verdict::Invalid),
            agents,
            context: None,
            listed: None,
        }
    }

    /// On an origin that the snapshot does not hold.
    pub(crate) fn on_unknown(verdict: Verdict, agents: usize) -> Self {
        Self {
            answer: VerdictBits::Same(verdict),
            agents,
            context: None,
            listed: None,
        }
    }

    /// A bit for each agent, set if it may fetch the URL, 64 agents to a word, the first agent's
    /// lowest; or the one verdict of all agents.
    #[inline(always)]
    pub fn bits(&self) -> Result<&[u64], Verdict> {
        self.answer.bits()
    }

    /// The verdict for the agent with this number; [`Verdict::Invalid`] beyond the last.
    #[inline]
    pub fn get(&self, agent: usize) -> Verdict {
        let word = match self.answer {
            _ if agent >= self.agents => return Verdict::Invalid,
            VerdictBits::Same(verdict) => return verdict,
            VerdictBits::Word(word) => word,
            VerdictBits::Words(words) => words[agent / 64],
        };
        if word >> (agent % 64) & 1 == 1 {
            Verdict::Allowed
        } else {
            Verdict::Disallowed
        }
    }

    /// The verdicts in the order of the agents.
    pub fn iter(&self) -> impl Iterator<Item = Verdict> + '_ {
        (0..self.agents).map(|agent| self.get(agent))
    }

    /// The one verdict of all agents, if it is known without a look at their bits.
    #[inline]
    pub(crate) fn common(&self) -> Option<Verdict> {
        self.answer.bits().err()
    }

    /// `Unknown` or `Invalid`, which hold for all agents alike; else `None`.
    pub fn unjudged(&self) -> Option<Verdict> {
        match self.answer {
            VerdictBits::Same(verdict @ (Verdict::Unknown | Verdict::Invalid)) => Some(verdict),
            _ => None,
        }
    }

    /// The number of agents that may fetch the URL.
    #[inline]
    pub fn allowed_count(&self) -> usize {
        match self.answer {
            VerdictBits::Same(Verdict::Allowed) => self.agents,
            VerdictBits::Same(_) => 0,
            VerdictBits::Word(word) => word.count_ones() as usize,
            VerdictBits::Words(words) => words.iter().map(|word| word.count_ones() as usize).sum(),
        }
    }

    /// Whether every agent may fetch the URL.
    ///
    /// Compares words: the baseline of x86-64 has no instruction that counts bits.
    #[inline]
    pub(crate) fn are_all_allowed(&self) -> bool {
        match self.answer {
            VerdictBits::Same(verdict) => verdict == Verdict::Allowed,
            VerdictBits::Word(word) => word == u64::MAX >> (64 - self.agents.clamp(1, 64)),
            VerdictBits::Words(_) => self.allowed_count() == self.agents,
        }
    }

    /// Whether one agent or more may fetch the URL.
    #[inline]
    pub(crate) fn is_any_allowed(&self) -> bool {
        match self.answer {
            VerdictBits::Same(verdict) => verdict == Verdict::Allowed,
            VerdictBits::Word(word) => word != 0,
            VerdictBits::Words(words) => words.iter().any(|word| *word != 0),
        }
    }

    /// Whether the URL may be fetched: whether all agents have the verdict
    /// [`Allowed`](Verdict::Allowed), or with [`Require::Any`] one agent or more.
    ///
    /// False for an unknown origin, unless
    /// [`JudgeOptions::unknown`](crate::JudgeOptions::unknown) allows it, for text that is not a URL,
    /// and for a URL that a filter list names ([`is_listed`](Self::is_listed)). A judge without
    /// agents allows nothing. [`Judge::allowed`](crate::Judge::allowed) answers for a column.
    #[inline]
    pub fn is_allowed(&self, require: Require) -> bool {
        let have_verdict = match require {
            Require::All => self.agents > 0 && self.are_all_allowed(),
            Require::Any => self.is_any_allowed(),
        };
        have_verdict && !self.is_listed()
    }

    /// Adds `lines` to the counts of the agents that may fetch them.
    #[inline]
    pub(crate) fn count_allowed(&self, lines: u64, counts: &mut [u64]) {
        // Most lines of most lists are allowed to all.
        if self.are_all_allowed() {
            counts.iter_mut().for_each(|count| *count += lines);
        } else if let Ok(words) = self.answer.bits() {
            let counts = counts.chunks_mut(64).zip(words);
            counts.for_each(|(counts, word)| {
                counts
                    .iter_mut()
                    .zip(0..)
                    .for_each(|(count, agent)| *count += (word >> agent & 1) * lines);
            });
        }
    }

    /// Appends one byte per agent: `byte_of` its verdict.
    #[inline]
    pub fn append(&self, byte_of: impl Fn(Verdict) -> u8, out: &mut Vec<u8>) {
        let end = out.len() + self.agents;
        match self.answer.bits() {
            Err(verdict) => out.resize(end, byte_of(verdict)),
            Ok(words) => {
                let (allowed, disallowed) =
                    (byte_of(Verdict::Allowed), byte_of(Verdict::Disallowed));
                for bits in words
                    .iter()
                    .flat_map(|word| word.to_le_bytes())
                    .take(self.agents.div_ceil(8))
                {
                    out.extend_from_slice(&spread(bits, allowed, disallowed));
                }
                out.truncate(end);
            }
        }
    }

    /// One bit for each of the first 64 agents, the first agent's lowest: whether it may fetch the
    /// URL. Also 0 if the verdicts are `Unknown` or `Invalid` (see [`unjudged`](Self::unjudged)).
    #[inline]
    pub fn mask(&self) -> i64 {
        match self.answer.bits() {
            Err(Verdict::Allowed) if self.agents < 64 => ((1_u64 << self.agents) - 1).cast_signed(),
            Err(Verdict::Allowed) => -1,
            Err(_) => 0,
            Ok(words) => words.first().map_or(0, |word| word.cast_signed()),
        }
    }

    /// The row of the origin that decides, for [`Snapshot::origin_at`](crate::Snapshot::origin_at);
    /// `None` if the snapshot does not hold it, or the text is not a URL.
    #[inline]
    pub fn row(&self) -> Option<u32> {
        self.context
            .map(|context| context.row)
            .filter(|row| *row != NONE)
    }

    /// The number of the robots.txt whose rules decided; [`NONE`] if there is none.
    #[inline]
    pub(crate) fn file(&self) -> u32 {
        self.context.map_or(NONE, |context| context.file)
    }

    /// The number of the robots.txt of the answer as of a time, if these are verdicts as of one; `None`
    /// within if the answer has none.
    pub(super) fn text_as_of(&self) -> Option<Option<u32>> {
        let text = self.context?.text;
        (text != OriginContext::OF_NEWEST).then_some(Some(text).filter(|text| *text != NONE))
    }

    /// As [`file`](Self::file), for callers without the numbers of the snapshot.
    pub(crate) fn deciding_file(&self) -> Option<u32> {
        Some(self.file()).filter(|file| *file != NONE)
    }

    /// What the verdicts rest on, for all agents alike.
    #[inline]
    pub fn reason(&self) -> Reason {
        match (self.context, self.answer) {
            (Some(context), _) => context.reason,
            (None, VerdictBits::Same(Verdict::Invalid)) => Reason::NotAUrl,
            (None, _) => Reason::UnknownOrigin,
        }
    }

    /// Whether a filter list names the URL ([`Judge::with_lists`](crate::Judge::with_lists)). The
    /// verdicts are those of the robots.txt all the same.
    #[inline]
    pub fn is_listed(&self) -> bool {
        self.listed.is_some()
    }

    /// The entry that names the URL, and its lists; `None` if no list does, or an exception decides.
    ///
    /// ```
    /// # #[cfg(feature = "filter-lists")] {
    /// # use robosieve::filter_lists::{FilterLists, ListCompiler, ListKind};
    /// # use robosieve::{Compiler, Judge, JudgeOptions, Snapshot};
    /// # let mut compiler = ListCompiler::new();
    /// # compiler.add("spam", ListKind::Block, "spam.example\n".as_bytes())?;
    /// # let lists = FilterLists::new(compiler.finish()?.to_vec()?)?;
    /// # let snapshot = Snapshot::new(Compiler::default().finish()?.to_vec()?)?;
    /// # let judge = Judge::new(snapshot, &["FooBot".parse()?], JudgeOptions::default())?;
    /// let judge = judge.with_lists(lists);
    /// let mut session = judge.session();
    /// let verdicts = session.judge(b"https://www.spam.example/")?;
    /// let entry = verdicts.list_match().unwrap();
    /// assert_eq!(entry.lists().collect::<Vec<_>>(), ["spam"]);
    /// assert_eq!(entry.entry()?, "spam.example");
    /// # }
    /// # Ok::<(), robosieve::Error>(())
    /// ```
    pub fn list_match(&self) -> Option<ListMatch<'a>> {
        let ListedBy { lists, decision } = self.listed?;
        Some(ListMatch::new(lists, *decision))
    }

    /// Whether the entry of the other of http and https decided
    /// ([`JudgeOptions::any_scheme`](crate::JudgeOptions::any_scheme)).
    #[inline]
    pub fn via_other_scheme(&self) -> bool {
        self.context.is_some_and(|context| context.via_other_scheme)
    }
}

/// Eight bits as eight bytes: `set` for each bit that is set, `unset` for the others.
#[inline]
fn spread(bits: u8, set: u8, unset: u8) -> [u8; 8] {
    const ONES: u64 = 0x0101_0101_0101_0101;
    // In each byte its own bit, carried to the highest by an addition that cannot reach the next
    // byte.
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
            let expected: [u8; 8] =
                std::array::from_fn(|at| if bits >> at & 1 == 1 { b'A' } else { 0xff });
            assert_eq!(spread(bits, b'A', 0xff), expected, "{bits:08b}");
        }
    }

    #[test]
    fn urls_are_allowed_to_all_agents_or_to_any() {
        let full = [u64::MAX, 0b111];
        let last = [0, 0b100];
        // The verdicts, the number of agents, and whether all of them and any of them may fetch.
        let cases = [
            (VerdictBits::Word(0b1), 1, true, true),
            (VerdictBits::Word(0b0), 1, false, false),
            (VerdictBits::Word(0b111), 3, true, true),
            (VerdictBits::Word(0b101), 3, false, true),
            (VerdictBits::Word(u64::MAX), 64, true, true),
            (VerdictBits::Words(&full), 67, true, true),
            (VerdictBits::Words(&last), 67, false, true),
            (VerdictBits::Words(&[0, 0]), 67, false, false),
            (VerdictBits::Words(&[]), 0, false, false),
            (VerdictBits::Same(Verdict::Allowed), 2, true, true),
            (VerdictBits::Same(Verdict::Disallowed), 2, false, false),
            (VerdictBits::Same(Verdict::Unknown), 2, false, false),
            (VerdictBits::Same(Verdict::Invalid), 2, false, false),
        ];
        for (answer, agents, all, any) in cases {
            let verdicts = VerdictsRef {
                answer,
                agents,
                context: None,
                listed: None,
            };
            let found = [Require::All, Require::Any].map(|require| verdicts.is_allowed(require));
            assert_eq!(found, [all, any], "{answer:?} of {agents}");
        }
    }

    #[test]
    fn appended_and_counted_verdicts_are_those_of_the_agents() {
        let words = [0x8000_0000_0000_0005, 1 << 8 | 3];
        let verdicts = |answer, agents| VerdictsRef {
            answer,
            agents,
            context: None,
            listed: None,
        };
        let cases = [
            verdicts(VerdictBits::Words(&words), 73),
            verdicts(VerdictBits::Word(0b1011), 4),
            verdicts(VerdictBits::Word(u64::MAX), 64),
            verdicts(VerdictBits::Word(0), 1),
            verdicts(VerdictBits::Same(Verdict::Unknown), 20),
            verdicts(VerdictBits::Same(Verdict::Allowed), 3),
        ];
        for verdicts in cases {
            let (mut put, mut counts) = (b"x".to_vec(), vec![1; verdicts.agents]);
            verdicts.append(|verdict| verdict.letter() as u8, &mut put);
            verdicts.count_allowed(5, &mut counts);
            let letters: Vec<u8> = verdicts
                .iter()
                .map(|verdict| verdict.letter() as u8)
                .collect();
            assert_eq!(put[1..], letters);
            let expected = letters
                .iter()
                .map(|letter| if *letter == b'A' { 6 } else { 1 });
            assert_eq!(counts, expected.collect::<Vec<u64>>());
            assert_eq!(
                verdicts.allowed_count(),
                counts.iter().filter(|count| **count == 6).count()
            );
        }
    }
}
