//! The names of columns and keys that hold URLs, if the user names none.

use bstr::ByteSlice;

/// The usual name.
pub(crate) const USUAL: &str = "url";

/// Names under which published corpora and crawls hold the URL of a document; a dot is a path into
/// nested objects. They compare without case.
const OTHERS: [&str; 12] = [
    // datatrove, Dolma
    "metadata.url",
    // RedPajama
    "meta.url",
    // OSCAR: since 22.01, by its loader, in documents of tools that move it, and 21.09
    "warc_headers.warc-target-uri",
    "meta.warc_headers.warc-target-uri",
    "metadata.warc_headers.warc-target-uri",
    "headers.warc-target-uri",
    // Documents made from WARC records
    "metadata.warc-target-uri",
    "warc-target-uri",
    "warc_target_uri",
    "target_uri",
    "source_url",
    // HPLT
    "u",
];

/// The choice of the column or key of the URLs among all names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum UrlName {
    /// The number of the name.
    Found(usize),
    /// None of them is known.
    Missing,
    /// Several are known, and none is preferred: their numbers.
    Several(Vec<usize>),
}

impl UrlName {
    /// Chooses among names. `url` comes first, as it is written here or as the only one that differs
    /// in case; then the only one that is known.
    pub(crate) fn among<'n>(names: impl IntoIterator<Item = &'n [u8]>) -> Self {
        let names: Vec<&[u8]> = names.into_iter().collect();
        let matching = |is_match: &dyn Fn(&[u8]) -> bool| -> Vec<usize> {
            (0..names.len())
                .filter(|&number| is_match(names[number].trim_ascii()))
                .collect()
        };
        let exact = matching(&|name| name == USUAL.as_bytes());
        if let Some(&number) = exact.first() {
            return Self::Found(number);
        }
        let usual = matching(&|name| name.eq_ignore_ascii_case(USUAL.as_bytes()));
        let others = matching(&|name| {
            OTHERS
                .iter()
                .any(|other| name.eq_ignore_ascii_case(other.as_bytes()))
        });
        match (&*usual, &*others) {
            (&[number], _) | ([], &[number]) => Self::Found(number),
            ([], []) => Self::Missing,
            ([], _) => Self::Several(others),
            _ => Self::Several(usual),
        }
    }
}

/// The number of the name that a user gives: as it is written, or the only one that differs in case.
pub(crate) fn position_of<'n>(
    names: impl Iterator<Item = &'n [u8]> + Clone,
    wanted: &str,
) -> Option<usize> {
    let wanted = wanted.as_bytes();
    if let Some(exact) = names.clone().position(|name| name.trim_ascii() == wanted) {
        return Some(exact);
    }
    let is_similar = |(_, name): &(usize, &[u8])| name.trim_ascii().eq_ignore_ascii_case(wanted);
    let mut similar = names.enumerate().filter(is_similar);
    match (similar.next(), similar.next()) {
        (Some((number, _)), None) => Some(number),
        _ => None,
    }
}

/// The first of some names, quoted, for an error.
pub(crate) fn listed<'n>(names: impl IntoIterator<Item = &'n [u8]>) -> String {
    const SHOWN: usize = 20;
    let mut shown = Vec::new();
    let mut more = 0;
    for name in names {
        if shown.len() < SHOWN {
            shown.push(format!("{:.60?}", name.to_str_lossy()));
        } else {
            more += 1;
        }
    }
    let rest = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    shown.join(", ") + &rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chosen(names: &str) -> UrlName {
        UrlName::among(names.split(' ').map(str::as_bytes))
    }

    #[test]
    fn the_usual_name_comes_first() {
        for (names, expected) in [
            ("URL url target_uri", UrlName::Found(1)),
            ("n Url source_url", UrlName::Found(1)),
            ("n WARC-Target-URI", UrlName::Found(1)),
            ("meta.url", UrlName::Found(0)),
            ("n link", UrlName::Missing),
            ("", UrlName::Missing),
            ("URL Url", UrlName::Several(vec![0, 1])),
            ("source_url n target_uri", UrlName::Several(vec![0, 2])),
        ] {
            assert_eq!(chosen(names), expected, "{names}");
        }
    }

    #[test]
    fn long_lists_are_cut() {
        let names = vec![b"a".as_slice(); 23];
        assert!(listed(names).ends_with("\"a\" and 3 more"));
    }
}
