//! Ranges of addresses that an operator publishes for its crawler.
//!
//! The form is that of Google, Bing, OpenAI and others:
//! `{"prefixes": [{"ipv4Prefix": "192.0.2.0/24"}, {"ipv6Prefix": "2001:db8::/32"}]}`.

use crate::error::{Error, ErrorKind, Result};
use serde::Deserialize;
use std::fs::File;
use std::io::Read;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::path::Path;

/// The size of a published file at most. The largest known one, of all addresses of a cloud, has 2
/// MB.
const MAX_FILE_BYTES: u64 = 16 << 20;

/// Sorted, disjoint ranges of addresses. IPv4 addresses are mapped into IPv6.
///
/// ```
/// use robosieve::audit::AddressRanges;
/// let text = br#"{"prefixes": [
///     {"ipv4Prefix": "192.0.2.0/24"}, {"ipv6Prefix": "2001:db8::/32"}
/// ]}"#;
/// let ranges = AddressRanges::parse(text)?;
/// assert!(ranges.contains(b"192.0.2.9") && ranges.contains(b"2001:db8::1"));
/// assert!(!ranges.contains(b"192.0.3.9") && !ranges.contains(b"crawler.example"));
/// # Ok::<(), robosieve::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AddressRanges(Vec<(u128, u128)>);

#[derive(Deserialize)]
struct PublishedRanges {
    prefixes: Vec<PublishedPrefix>,
}

#[derive(Deserialize)]
struct PublishedPrefix {
    #[serde(rename = "ipv4Prefix")]
    ipv4: Option<String>,
    #[serde(rename = "ipv6Prefix")]
    ipv6: Option<String>,
}

impl AddressRanges {
    /// Parses a published file.
    ///
    /// # Errors
    /// [`ErrorKind::BadList`] if the text does not have this form, or has no prefix or a malformed
    /// one.
    pub fn parse(text: &[u8]) -> Result<Self> {
        let published: PublishedRanges = serde_json::from_slice(text).map_err(|err| {
            let form = r#"expected {"prefixes": [{"ipv4Prefix": "192.0.2.0/24"}, ...]}"#;
            ErrorKind::BadList(format!(
                "not a published list of address ranges: {err}; {form}"
            ))
        })?;
        let mut ranges = Vec::new();
        for prefix in published
            .prefixes
            .iter()
            .flat_map(|prefix| prefix.ipv4.iter().chain(&prefix.ipv6))
        {
            let range = parse_prefix(prefix).ok_or_else(|| {
                ErrorKind::BadList(format!(
                    "{prefix:?} is not a range of addresses such as 192.0.2.0/24"
                ))
            })?;
            ranges.push(range);
        }
        // An empty list would call every request forged.
        if ranges.is_empty() {
            let what = "it has no range of addresses, so it would verify no request: none of its \
                        prefixes has an ipv4Prefix or ipv6Prefix; give the list that the operator \
                        of the crawler publishes";
            return Err(ErrorKind::BadList(what.to_owned()).into());
        }
        Ok(Self::of(ranges))
    }

    /// Reads and parses a published file of at most 16 MiB.
    ///
    /// # Errors
    /// I/O errors, [`ErrorKind::BadList`] for a larger file, and the errors of
    /// [`parse`](Self::parse). All name the file.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        let path = path.as_ref();
        let mut text = Vec::new();
        let file = File::open(path).map_err(|err| Error::io(path, err))?;
        file.take(MAX_FILE_BYTES + 1)
            .read_to_end(&mut text)
            .map_err(|err| Error::io(path, err))?;
        if text.len() as u64 > MAX_FILE_BYTES {
            let what = "larger than 16 MiB, so it is not a published list of address ranges; give \
                        the list that the operator of the crawler publishes";
            return Err(Error::from(ErrorKind::BadList(what.to_owned())).at(path));
        }
        Self::parse(&text).map_err(|err| err.at(path))
    }

    /// The union of two sets of ranges: a crawler may have several files.
    pub fn union(mut self, other: Self) -> Self {
        self.0.extend(other.0);
        Self::of(self.0)
    }

    fn of(mut ranges: Vec<(u128, u128)>) -> Self {
        ranges.sort_unstable();
        let mut merged: Vec<(u128, u128)> = Vec::new();
        for (first, last) in ranges {
            match merged.last_mut() {
                Some(before) if first <= before.1 => before.1 = before.1.max(last),
                _ => merged.push((first, last)),
            }
        }
        Self(merged)
    }

    /// Whether an address, perhaps with a port, is in a range. A host name is in none.
    pub fn contains(&self, address: &[u8]) -> bool {
        let Some(address) = parse_address(address) else {
            return false;
        };
        let after = self.0.partition_point(|(first, _)| *first <= address);
        after > 0 && address <= self.0[after - 1].1
    }
}

