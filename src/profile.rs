//! Whose reading of robots.txt a snapshot is compiled for.

/// Whose reading of the rules counts where Google and RFC 9309 differ; chosen when compiling, kept in the snapshot.
///
/// The two differ in the normal form of percent-escapes, in the meaning of `Allow: …/index.html`, and in whether
/// `/robots.txt` itself can be refused; `docs/SEMANTICS.md` of the project lists every point with its source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Profile {
    /// The same allow or disallow as Google's open-source parser gives.
    #[default]
    Google,
    /// RFC 9309 to the letter.
    Rfc9309,
}

impl Profile {
    /// The name on the command line and in a snapshot's metadata.
    pub fn name(self) -> &'static str {
        match self {
            Self::Google => "google",
            Self::Rfc9309 => "rfc9309",
        }
    }
}
