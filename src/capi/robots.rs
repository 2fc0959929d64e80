//! A parsed robots.txt: the parser for crawlers, which keep one object per site.

use super::judge::{agent_name, robosieve_explain_flag};
use super::options::{matching_of, policy_of};
use super::pointers::{check_flags, close, output, reference, slice};
use super::rows::column;
use super::snapshot::json_text;
use super::status::{Failure, guard, guard_value, robosieve_status};
use super::verdict::robosieve_verdict;
use crate::agent::Agent;
use crate::judge::{ExplainedRobots, Reason, Rows, StatusPolicy};
use crate::profile::Profile;
use crate::robots::{BodyFacts, Robots};
use std::ffi::{c_char, c_void};
use std::ptr;

/// A parsed robots.txt. All functions except `robosieve_robots_close` may use it from several
/// threads at once.
pub struct robosieve_robots {
    robots: Robots,
    /// Why it holds: anything but `Rules` is a response without rules.
    reason: Reason,
    /// The facts about the body as it was given.
    facts: BodyFacts,
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
        let robots = Robots::parse(body, profile_of(profile)?);
        out[0].write(new_handle(robots, Reason::Rules, body));
        Ok(())
    })
}

/// The robots.txt that one response stands for: the body of a 2xx, and for any other status one that
/// allows or disallows everything.
///
/// `status` is that of the last response after redirects, 404 after five redirects, or 0 if there was
/// none. `body` is as for `robosieve_robots_parse`: the client has removed the content codings.
/// `status_policy` is a value of `robosieve_status_policy`; SNAPSHOT stands for that of the profile.
/// A single response has no history, so a failing site disallows everything.
///
/// `*out` is the robots.txt, or NULL after an error. Close it with `robosieve_robots_close`.
///
/// Errors: BAD_ARGUMENT, also for 3xx: a redirect says nothing by itself, and 304 confirms the
/// robots.txt of before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_robots_from_response(
    status: i32,
    body: *const c_char,
    body_len: usize,
    profile: i32,
    status_policy: i32,
    out: *mut *mut robosieve_robots,
) -> robosieve_status {
    guard(|| {
        // SAFETY: the caller keeps the contract of the module.
        let out = unsafe { output(out, 1, "out")? };
        out[0].write(ptr::null_mut());
        // SAFETY: as above.
        let body = unsafe { slice(body.cast::<u8>(), body_len, "body")? };
        let profile = profile_of(profile)?;
        let policy = policy_of("status_policy", status_policy)?;
        let policy = policy.unwrap_or(StatusPolicy::of_profile(profile));
        let known = u16::try_from(status).ok().filter(|status| *status < 1000);
        let Some(found) = known.and_then(|status| policy.robots_of(status, body)) else {
            let what = match status {
                304 => "status is 304, which confirms the robots.txt of before".to_owned(),
                300..400 => format!(
                    "status is {status}, a redirect; follow it and give the last response, or 404 \
                     after five redirects"
                ),
                _ => format!("status is {status}; it must be from 0 to 999"),
            };
            return Err(Failure::bad_argument(what));
        };
        let robots = Robots::parse(found.text, profile);
        out[0].write(new_handle(robots, found.reason, body));
        Ok(())
    })
}

/// A handle for the caller to close. `body` is the one that was given.
fn new_handle(robots: Robots, reason: Reason, body: &[u8]) -> *mut robosieve_robots {
    let facts = BodyFacts::of(body);
    Box::into_raw(Box::new(robosieve_robots {
        robots,
        reason,
        facts,
    }))
}

/// The profile with a number of the header.
fn profile_of(profile: i32) -> Result<Profile, Failure> {
    match profile {
        0 => Ok(Profile::Google),
        1 => Ok(Profile::Rfc9309),
        other => {
            let what = format!("profile is {other}; values of robosieve_profile are 0 and 1");
            Err(Failure::bad_argument(what))
        }
    }
}

