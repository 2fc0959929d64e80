//! A parsed robots.txt: the parser for crawlers, which keep one object per site.

use super::judge::agent_name;
use super::options::matching_of;
use super::pointers::{close, output, reference, slice};
use super::status::{Failure, guard, guard_value, robosieve_status};
use crate::agent::Agent;
use crate::profile::Profile;
use crate::robots::Robots;
use std::ffi::c_char;
use std::ptr;

/// A parsed robots.txt. All functions except `robosieve_robots_close` may use it from several
/// threads at once.
pub struct robosieve_robots {
    robots: Robots,
}

/// The parser that is reproduced.
#[repr(i32)]
pub enum robosieve_profile {
    /// Google's open-source parser.
    Google = 0,
    /// RFC 9309 to the letter.
    Rfc9309 = 1,
}

/// Parses the body of a robots.txt, as the server sent it after content decoding.
///
/// `body` has `body_len` bytes of any kind, of which the first 500 KiB count (RFC 9309 §2.5); they
/// are copied. `profile` is a value of `robosieve_profile`. Every body can be parsed: HTML is a
/// robots.txt without rules. What a status other than 2xx means is decided by the caller.
///
/// `*out` is the robots.txt, or NULL after an error. Close it with `robosieve_robots_close`.
///
/// Cost: one pass over the bytes, some microseconds for most files.
///
/// Errors: BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_robots_parse(
    body: *const c_char,
    body_len: usize,
    profile: i32,
    out: *mut *mut robosieve_robots,
) -> robosieve_status {
    guard(|| {
        // SAFETY: the caller keeps the contract of the module.
        let out = unsafe { output(out, 1, "out")? };
        out[0].write(ptr::null_mut());
        // SAFETY: as above.
        let body = unsafe { slice(body.cast::<u8>(), body_len, "body")? };
        let profile = match profile {
            0 => Profile::Google,
            1 => Profile::Rfc9309,
            other => {
                let what = format!("profile is {other}; values of robosieve_profile are 0 and 1");
                return Err(Failure::bad_argument(what));
            }
        };
        let robots = Robots::parse(body, profile);
        out[0].write(Box::into_raw(Box::new(robosieve_robots { robots })));
        Ok(())
    })
}

/// Whether an agent may fetch a URL: writes 1 to `*allowed`, or 0.
///
/// `agent` is a product token or a chain, as for `robosieve_judge_new`, but not a set; it ends with
/// a NUL byte. `url` has `url_len` bytes: a URL, or a path with its query that begins with `/`. Its
/// origin plays no part. `agent_match` is a value of `robosieve_agent_match`.
///
/// Cost: each rule of the agent's groups is compared with the path. For many URLs, compile a
/// snapshot.
///
/// Errors: BAD_AGENT, BAD_ARGUMENT. After an error, `*allowed` is 0.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_robots_allows(
    robots: *const robosieve_robots,
    agent: *const c_char,
    url: *const c_char,
    url_len: usize,
    agent_match: i32,
    allowed: *mut i32,
) -> robosieve_status {
    guard(|| {
        // SAFETY: the caller keeps the contract of the module.
        let out = unsafe { output(allowed, 1, "allowed")? };
        out[0].write(0);
        // SAFETY: as above.
        let (handle, agent, url) = unsafe {
            (
                reference(robots, "robots")?,
                parse_agent(agent)?,
                slice(url.cast::<u8>(), url_len, "url")?,
            )
        };
        let how = matching_of("agent_match", agent_match)?;
        let is_allowed = handle.robots.parsed().allows_with(&agent, how, url);
        out[0].write(i32::from(is_allowed));
        Ok(())
    })
}

/// The delay between requests that a robots.txt asks of an agent: writes seconds to `*seconds`, or
/// -1 if it asks for none.
///
/// `agent` and `agent_match` are as for `robosieve_robots_allows`. `Crawl-delay` is no part of RFC 9309.
///
/// Errors: BAD_AGENT, BAD_ARGUMENT. After an error, `*seconds` is -1.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_robots_crawl_delay(
    robots: *const robosieve_robots,
    agent: *const c_char,
    agent_match: i32,
    seconds: *mut f64,
) -> robosieve_status {
    guard(|| {
        // SAFETY: the caller keeps the contract of the module.
        let out = unsafe { output(seconds, 1, "seconds")? };
        out[0].write(-1.0);
        // SAFETY: as above.
        let (handle, agent) = unsafe { (reference(robots, "robots")?, parse_agent(agent)?) };
        let how = matching_of("agent_match", agent_match)?;
        if let Some(delay) = handle.robots.parsed().crawl_delay(&agent, how) {
            out[0].write(delay.as_secs_f64());
        }
        Ok(())
    })
}

/// The number of sitemaps of a robots.txt. 0 if `robots` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_robots_sitemap_count(robots: *const robosieve_robots) -> usize {
    guard_value(0, || {
        // SAFETY: the caller keeps the contract of the module.
        let handle = unsafe { robots.as_ref() };
        handle.map_or(0, |handle| handle.robots.parsed().sitemaps().count())
    })
}

/// The sitemap with a number, from 0: its first byte, and its length in `*len`.
///
/// NULL, with a length of 0, if there is no such sitemap, or an argument is NULL. The bytes are as
/// the site wrote them, without NUL at the end. They belong to the robots.txt and are valid until it
/// is closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_robots_sitemap(
    robots: *const robosieve_robots,
    number: usize,
    len: *mut usize,
) -> *const c_char {
    guard_value(ptr::null(), || {
        // SAFETY: the caller keeps the contract of the module.
        let (handle, len) = unsafe { (robots.as_ref(), len.as_mut()) };
        let Some(len) = len else { return ptr::null() };
        *len = 0;
        let sitemap = handle.and_then(|handle| handle.robots.parsed().sitemaps().nth(number));
        sitemap.map_or(ptr::null(), |sitemap| {
            *len = sitemap.value().len();
            sitemap.value().as_ptr().cast()
        })
    })
}

/// Closes a robots.txt. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_robots_close(robots: *mut robosieve_robots) {
    // SAFETY: the caller keeps the contract of the module.
    guard_value((), || unsafe { close(robots) });
}

/// The agent of a name.
///
/// # Safety
/// As the [module](super) states.
unsafe fn parse_agent(name: *const c_char) -> Result<Agent, Failure> {
    // SAFETY: as the caller guarantees.
    Ok(unsafe { agent_name(name, "agent")? }.parse()?)
}
