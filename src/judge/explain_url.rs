//! Explains the verdict on a URL by its origin's entry, the status policy, and the robots.txt.
//!
//! The verdict comes from the rule sets, as always. The explanation comes from the stored text of
//! the robots.txt. If the two contradict each other, the snapshot is damaged.

use super::as_of::DecidingOutcome;
use super::engine::Engine;
use super::status_policy::{Ruling, ruling};
use crate::error::{Error, Result};
use crate::explain::{Explanation, Reason, Verdict, explain};
use crate::preferences::{PreferenceExplanation, explain_preferences};
use crate::robots::RobotsRef;
use crate::snapshot::format::NONE;
use crate::snapshot::history::Validity;
use crate::snapshot::index::Probe;
use crate::snapshot::{AnswerInForce, OriginEntry};
use crate::url::{self, Origin};

/// The explanation of the verdict on a URL for an agent.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UrlExplanation<'s> {
    /// The verdict.
    pub verdict: Verdict,
    /// The reason of the verdict.
    pub reason: Reason,
    /// The URL's origin; `None` if the text is not a URL.
    pub origin: Option<Origin>,
    /// The entry that decides; `None` if the snapshot does not contain the origin.
    pub entry: Option<OriginEntry<'s>>,
    /// Whether the entry is that of the other scheme.
    pub via_other_scheme: bool,
    /// The time that the URL was judged as of, if there is one
    /// ([`JudgeOptions::as_of`](crate::JudgeOptions::as_of)).
    pub as_of: Option<i64>,
    /// If the URL was judged as of a time: the answer of the origin in force then, with the bounds of
    /// its time; `None` if the snapshot does not contain the origin at that time.
    pub in_force: Option<AnswerInForce<'s>>,
    /// The answer that the one in force replaced, if there is one.
    pub replaced: Option<AnswerInForce<'s>>,
    /// Whether the rules are those of the last good copy.
    pub by_last_good: bool,
    /// The explanation by the robots.txt, if its rules decide.
    pub rules: Option<Explanation>,
    /// The preferences of the robots.txt, if its rules decide; else none. Of a URL that the agent
    /// may not fetch, as
    /// [`Preferences::of_refused_url`](crate::preferences::Preferences::of_refused_url).
    pub preferences: PreferenceExplanation,
}

impl<'s> Engine<'s> {
    /// See [`Judge::explain`](super::Judge::explain). Judges with the rule sets, then with the
    /// stored text.
    pub(crate) fn explain(&self, url: &[u8], agent: usize) -> Result<UrlExplanation<'s>> {
        self.verify_url(url)?;
        let verdict = self.judge(url, &mut self.scratch())?.get(agent);
        let mut out = UrlExplanation {
            verdict,
            reason: Reason::NotAUrl,
            origin: None,
            entry: None,
            via_other_scheme: false,
            as_of: self.options.as_of,
            in_force: None,
            replaced: None,
            by_last_good: false,
            rules: None,
            preferences: PreferenceExplanation::default(),
        };
        let mut key = Vec::new();
        let mut other_key = Vec::new();
        let Some(parts) = url::split(url, self.profile, &mut key) else {
            return Ok(out);
        };
        out.reason = Reason::UnknownOrigin;
        out.origin = Origin::of(url);
        let hash = self.view.hash(parts.origin);
        if let Some(time) = self.options.as_of {
            let entries = self.entries_of(parts.origin, hash, Probe::SKIPPED, &mut other_key)?;
            let mut validity = Validity::ALWAYS;
            let found = self.deciding_outcome(entries, time, &mut validity)?;
            let Some(DecidingOutcome {
                row,
                via_other_scheme,
                ..
            }) = found
            else {
                return Ok(out);
            };
            out.via_other_scheme = via_other_scheme;
            let Some(answer) = self.snapshot.in_force(row, time)? else {
                return Ok(out);
            };
            let entry = answer.entry.clone();
            out.in_force = Some(answer);
            if let Some(since) = out.in_force.as_ref().and_then(|answer| answer.since) {
                let before = since.saturating_sub(1);
                out.replaced = self.snapshot.in_force(row, before)?;
            }
            return self.explain_entry(entry, Some(time), agent, &parts, out);
        }
        let found = self.locate(parts.origin, hash, Probe::SKIPPED, &mut other_key)?;
        let Some((located, is_other)) = found else {
            return Ok(out);
        };
        // The index and the table of origins both have the entry. A difference is damage that
        // judging alone does not notice.
        let entry = self.snapshot.origin_at(located.row)?;
        if entry.key() != located.key
            || entry.rules_file() != (located.file != NONE).then_some(located.file)
        {
            return Err(Error::corrupt(format!(
                "the entry of {} has the metadata of another",
                entry.origin()
            )));
        }
        out.via_other_scheme = is_other;
        self.explain_entry(entry, self.options.at, agent, &parts, out)
    }

    /// Completes the explanation by an entry, judged at `time`.
    fn explain_entry(
        &self,
        entry: OriginEntry<'s>,
        time: Option<i64>,
        agent: usize,
        parts: &url::UrlParts<'_>,
        mut out: UrlExplanation<'s>,
    ) -> Result<UrlExplanation<'s>> {
        let verdict = out.verdict;
        let ruling = ruling(self.policy, entry.outcome(), entry.has_last_good(), time);
        out.reason = Reason::of(entry.outcome(), ruling);
        out.by_last_good = ruling == Ruling::LastGood;
        let file = entry.file();
        out.entry = Some(entry);
        if let (Ruling::Rules | Ruling::LastGood, Some(file), Some(agent)) =
            (ruling, file, self.agents.get(agent))
        {
            // The stored text is judged again, rule by rule, and must give the same verdict as the
            // compiled rules.
            let text = self.snapshot.text(file)?;
            let robots = RobotsRef::parse(&text, self.profile);
            let url = path_url(parts);
            let rules = explain(&robots, agent, self.options.agent_match, &url);
            if rules.verdict != verdict {
                return Err(Error::corrupt(format!(
                    "the stored robots.txt of {} contradicts its compiled rules",
                    String::from_utf8_lossy(parts.origin)
                )));
            }
            out.rules = Some(rules);
            out.preferences = explain_preferences(&robots, agent, self.options.agent_match, &url);
        }
        if verdict == Verdict::Disallowed {
            let stated = &mut out.preferences.preferences;
            *stated = stated.of_refused_url();
        }
        Ok(out)
    }
}

/// The path with a made-up host, for [`explain`].
fn path_url(parts: &url::UrlParts<'_>) -> Vec<u8> {
    let slash: &[u8] = if parts.slash { b"/" } else { b"" };
    // Without the host, a path that begins with `//` or contains `://` would be parsed as a URL. White
    // space before a fragment is part of the path, so an empty fragment keeps it.
    [b"http://h", slash, parts.path, b"#"].concat()
}
