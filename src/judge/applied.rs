//! Preferences under the verdict on a URL.

use crate::explain::Verdict;
use crate::preferences::Preferences;

/// Preferences of `content-usage` apply only to URLs that the agent may fetch
/// (draft-ietf-aipref-attach-05, section 3). Without a verdict none are stated anyway.
pub(super) fn under(stated: Preferences, verdict: Verdict) -> Preferences {
    if verdict == Verdict::Disallowed {
        stated.of_refused_url()
    } else {
        stated
    }
}

/// The preferences under each of these verdicts if the site states none.
pub(crate) fn none_stated(
    verdicts: impl Iterator<Item = Verdict>,
) -> impl Iterator<Item = Preferences> {
    verdicts.map(|verdict| under(Preferences::default(), verdict))
}
