//! Why a verdict on a URL is what it is: its origin's entry, the policy, and the rules of its text.

use super::engine::Engine;
use super::explain::{Explanation, explain};
use super::reason::Reason;
use super::status_policy::{Ruling, Verdict, ruling};
use crate::error::{Error, Result};
use crate::preferences::{PreferenceExplanation, explain_preferences};
use crate::robots::Robots;
use crate::snapshot::OriginEntry;
use crate::snapshot::format::{NONE, hash_key};
use crate::snapshot::index::Probe;
use crate::url::{self, Origin};

/// Why an agent may fetch a URL or not, and where that comes from.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UrlExplanation<'s> {
    /// The verdict, policy applied.
    pub verdict: Verdict,
    /// What it rests on.
    pub reason: Reason,
    /// The URL's origin; `None` if the text is not a URL.
    pub origin: Option<Origin>,
    /// The entry that decides; `None` if the snapshot does not know the origin.
    pub entry: Option<OriginEntry<'s>>,
    /// The entry is that of the other scheme.
    pub via_other_scheme: bool,
    /// The rules are those of the last good copy.
    pub by_last_good: bool,
    /// The rules' part, where rules decide.
    pub rules: Option<Explanation>,
    /// What the robots.txt says about use, where its rules decide; else nothing.
    pub preferences: PreferenceExplanation,
}

impl<'s> Engine<'s> {
    /// As [`Judge::explain`](super::Judge::explain): judges by the rule sets, then again by the stored
    /// text.
    pub(crate) fn explain(&self, url: &[u8], agent: usize) -> Result<UrlExplanation<'s>> {
        let verdict = self.judge(url, &mut self.scratch())?.get(agent);
        let mut out = UrlExplanation {
            verdict,
            reason: Reason::NotAUrl,
            origin: None,
            entry: None,
            via_other_scheme: false,
            by_last_good: false,
            rules: None,
            preferences: PreferenceExplanation::default(),
        };
        let (mut key, mut other_key) = (Vec::new(), Vec::new());
        let Some(parts) = url::split(url, self.profile, &mut key) else { return Ok(out) };
        (out.reason, out.origin) = (Reason::UnknownOrigin, Origin::of(url));
        let found = self.locate(parts.origin, hash_key(parts.origin), Probe::NOT_TAKEN, &mut other_key)?;
        if found.is_none_or(|(_, other)| other) {
            self.snapshot.confirm_absent(parts.origin)?;
        }
        let Some((located, other)) = found else {
            if !other_key.is_empty() {
                self.snapshot.confirm_absent(&other_key)?;
            }
            return Ok(out);
        };
        let entry = self.snapshot.origin_at(located.row)?;
        if entry.key() != located.key || entry.rules_file() != (located.file != NONE).then_some(located.file) {
            return Err(Error::corrupt(format!("the entry of {} has the facts of another", entry.origin())));
        }
        out.via_other_scheme = other;
        let ruling = ruling(self.policy, entry.outcome(), entry.has_last_good(), self.options.at);
        out.reason = Reason::of(entry.outcome(), ruling);
        out.by_last_good = ruling == Ruling::LastGood;
        let file = entry.file();
        out.entry = Some(entry);
        if let (Ruling::Rules | Ruling::LastGood, Some(file), Some(agent)) = (ruling, file, self.agents.get(agent)) {
            let text = self.snapshot.text(file)?;
            let robots = Robots::parse(&text, self.profile);
            let url = path_url(&parts);
            let why = explain(&robots, agent, self.options.agent_match, &url);
            if why.verdict != verdict {
                return Err(Error::corrupt(format!(
                    "the stored robots.txt of {} explains another verdict than its rules",
                    String::from_utf8_lossy(parts.origin)
                )));
            }
            out.rules = Some(why);
            out.preferences = explain_preferences(&robots, agent, self.options.agent_match, &url);
        }
        Ok(out)
    }
}

/// The path as a URL path that `explain` takes as it is.
fn path_url(parts: &url::UrlParts<'_>) -> Vec<u8> {
    let slash: &[u8] = if parts.slash { b"/" } else { b"" };
    // A path that begins with `//` or holds a `://` must not be taken for a URL, so a host goes before it.
    [b"http://h", slash, parts.path].concat()
}