/// Whether an agent may fetch a URL: writes 1 to `*allowed`, or 0.
///
/// `agent` is a product token or a chain, as for `robosieve_judge_new`, but not a set; it ends with
/// a NUL byte. `url` has `url_len` bytes: a URL, or a path with its query that begins with `/`. Its
/// origin plays no part. `agent_match` is a value of `robosieve_agent_match`.
///
/// An empty `url` is the path `/`. Other text is not an error: it is judged by its part from the first
/// `/`, `?` or `;` on, or as `/`, so an agent in the place of the URL is allowed wherever `/` is.
///
/// Cost: each rule of the agent's groups is compared with the path. For many URLs, use
/// `robosieve_robots_rows32`; for many sites, compile a snapshot.
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

/// Whether an agent may fetch each URL of a column with 32-bit offsets: Arrow's `Utf8` and `Binary`.
///
/// `agent` and `agent_match` are as for `robosieve_robots_allows`, and so is each row. The column is
/// that of `robosieve_judge_rows32`. `verdicts` has room for `verdicts_len` numbers, at least
/// `row_count`. It gets `ROBOSIEVE_VERDICT_ALLOWED` or `ROBOSIEVE_VERDICT_DISALLOWED` for each row.
///
/// Cost: less than a microsecond per row for most files. For more than eight rows, the rules of the
/// agent are compiled first, which takes some microseconds. The robots.txt keeps them.
///
/// Errors: BAD_AGENT, BAD_ARGUMENT, BAD_COLUMN. After an error, the content of `verdicts` is
/// unspecified.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_robots_rows32(
    robots: *const robosieve_robots,
    agent: *const c_char,
    agent_match: i32,
    data: *const c_void,
    data_len: usize,
    offsets: *const i32,
    row_count: usize,
    verdicts: *mut i8,
    verdicts_len: usize,
) -> robosieve_status {
    guard(|| {
        // SAFETY: the caller keeps the contract of the module.
        let (data, offsets) = unsafe { column(data, data_len, offsets, row_count)? };
        let rows = Rows::Offsets32 { data, offsets };
        // SAFETY: as above.
        unsafe { judge_rows(robots, agent, agent_match, rows, verdicts, verdicts_len) }
    })
}

/// Whether an agent may fetch each URL of a column with 64-bit offsets: Arrow's `LargeUtf8` and
/// `LargeBinary`. Everything else is as for `robosieve_robots_rows32`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_robots_rows64(
    robots: *const robosieve_robots,
    agent: *const c_char,
    agent_match: i32,
    data: *const c_void,
    data_len: usize,
    offsets: *const i64,
    row_count: usize,
    verdicts: *mut i8,
    verdicts_len: usize,
) -> robosieve_status {
    guard(|| {
        // SAFETY: the caller keeps the contract of the module.
        let (data, offsets) = unsafe { column(data, data_len, offsets, row_count)? };
        let rows = Rows::Offsets64 { data, offsets };
        // SAFETY: as above.
        unsafe { judge_rows(robots, agent, agent_match, rows, verdicts, verdicts_len) }
    })
}

/// # Safety
/// As the [module](super) states.
unsafe fn judge_rows(
    robots: *const robosieve_robots,
    agent: *const c_char,
    agent_match: i32,
    rows: Rows<'_>,
    verdicts: *mut i8,
    verdicts_len: usize,
) -> Result<(), Failure> {
    let row_count = rows.len();
    if verdicts_len < row_count {
        let what = format!("verdicts has room for {verdicts_len} of {row_count} rows");
        return Err(Failure::bad_argument(what));
    }
    // SAFETY: as the caller guarantees.
    let (handle, agent, out) = unsafe {
        (
            reference(robots, "robots")?,
            parse_agent(agent)?,
            output(verdicts, row_count, "verdicts")?,
        )
    };
    let how = matching_of("agent_match", agent_match)?;
    let robots = handle.robots.parsed();
    robots.allows_rows(&agent, how, rows, |row, is_allowed| {
        let verdict = match is_allowed {
            true => robosieve_verdict::Allowed,
            false => robosieve_verdict::Disallowed,
        };
        out[row].write(verdict as i8);
    })?;
    Ok(())
}

