//! Header fields: the `Name: value` lines of an HTTP head, and of a WARC header, which has the same
//! form.

use crate::bytes::trim;
use bstr::ByteSlice;
use std::borrow::Cow;

/// The values of the first headers of these names, in a block of `Name: value` lines.
pub(crate) fn headers<'a, const N: usize>(
    block: &'a [u8],
    names: [&str; N],
) -> [Option<&'a [u8]>; N] {
    let mut values = [None; N];
    for (found, value) in fields(block) {
        for (first, name) in values.iter_mut().zip(names) {
            if first.is_none() && found.eq_ignore_ascii_case(name.as_bytes()) {
                *first = Some(value);
            }
        }
    }
    values
}

/// The names and values of the fields in a block.
pub(super) fn fields(block: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let mut rest = block;
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let (field, after) = rest.split_at(field_len(rest));
            rest = after;
            if let Some(found) = name_and_value(field) {
                return Some(found);
            }
        }
        None
    })
}

/// The length of the first field: a line, and the lines after it that begin with a blank, which
/// continue its value (ISO 28500 §4).
fn field_len(text: &[u8]) -> usize {
    let mut end = 0;
    loop {
        end += memchr::memchr(b'\n', &text[end..]).map_or(text.len() - end, |at| at + 1);
        if !matches!(text.get(end), Some(b' ' | b'\t')) {
            return end;
        }
    }
}

/// The name and the value of a header line, if it is one.
#[inline]
pub(super) fn name_and_value(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let (name, value) = line.split_at_checked(memchr::memchr(b':', line)?)?;
    Some((trim(name), trim(&value[1..])))
}

/// A value in one line: a line that begins with a blank continues the value of the line before it
/// (RFC 9112 §5.2).
pub(super) fn unfolded(value: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'\n', value).is_none() {
        return Cow::Borrowed(value);
    }
    let mut out = Vec::with_capacity(value.len());
    for line in value.lines_with_terminator() {
        if line.starts_with(b" ") || line.starts_with(b"\t") {
            out.truncate(out.trim_end_with(|c| matches!(c, '\r' | '\n')).len());
        }
        out.extend_from_slice(line);
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::archive::http::parse;
    use crate::archive::http::tests::outcome;
    use crate::decode::gzip;

    #[test]
    fn the_first_header_of_a_name_counts() {
        let block = b"HTTP/1.1 301\r\n\
                      x-location: 0\r\n\
                      Location2: 1\r\n\
                      Location\r\n\
                      :2\r\n\
                      LOCATION :\r\n\t3:4 \r\n\
                      Location:5";
        assert_eq!(
            headers(block, ["Age", "Location", "x-LOCATION"]),
            [None, Some(&b"3:4"[..]), Some(b"0")]
        );
        assert_eq!(
            headers(&block[block.len() - 10..], ["location"]),
            [Some(&b"5"[..])]
        );
        assert_eq!(headers(b"", ["Age"]), [None]);
    }

    /// RFC 9112 §5.2.
    #[test]
    fn folded_headers_are_one_line() {
        let head = b"HTTP/1.1 200 OK\r\n X: 0\r\nA:\r\n b,\n\tc\r\nD: e\r\n \r\n\r\n";
        let lines = b"HTTP/1.1 200 OK X: 0\r\nA: b,\tc\r\nD: e \r\n\r\n";
        assert_eq!(&*unfolded(head), lines);
        let plain = b"user-agent: *".as_slice();
        let coded = gzip(plain);
        for (headers, body) in [
            ("Content-Encoding:\r\n gzip", coded.as_slice()),
            ("Content-Encoding: identity,\r\n\tgzip", &coded),
            (
                "Transfer-Encoding:\n chunked",
                b"d\r\nuser-agent: *\r\n0\r\n\r\n",
            ),
        ] {
            assert_eq!(outcome(headers, body).as_deref(), Ok(plain), "{headers}");
        }
        assert!(outcome("Content-Length:\r\n 14", plain).is_err());
        let moved =
            b"HTTP/1.1 301 x\r\nLocation:\r\n /x\r\nCache-Control: public,\r\n max-age=5\r\n\r\n";
        let response = parse(moved.as_slice().into(), false).unwrap();
        assert_eq!(response.location.as_deref(), Some(&b"/x"[..]));
        assert_eq!(response.max_age, Some(5));
    }
}