/// The number of an address; `None` for any other text. Some logs add the port, or the zone of a
/// link-local address (`fe80::1%2`).
fn parse_address(text: &[u8]) -> Option<u128> {
    let text = std::str::from_utf8(text).ok()?.trim();
    if let Ok(socket) = text.parse::<SocketAddr>() {
        return Some(number(socket.ip()));
    }
    let address = text.split_once('%').map_or(text, |(address, _)| address);
    let inner = address
        .strip_prefix('[')
        .and_then(|inner| inner.strip_suffix(']'));
    Some(number(inner.unwrap_or(address).parse().ok()?))
}

/// Whether a text is an address, perhaps with a port.
pub(super) fn is_address(text: &[u8]) -> bool {
    parse_address(text).is_some()
}

fn number(address: IpAddr) -> u128 {
    let mapped: Ipv6Addr = match address {
        IpAddr::V4(address) => address.to_ipv6_mapped(),
        IpAddr::V6(address) => address,
    };
    mapped.to_bits()
}

/// The first and the last address of a prefix such as `192.0.2.0/24`.
fn parse_prefix(text: &str) -> Option<(u128, u128)> {
    let (address, len) = text.trim().split_once('/').unwrap_or((text.trim(), ""));
    let address: IpAddr = address.parse().ok()?;
    let bits = if address.is_ipv4() { 32 } else { 128 };
    let len: u32 = if len.is_empty() {
        bits
    } else {
        len.parse().ok().filter(|len| *len <= bits)?
    };
    let host_mask = u128::MAX.checked_shr(128 - (bits - len)).unwrap_or(0);
    let first = number(address) & !host_mask;
    Some((first, first | host_mask))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_cover_their_addresses() {
        let text = br#"{"creationTime": "2026-01-01", "prefixes": [{"ipv4Prefix": "198.51.100.128/25"},
            {"ipv4Prefix": "198.51.100.130/32", "service": "x"}, {"ipv6Prefix": "2001:db8:1::/48"}, {"ipv4Prefix": "203.0.113.7"}]}"#;
        let ranges = AddressRanges::parse(text).unwrap();
        for inside in [
            "198.51.100.128",
            "198.51.100.255",
            "2001:db8:1:ffff::",
            "203.0.113.7",
            "198.51.100.200:443",
            "[2001:db8:1::7]:443",
            "[2001:db8:1::7]",
            "2001:db8:1::7%2",
        ] {
            assert!(ranges.contains(inside.as_bytes()), "{inside}");
        }
        for outside in [
            "198.51.100.127",
            "198.51.101.0",
            "2001:db8:2::",
            "203.0.113.8",
            "::",
            "",
            "-",
            "x.example",
            "1.2.3",
        ] {
            assert!(!ranges.contains(outside.as_bytes()), "{outside}");
        }
        let all = AddressRanges::parse(br#"{"prefixes": [{"ipv6Prefix": "::/0"}]}"#).unwrap();
        assert!(all.contains(b"192.0.2.1") && all.contains(b"::"));
        assert!(ranges.union(all).contains(b"198.51.101.0"));
    }

    #[test]
    fn malformed_files_are_refused() {
        for text in [
            "",
            "[]",
            "{}",
            r#"{"prefixes": []}"#,
            r#"{"prefixes": [{"ip_prefix": "192.0.2.0/24"}, {}]}"#,
            r#"{"prefixes": [{"ipv4Prefix": "1.2.3.4/33"}]}"#,
            r#"{"prefixes": [{"ipv4Prefix": "x/8"}]}"#,
        ] {
            assert!(AddressRanges::parse(text.as_bytes()).is_err(), "{text}");
        }
    }
}
