//! A parsed robots.txt that owns its bytes.

use crate::profile::Profile;
use crate::robots::line::MAX_BODY;
use crate::robots::parse::RobotsRef;
use self_cell::self_cell;
use std::sync::Arc;

self_cell!(
    /// The bytes of a robots.txt with what is parsed from them.
    struct RobotsCell {
        owner: Box<[u8]>,
        #[covariant]
        dependent: RobotsRef,
    }

    impl {Debug}
);

/// A parsed robots.txt that owns its bytes, for caches and other places that outlive the response.
///
/// It is `Send + Sync + 'static`, and a clone costs a reference count. [`allows`](Self::allows)
/// answers for a URL; [`parsed`](Self::parsed) gives groups, rules, sitemaps and crawl-delays. A
/// program that judges many URLs of many sites compiles a [`Snapshot`](crate::Snapshot).
///
/// ```
/// use robosieve::{Agent, Profile, Robots};
/// use std::collections::HashMap;
/// let mut cache: HashMap<String, Robots> = HashMap::new();
/// let body = "User-agent: *\nDisallow: /cart\nSitemap: https://shop.example/s.xml";
/// cache.insert("https://shop.example".into(), Robots::parse(body, Profile::Google));
/// let robots = &cache["https://shop.example"];
/// let agent: Agent = "FooBot".parse()?;
/// assert!(!robots.allows(&agent, "https://shop.example/cart/1"));
/// assert_eq!(robots.parsed().sitemaps().count(), 1);
/// # Ok::<(), robosieve::Error>(())
/// ```
#[derive(Clone, Debug)]
pub struct Robots {
    cell: Arc<RobotsCell>,
}

impl Robots {
    /// Parses the body of a robots.txt as served (after content decoding), as
    /// [`RobotsRef::parse`] does, and keeps its first 500 KiB (RFC 9309 §2.5). Never fails, never
    /// panics. Cost: one pass over the bytes, and a copy of bytes that are borrowed.
    pub fn parse(body: impl Into<Vec<u8>>, profile: Profile) -> Self {
        let mut body = body.into();
        // The bytes after the limit tell whether the limit cuts a line, or a CR LF.
        body.truncate(MAX_BODY + 2);
        let cell = RobotsCell::new(body.into(), |body| RobotsRef::parse(body, profile));
        Self {
            cell: Arc::new(cell),
        }
    }

    /// The body that was parsed: at most its first 500 KiB and two bytes.
    pub fn body(&self) -> &[u8] {
        self.cell.borrow_owner()
    }

    /// The groups, rules and other fields.
    pub fn parsed(&self) -> &RobotsRef<'_> {
        self.cell.borrow_dependent()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of several lengths, so that the limit falls before, in, at the end of and after one.
    #[test]
    fn the_size_limit_is_that_of_the_borrowed_parser() {
        let line = "disallow: /0123456789\n";
        for shift in 0..line.len() {
            let mut body = "user-agent: *\n".to_owned() + &"#".repeat(shift) + "\n";
            body += &line.repeat(MAX_BODY / line.len() + 2);
            let owned = Robots::parse(body.as_str(), Profile::Google);
            let borrowed = RobotsRef::parse(body.as_bytes(), Profile::Google);
            let counts = [owned.parsed(), &borrowed].map(|robots| robots.groups()[0].rules().len());
            assert_eq!(counts[0], counts[1], "shifted by {shift}");
            assert!(counts[0] > 1000);
        }
    }

    #[test]
    fn clones_are_shared_between_threads() {
        let robots = Robots::parse(*b"user-agent: *\ndisallow: /x", Profile::Google);
        let clone = robots.clone();
        let rules = std::thread::spawn(move || clone.parsed().groups()[0].rules().len());
        assert_eq!(
            rules.join().unwrap(),
            robots.parsed().groups()[0].rules().len()
        );
    }
}
