//! The profile: the semantics of robots.txt, Google's or RFC 9309's, that a snapshot is compiled
//! for.

use crate::named_value::named_values;

/// The semantics that applies where Google's parser and RFC 9309 differ. It is chosen at compile
/// time and stored in the snapshot.
///
/// They differ in:
///
/// - the spelling of fields: Google's parser also reads `useragent:`, `Dissallow:`, `Allowed:` and
///   lines without a colon;
/// - long lines: Google's parser reads the first 16,663 bytes of a line;
/// - percent-escapes: to RFC 9309, `%41` is `A`, `%3A` is `:`, and in a query `%2F` is `/`;
/// - `Allow: …/index.html`, which also allows the folder for Google's parser;
/// - `/robots.txt` itself, which RFC 9309 always allows;
/// - a `;` in the user information of a URL, which begins the path for Google's parser.
///
/// `docs/SEMANTICS.md` in the repository lists every difference with its source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Profile {
    /// The verdicts of Google's open-source parser.
    #[default]
    Google,
    /// RFC 9309 to the letter. Where it leaves a question open, `docs/SEMANTICS.md` has the decision.
    Rfc9309,
}

impl Profile {
    /// Whether every agent may fetch a path in normal form, whatever the rules say: under RFC 9309
    /// §2.2.2, `/robots.txt` itself.
    #[inline(always)]
    pub(crate) fn always_allows(self, path: &[u8]) -> bool {
        self == Self::Rfc9309 && path == b"/robots.txt"
    }
}

named_values! {
    /// The name on the command line and in a snapshot's metadata.
    Profile {
        Google = "google",
        Rfc9309 = "rfc9309",
    }
}
