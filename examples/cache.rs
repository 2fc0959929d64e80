//! The cache of a crawler: one robots.txt per origin, made from the response that the site sent.
//!
//! `Robots` owns its bytes and is `Send + Sync`, so a cache holds it, and a clone is cheap.

use robosieve::judge::{Reason, StatusPolicy};
use robosieve::{Agent, Origin, Profile, Robots};
use std::collections::HashMap;

/// The robots.txt of each origin that was asked.
#[derive(Default)]
struct Cache {
    sites: HashMap<Origin, Robots>,
}

impl Cache {
    /// Keeps what a response to `GET /robots.txt` says. Status 0 stands for no response. A redirect
    /// says nothing: follow it, and insert the last response.
    fn insert(&mut self, origin: Origin, status: u16, body: &[u8]) -> Option<Reason> {
        let response = StatusPolicy::Google.robots_of(status, body)?;
        let robots = Robots::parse(response.text, Profile::Google);
        self.sites.insert(origin, robots);
        Some(response.reason)
    }

    /// Whether the agent may fetch a URL; `None` if the robots.txt of its origin has to be fetched
    /// first, or the text is not a URL.
    fn allows(&self, agent: &Agent, url: &str) -> Option<bool> {
        let origin = Origin::of(url.as_bytes())?;
        Some(self.sites.get(&origin)?.allows(agent, url))
    }
}

fn main() -> Result<(), robosieve::Error> {
    let agent: Agent = "FooBot".parse()?;
    let origin = |url: &str| Origin::of(url.as_bytes()).expect("a URL");
    let mut cache = Cache::default();

    let robots = b"User-agent: *\nDisallow: /cart\n";
    cache.insert(origin("https://shop.example"), 200, robots);
    assert_eq!(
        cache.allows(&agent, "https://SHOP.example:443/tea"),
        Some(true)
    );
    assert_eq!(
        cache.allows(&agent, "https://shop.example/cart/1"),
        Some(false)
    );

    // A missing robots.txt allows everything, a failing server nothing.
    let missing = cache.insert(origin("https://news.example"), 404, b"<h1>Not found</h1>");
    let failing = cache.insert(origin("https://blog.example"), 503, b"");
    assert_eq!(
        cache.allows(&agent, "https://news.example/cart"),
        Some(true)
    );
    assert_eq!(cache.allows(&agent, "https://blog.example/"), Some(false));

    // Of other origins nothing is known yet; http and https are two origins.
    assert_eq!(cache.allows(&agent, "http://shop.example/tea"), None);
    for reason in [missing, failing].into_iter().flatten() {
        println!("{}: {}", reason.name(), reason.description());
    }
    Ok(())
}
