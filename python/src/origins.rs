//! The origins of a column of URLs, and the registered domain of a host, which need no snapshot.

use crate::column::url_arrays;
use crate::errors::{caught, detached, exception};
use crate::judging::{map_texts, nulls};
use crate::result_array::Array;
use pyo3::prelude::*;
use robosieve::Origin;
use std::ops::Range;

/// One origin per URL, null for texts that are not URLs.
#[pyfunction]
pub(crate) fn origins(py: Python<'_>, urls: &Bound<'_, PyAny>) -> PyResult<Array> {
    let arrays = caught(|| url_arrays(urls))?;
    detached(py, || {
        // The distinct neighbours, one after the other. Rows of one site share their text.
        let mut texts = Vec::new();
        let mut last = Span::default();
        let spans = map_texts(&arrays, |url| {
            let start = texts.len();
            if !Origin::append(url, &mut texts) {
                return Ok(None);
            }
            if texts[last.range()] == texts[start..] {
                texts.truncate(start);
            } else {
                last = Span {
                    start,
                    end: texts.len(),
                };
            }
            Ok(Some(last))
        });
        let spans = spans.map_err(exception)?;
        let nulls = nulls(&arrays);
        Array::texts(spans.iter().enumerate().map(|(row, span)| {
            if nulls.as_ref().is_some_and(|nulls| nulls.is_null(row)) {
                return None;
            }
            span.map(|span| &texts[span.range()])
        }))
    })
}

/// The registered domain of a host in its canonical form, such as `example.co.uk`. `None` for a
/// public suffix, an address, and a host under a top-level domain that does not exist.
///
/// The suffixes of companies do not count: the domain of `a.blogspot.com` is `blogspot.com`.
#[pyfunction]
pub(crate) fn registered_domain(host: &str) -> Option<&str> {
    // A suffix of a company is below one of the DNS.
    let mut suffix = psl::suffix(host.as_bytes())?;
    while suffix.typ() == Some(psl::Type::Private) {
        let dot = suffix.as_bytes().iter().position(|byte| *byte == b'.')?;
        suffix = psl::suffix(&suffix.as_bytes()[dot + 1..])?;
    }
    // The rule `*` matches an unknown top-level domain.
    suffix.typ()?;
    let before = host.len().checked_sub(suffix.as_bytes().len() + 1)?;
    let start = host.get(..before)?.rfind('.').map_or(0, |dot| dot + 1);
    host.get(start..)
}

/// The range of an origin in a text.
#[derive(Clone, Copy, Default)]
struct Span {
    start: usize,
    end: usize,
}

impl Span {
    fn range(self) -> Range<usize> {
        self.start..self.end
    }
}
