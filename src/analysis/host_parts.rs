//! The parts of a host: its registrable domain and its last label.

use crate::url::is_address;

/// A host without its final dot: both spellings name the same host.
pub(in crate::analysis) fn without_final_dot(host: &str) -> &str {
    host.strip_suffix('.')
        .filter(|host| !host.is_empty())
        .unwrap_or(host)
}

/// The registrable domain of a host, by the public suffix list, without a final dot: the column
/// `domain`. An address and a host without a registrable domain are their own.
///
/// ```
/// use robosieve::export::registrable_domain;
/// assert_eq!(registrable_domain("www.example.co.uk."), "example.co.uk");
/// assert_eq!(registrable_domain("192.0.2.10"), "192.0.2.10");
/// ```
#[cfg(feature = "domains")]
pub fn registrable_domain(host: &str) -> &str {
    let host = without_final_dot(host);
    if is_address(host.as_bytes()) {
        return host;
    }
    psl::domain_str(host).unwrap_or(host)
}

/// The last label of a host without its final dot, in the same way for all hosts of a domain.
/// `None` for an address. A host of dots has an empty label.
pub(in crate::analysis) fn last_label(host: &str) -> Option<&str> {
    let host = host.trim_end_matches('.');
    if is_address(host.as_bytes()) {
        return None;
    }
    Some(host.rsplit_once('.').map_or(host, |(_, label)| label))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_a_domain_and_a_last_label() {
        for (host, domain, label) in [
            ("example.com", "example.com", Some("com")),
            ("a.b.example.com", "example.com", Some("com")),
            ("www.example.co.uk", "example.co.uk", Some("uk")),
            ("www.example.com.", "example.com", Some("com")),
            ("a.user.github.io", "user.github.io", Some("io")),
            (
                "www.xn--bcher-kva.example",
                "xn--bcher-kva.example",
                Some("example"),
            ),
            ("xn--p1ai.xn--p1ai", "xn--p1ai.xn--p1ai", Some("xn--p1ai")),
            // Without a registrable domain: a public suffix, one label, an address.
            ("co.uk", "co.uk", Some("uk")),
            ("github.io.", "github.io", Some("io")),
            ("localhost", "localhost", Some("localhost")),
            ("192.0.2.10", "192.0.2.10", None),
            ("[2001:db8::7]", "[2001:db8::7]", None),
            // Hosts that resolvers refuse keep their text.
            (".", ".", Some("")),
            ("a..", "a.", Some("a")),
        ] {
            #[cfg(feature = "domains")]
            assert_eq!(registrable_domain(host), domain, "{host}");
            let _ = domain;
            assert_eq!(last_label(host), label, "{host}");
        }
    }
}