/// Explains the verdict of a robots.txt on one URL for one agent, as a JSON object.
///
/// The object is that of `robosieve check --robots --json`, and docs/CHECK.md describes its keys. The
/// key `file` is null, and so are facts, rule and group for a response without rules. `agent`, `url`
/// and `agent_match` are as for `robosieve_robots_allows`. `flags` is 0, or values of
/// `robosieve_explain_flag`.
///
/// `*out` is the text in UTF-8, or NULL after an error. Free it with `robosieve_string_free`. Texts
/// of the site are in it as it wrote them: escape control characters before you print them.
///
/// Errors: BAD_AGENT, BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_robots_explain(
    robots: *const robosieve_robots,
    agent: *const c_char,
    url: *const c_char,
    url_len: usize,
    agent_match: i32,
    flags: u32,
    out: *mut *mut c_char,
) -> robosieve_status {
    guard(|| {
        // SAFETY: the caller keeps the contract of the module.
        let out = unsafe { output(out, 1, "out")? };
        out[0].write(ptr::null_mut());
        // SAFETY: as above.
        let (handle, agent, url) = unsafe {
            (
                reference(robots, "robots")?,
                parse_agent(agent)?,
                slice(url.cast::<u8>(), url_len, "url")?,
            )
        };
        let how = matching_of("agent_match", agent_match)?;
        check_flags(flags, robosieve_explain_flag::AllRules as u32)?;
        let explained = ExplainedRobots::new(handle.robots.parsed(), handle.reason, handle.facts);
        out[0].write(json_text(&explained.to_json(&agent, how, url, flags != 0))?);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::capi::judge::robosieve_string_free;
    use crate::capi::status::robosieve_status::{BadArgument, BadColumn, Ok};
    use std::ffi::CStr;

    const BODY: &[u8] =
        b"user-agent: a\ndisallow: /x\ncrawl-delay: 2\nsitemap: https://e.example/s\n";

    /// Every function of a robots.txt, through pointers as C has them. `scripts/x sanitize --miri`
    /// runs this, and checks the accesses; nothing here needs a C library.
    #[test]
    fn pointers_of_callers_are_used_as_promised() {
        let (url, mut handle) = (b"https://e.example/x", ptr::null_mut());
        // SAFETY: lengths are those of the buffers, and no handle is used after its end.
        unsafe {
            let body = BODY.as_ptr().cast();
            assert_eq!(
                robosieve_robots_parse(body, BODY.len(), 0, &raw mut handle),
                Ok
            );
            let (agent, address) = (c"a".as_ptr(), url.as_ptr().cast());
            let mut allowed = -1;
            let ask = |robots, allowed| {
                robosieve_robots_allows(robots, agent, address, url.len(), 0, allowed)
            };
            assert_eq!((ask(handle, &raw mut allowed), allowed), (Ok, 0));
            assert_eq!(ask(ptr::null(), &raw mut allowed), BadArgument);
            assert_eq!(ask(handle, ptr::null_mut()), BadArgument);

            // The last row is empty, and ends where the data does.
            let (data, mut verdicts) = (b"https://e.example/x/y", [9i8; 3]);
            for (offsets, wanted) in [([0i32, 19, 21, 21], Ok), ([0, 22, 21, 21], BadColumn)] {
                let status = robosieve_robots_rows32(
                    handle,
                    agent,
                    0,
                    data.as_ptr().cast(),
                    data.len(),
                    offsets.as_ptr(),
                    3,
                    verdicts.as_mut_ptr(),
                    verdicts.len(),
                );
                assert_eq!(status, wanted);
            }
            assert_eq!(verdicts, [0, 1, 1]);

            let mut text = ptr::null_mut();
            let status =
                robosieve_robots_explain(handle, agent, address, url.len(), 0, 0, &raw mut text);
            assert_eq!(status, Ok);
            assert!(CStr::from_ptr(text).to_str().unwrap().contains("\"/x\""));
            robosieve_string_free(text);

            let (mut seconds, mut len) = (0.0, 0);
            assert_eq!(
                robosieve_robots_crawl_delay(handle, agent, 0, &raw mut seconds),
                Ok
            );
            assert_eq!((seconds, robosieve_robots_sitemap_count(handle)), (2.0, 1));
            let sitemap = robosieve_robots_sitemap(handle, 0, &raw mut len);
            assert_eq!(
                std::slice::from_raw_parts(sitemap.cast::<u8>(), len),
                b"https://e.example/s"
            );
            assert!(robosieve_robots_sitemap(handle, 1, &raw mut len).is_null() && len == 0);
            robosieve_robots_close(handle);
            robosieve_robots_close(ptr::null_mut());
        }
    }
}
