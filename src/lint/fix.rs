//! Mends a robots.txt: applies the fixes of its findings until none is left.
//!
//! A mended line can have a new finding, such as a rule that repeats another once its field is
//! spelled right. So the text is checked again after each pass. Safe fixes are proven together
//! ([`equivalence`](super::equivalence)). If a proof fails, each half of them is tried alone.

use crate::lint::budget::Budget;
use crate::lint::changes::{FieldChange, VerdictChange, field_changes, verdict_changes};
use crate::lint::code::Code;
use crate::lint::edits::{EditSet, Fix, apply};
use crate::lint::equivalence::{MAX_RULES, are_equivalent};
use crate::lint::finding::Finding;
use crate::lint::text::lint_up_to;

/// Which fixes [`fix`] applies. The default: all safe ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct FixOptions {
    /// Applies fixes that may change verdicts too.
    pub unsafe_fixes: bool,
    /// Codes whose findings are left as they are.
    pub allowed: Vec<Code>,
}

impl FixOptions {
    /// All safe fixes.
    pub fn new() -> Self {
        Self::default()
    }

    /// Applies fixes that may change verdicts too.
    #[must_use]
    pub fn unsafe_fixes(mut self, unsafe_fixes: bool) -> Self {
        self.unsafe_fixes = unsafe_fixes;
        self
    }

    /// Leaves findings of these codes as they are.
    #[must_use]
    pub fn allowed(mut self, codes: impl IntoIterator<Item = Code>) -> Self {
        self.allowed = codes.into_iter().collect();
        self
    }
}

/// A mended robots.txt; returned by [`fix`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Fixed {
    /// The text; equal to the given one if nothing was mended.
    pub body: Vec<u8>,
    /// The findings that were mended. Their lines and edits are those of the text at the time: each
    /// pass starts from the text of the last.
    pub mended: Vec<Finding>,
    /// Examples of changed verdicts. Empty unless unsafe fixes were applied.
    pub verdict_changes: Vec<VerdictChange>,
    /// Changed sitemaps, crawl-delays and other fields. Empty unless unsafe fixes were applied.
    pub field_changes: Vec<FieldChange>,
}

/// The most passes over a text. Most texts need one or two.
const MAX_PASSES: usize = 32;

/// The most findings of one code that a pass mends, so that their messages take some megabytes.
const MAX_FIXES: u32 = 20_000;

/// The most proofs for a text: with fewer, no set of fixes is halved to the end.
const MAX_PROOFS: usize = 128;

/// The bytes that all proofs may parse. A text of 445 KB with a fix in each line takes 1.7 s in a
/// test build; with 128 proofs, it took 5.1 s.
const MAX_PROVEN_BYTES: usize = 12 << 20;

/// Mends the findings of a robots.txt that have a fix.
///
/// Without [`FixOptions::unsafe_fixes`], verdicts, preferences, crawl-delays and sitemaps stay the
/// same for every agent in both profiles. It is proven by comparing the rules of each agent before
/// and after, and a fix whose proof fails is not applied. All bytes outside the fixed lines stay,
/// and so do comments. Fixing the result again changes nothing, except in a hostile text that needs
/// more passes or longer proofs than are allowed. Never panics.
///
/// Cost: that of a [`lint`](super::lint()) and of a proof in each pass, mostly two. A proof parses
/// both texts twice, and compares the rules that one lacks with those of the other.
///
/// ```
/// use robosieve::lint::{FixOptions, fix};
/// let body = b"User-agent: *\nDisallow: /cart\nDisallow: /cart/1 # old\nDisallow: tmp\n";
/// let fixed = fix(body, &FixOptions::new());
/// assert_eq!(fixed.body, b"User-agent: *\nDisallow: /cart\n# old\nDisallow: tmp\n");
///
/// let fixed = fix(body, &FixOptions::new().unsafe_fixes(true));
/// assert_eq!(fixed.body, b"User-agent: *\nDisallow: /cart\n# old\nDisallow: /tmp\n");
/// let change = &fixed.verdict_changes[0];
/// assert_eq!((change.path.as_str(), change.was_allowed), ("/tmp", true));
/// ```
pub fn fix(body: &[u8], options: &FixOptions) -> Fixed {
    let mut fixer = Fixer {
        body: body.to_vec(),
        mended: Vec::new(),
        proofs: MAX_PROOFS.min(MAX_PROVEN_BYTES / body.len().max(1)),
        budget: Budget::new(MAX_RULES),
    };
    let mut is_unproven = false;
    for _ in 0..MAX_PASSES {
        let mut findings = lint_up_to(MAX_FIXES, &fixer.body);
        findings.retain(|finding| !options.allowed.contains(&finding.code));
        let (safe, others): (Vec<Finding>, Vec<Finding>) = findings
            .into_iter()
            .filter(|finding| finding.fix().is_some())
            .partition(|finding| finding.fix().is_some_and(|fix| fix.is_safe));
        // Unsafe fixes wait until the safe ones are done, so that these are proven for the text as
        // it was.
        if fixer.apply_safe(safe) {
            continue;
        }
        if !options.unsafe_fixes || others.is_empty() {
            break;
        }
        is_unproven = true;
        fixer.apply_unproven(others);
    }
    let mut fixed = Fixed {
        body: fixer.body,
        mended: fixer.mended,
        verdict_changes: Vec::new(),
        field_changes: Vec::new(),
    };
    if is_unproven {
        fixed.verdict_changes = verdict_changes(body, &fixed.body);
        fixed.field_changes = field_changes(body, &fixed.body);
    }
    fixed
}

