//! Canonical origins, the slow path: scheme and authority to the canonical key of an origin.

/// Writes the canonical key of `scheme` and `authority` to `key`; `None` if they name no origin.
///
/// The fast path handles plain lower-case hosts ([`plain_origin`](super::split::plain_origin)).
/// Here the `url` crate canonicalises the host: IDNA, percent-escapes, all spellings of IPv4
/// addresses, IPv6.
pub(super) fn canonical(scheme: &[u8], authority: &[u8], key: &mut Vec<u8>) -> Option<()> {
    key.clear();
    key.extend(scheme.iter().map(u8::to_ascii_lowercase));
    let default_port = default_port(key);
    let after_user = memchr::memrchr(b'@', authority).map_or(authority, |at| &authority[at + 1..]);
    let (host, port) = split_port(after_user)?;
    key.extend_from_slice(b"://");
    push_host(host, key)?;
    if let Some(port) = port.filter(|&port| Some(port) != default_port) {
        key.extend_from_slice(format!(":{port}").as_bytes());
    }
    Some(())
}

/// The default port of a scheme in lower case.
pub(crate) fn default_port(scheme: &[u8]) -> Option<u16> {
    match scheme {
        b"http" => Some(80),
        b"https" => Some(443),
        b"ftp" => Some(21),
        _ => None,
    }
}

/// The host and the port of an authority without user information. An empty port means no port.
fn split_port(text: &[u8]) -> Option<(&[u8], Option<u16>)> {
    let host_end = if text.first() == Some(&b'[') {
        memchr::memchr(b']', text)? + 1
    } else {
        0
    };
    let (host, digits) = match memchr::memchr(b':', &text[host_end..]) {
        Some(colon) => (&text[..host_end + colon], &text[host_end + colon + 1..]),
        None => (text, &[][..]),
    };
    if host.is_empty() || (host_end > 0 && host.len() != host_end) {
        return None;
    }
    if digits.is_empty() {
        return Some((host, None));
    }
    let port = digits.iter().try_fold(0u32, |port, b| {
        let digit = b.is_ascii_digit().then(|| u32::from(b - b'0'))?;
        Some(port * 10 + digit).filter(|&port| port <= 65535)
    })?;
    Some((host, Some(port as u16)))
}

fn push_host(host: &[u8], key: &mut Vec<u8>) -> Option<()> {
    let text = std::str::from_utf8(host).ok()?;
    match url::Host::parse(text) {
        // A `;` would end the host: as in Google's parser, the path begins there.
        Ok(host) => key.extend_from_slice(host.to_string().replace(';', "%3B").as_bytes()),
        // IDNA rejects a label that only looks like Punycode, but DNS may have it.
        Err(_) if is_ascii_name(host) => key.extend(host.iter().map(u8::to_ascii_lowercase)),
        Err(_) => return None,
    }
    Some(())
}

/// Whether a host has only letters, digits, `.`, `-` and `_`, and an `xn--` label: it is used as it
/// is.
fn is_ascii_name(host: &[u8]) -> bool {
    host.iter()
        .all(|b| b.is_ascii_alphanumeric() || b".-_".contains(b))
        && host
            .split(|&b| b == b'.')
            .any(|label| label.len() >= 4 && label[..4].eq_ignore_ascii_case(b"xn--"))
}