/// A text that is being mended.
struct Fixer {
    body: Vec<u8>,
    mended: Vec<Finding>,
    /// The proofs that are left.
    proofs: usize,
    /// The work that is left for them.
    budget: Budget,
}

impl Fixer {
    /// Applies those of the fixes that are proven. Returns whether there is one.
    fn apply_safe(&mut self, findings: Vec<Finding>) -> bool {
        let findings = without_overlaps(findings);
        let mut proven = Vec::new();
        let all: Vec<usize> = (0..findings.len()).collect();
        self.prove(&findings, &all, &mut proven);
        self.apply(findings, &proven);
        !proven.is_empty()
    }

    fn apply_unproven(&mut self, findings: Vec<Finding>) {
        let findings = without_overlaps(findings);
        let all: Vec<usize> = (0..findings.len()).collect();
        self.apply(findings, &all);
    }

    /// Adds to `proven` the findings of `group` that can be mended together with those in it.
    fn prove(&mut self, findings: &[Finding], group: &[usize], proven: &mut Vec<usize>) {
        if group.is_empty() || self.proofs == 0 {
            return;
        }
        self.proofs -= 1;
        let together = [proven.as_slice(), group].concat();
        let mended = apply(&self.body, fixes(findings, &together));
        if are_equivalent(&self.body, &mended, &mut self.budget) {
            *proven = together;
        } else if group.len() > 1 {
            let (first, second) = group.split_at(group.len() / 2);
            self.prove(findings, first, proven);
            self.prove(findings, second, proven);
        }
    }

    fn apply(&mut self, findings: Vec<Finding>, numbers: &[usize]) {
        self.body = apply(&self.body, fixes(&findings, numbers));
        let mut is_applied = vec![false; findings.len()];
        numbers.iter().for_each(|number| is_applied[*number] = true);
        let applied = findings.into_iter().zip(is_applied);
        self.mended.extend(
            applied
                .filter(|(_, is_applied)| *is_applied)
                .map(|(found, _)| found),
        );
    }
}

/// The fixes of the findings with these numbers.
fn fixes<'f>(findings: &'f [Finding], numbers: &[usize]) -> impl Iterator<Item = &'f Fix> {
    numbers.iter().filter_map(|number| findings[*number].fix())
}

/// The findings whose fixes do not overlap those of earlier ones.
fn without_overlaps(mut findings: Vec<Finding>) -> Vec<Finding> {
    let mut edits = EditSet::default();
    let is_free: Vec<bool> = findings
        .iter()
        .map(|finding| finding.fix().is_some_and(|fix| edits.add(fix)))
        .collect();
    let mut is_free = is_free.into_iter();
    findings.retain(|_| is_free.next().unwrap_or(false));
    findings
}
