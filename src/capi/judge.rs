//! Judges: create, ask about one URL, explain, close.

use super::options::{judge_options, robosieve_judge_options};
use super::pointers::{c_text, check_flags, close, output, reference, slice};
use super::snapshot::{json_text, robosieve_snapshot};
use super::status::{Failure, guard, guard_value, robosieve_status};
use super::verdict::number;
use crate::agent::Agent;
use crate::crawlers::add_agents;
use crate::crawlers::spell_check::{SpellCheck, UnnamedAgent};
use crate::judge::Judge;
use serde_json::{Value, json};
use std::ffi::{CString, c_char};
use std::ptr;
use std::sync::Arc;

/// A judge: a snapshot, agents and options. All functions except `robosieve_judge_close` may use it
/// from several threads at once.
pub struct robosieve_judge {
    pub(super) judge: Judge,
    /// The labels of the agents, for C.
    labels: Vec<CString>,
}

/// Creates a judge of URLs for some agents.
///
/// `agents` has `agent_count` names, each ending with a NUL byte. A name is a product token
/// (`GPTBot`), a chain (`Googlebot-Image:Googlebot`: the rules for the second name apply where no
/// group names the first), `*`, or a set (`@ai`, `@ai-train`, `@ai-search`, `@ai-user`,
/// `@ai-agent`, `@data-provider`, `@search`), which becomes its members. So ask the judge for the
/// number of its agents. `options` may be NULL, for the defaults.
///
/// `*out` is the judge, or NULL after an error. Close it with `robosieve_judge_close`. The judge
/// keeps the snapshot, so the snapshot may be closed before the judge.
///
/// Cost: some tens of microseconds. Create a judge once, and not per batch.
///
/// Errors: BAD_AGENT, BAD_ARGUMENT, CORRUPT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_judge_new(
    snapshot: *const robosieve_snapshot,
    agents: *const *const c_char,
    agent_count: usize,
    options: *const robosieve_judge_options,
    out: *mut *mut robosieve_judge,
) -> robosieve_status {
    guard(|| {
        // SAFETY: the caller keeps the contract of the module.
        let out = unsafe { output(out, 1, "out")? };
        out[0].write(ptr::null_mut());
        // SAFETY: as above.
        let (snapshot, agents, options) = unsafe {
            (
                reference(snapshot, "snapshot")?,
                parse_agents(agents, agent_count)?,
                judge_options(options)?,
            )
        };
        let judge = Judge::new(Arc::clone(&snapshot.snapshot), &agents, options)?;
        // A label has no NUL byte: it is a part of a text of C, or a row of the registry.
        let labels = agents
            .iter()
            .map(|agent| CString::new(agent.label()).unwrap_or_default())
            .collect();
        out[0].write(Box::into_raw(Box::new(robosieve_judge { judge, labels })));
        Ok(())
    })
}

/// The agents that an array of names selects.
///
/// # Safety
/// As the [module](super) states.
unsafe fn parse_agents(names: *const *const c_char, count: usize) -> Result<Vec<Agent>, Failure> {
    if count == 0 {
        return Err(Failure::bad_argument(
            "agent_count is 0; name at least one agent",
        ));
    }
    let mut agents = Vec::new();
    // SAFETY: as the caller guarantees.
    for (at, name) in unsafe { slice(names, count, "agents")? }.iter().enumerate() {
        // SAFETY: as above.
        add_agents(
            unsafe { agent_name(*name, &format!("agents[{at}]"))? },
            &mut agents,
        )?;
    }
    Ok(agents)
}

/// The name of an agent; `argument` is the name of the pointer.
///
/// # Safety
/// As the [module](super) states.
pub(super) unsafe fn agent_name<'a>(
    pointer: *const c_char,
    argument: &str,
) -> Result<&'a str, Failure> {
    // SAFETY: as the caller guarantees.
    let name = unsafe { c_text(pointer, argument)? };
    name.to_str().map_err(|_| Failure {
        status: robosieve_status::BadAgent,
        message: format!("agent {:?}: a name is UTF-8", name.to_string_lossy()),
    })
}

/// Looks for names of agents that look misspelled, as a JSON array.
///
/// It has an object for each agent of the judge that the registry of crawlers does not have:
/// `{"agent":"GTPBot","misspelled":[{"name":"GTPBot","suggestion":"GPTBot"}],"joined":[]}`. `misspelled`
/// is empty for a name that is close to none. `joined` has the names in a text such as
/// `GPTBot CCBot`, which names no agent because a separator is missing. Show these to the user: no
/// robots.txt can mean a name that does not exist, so its verdicts are those for everybody.
///
/// `*out` is the text in UTF-8, or NULL after an error. Free it with `robosieve_string_free`.
///
/// Cost: compares each such name with every name of the registry.
///
/// Errors: BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_judge_check_spelling(
    judge: *const robosieve_judge,
    out: *mut *mut c_char,
) -> robosieve_status {
    guard(|| {
        // SAFETY: the caller keeps the contract of the module.
        let (out, handle) = unsafe { (output(out, 1, "out")?, reference(judge, "judge")) };
        out[0].write(ptr::null_mut());
        let unnamed = SpellCheck::new(handle?.judge.agents()).finish();
        let agents: Vec<Value> = unnamed.iter().map(unnamed_to_json).collect();
        out[0].write(json_text(&agents)?);
        Ok(())
    })
}

fn unnamed_to_json(agent: &UnnamedAgent) -> Value {
    let misspelled = agent.misspelled.iter();
    let misspelled: Vec<Value> = misspelled
        .map(|found| json!({"name": found.name, "suggestion": found.suggestion}))
        .collect();
    json!({"agent": agent.label, "misspelled": misspelled, "joined": agent.joined})
}

/// The product token that the value of a `User-Agent` header names: the name that groups of a
/// robots.txt have.
///
/// `user_agent` has `user_agent_len` bytes. Bytes that are not UTF-8 end a name. A crawler after
/// `compatible;` counts, and not `Mozilla`. `*out` is the token in UTF-8, `*` if there is none, or NULL
/// after an error. Free it with `robosieve_string_free`.
///
/// Errors: BAD_ARGUMENT.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_product_token(
    user_agent: *const c_char,
    user_agent_len: usize,
    out: *mut *mut c_char,
) -> robosieve_status {
    guard(|| {
        // SAFETY: the caller keeps the contract of the module.
        let (out, header) = unsafe {
            (
                output(out, 1, "out")?,
                slice(user_agent.cast::<u8>(), user_agent_len, "user_agent"),
            )
        };
        out[0].write(ptr::null_mut());
        let header = String::from_utf8_lossy(header?);
        let token = Agent::from_user_agent(&header).label().to_owned();
        // A token has no control characters.
        out[0].write(CString::new(token).unwrap_or_default().into_raw());
        Ok(())
    })
}

/// The number of agents, which is the number of verdicts per URL. 0 if `judge` is NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_judge_agent_count(judge: *const robosieve_judge) -> usize {
    // SAFETY: the caller keeps the contract of the module.
    guard_value(0, || {
        unsafe { judge.as_ref() }.map_or(0, |handle| handle.labels.len())
    })
}

/// The name of an agent, from 0, as it was given or as the registry spells it.
///
/// NULL if there is no such agent, or `judge` is NULL. The text belongs to the judge and is valid
/// until the judge is closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_judge_agent_label(
    judge: *const robosieve_judge,
    agent: usize,
) -> *const c_char {
    guard_value(ptr::null(), || {
        // SAFETY: the caller keeps the contract of the module.
        let handle = unsafe { judge.as_ref() };
        handle
            .and_then(|handle| handle.labels.get(agent))
            .map_or(ptr::null(), |label| label.as_ptr())
    })
}

/// Judges one URL for all agents.
///
/// `url` has `url_len` bytes of any kind and needs no NUL byte. `verdicts` has room for
/// `verdicts_len` numbers, at least one per agent. It gets values of `robosieve_verdict` in the
/// order of the agents; numbers after the last agent do not change.
///
/// Cost: no allocation for a plain URL and up to 64 agents. For many URLs, the functions for rows
/// are faster.
///
/// Errors: BAD_ARGUMENT, CORRUPT. Text that is not a URL is a verdict, not an error.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_judge_url(
    judge: *const robosieve_judge,
    url: *const c_char,
    url_len: usize,
    verdicts: *mut i8,
    verdicts_len: usize,
) -> robosieve_status {
    guard(|| {
        // SAFETY: the caller keeps the contract of the module.
        let (handle, url) = unsafe {
            (
                reference(judge, "judge")?,
                slice(url.cast::<u8>(), url_len, "url")?,
            )
        };
        let agents = handle.labels.len();
        if verdicts_len < agents {
            let what = format!("verdicts has room for {verdicts_len} of {agents} agents");
            return Err(Failure::bad_argument(what));
        }
        // SAFETY: as above.
        let out = unsafe { output(verdicts, agents, "verdicts")? };
        let found = handle.judge.judge(url)?;
        out.iter_mut()
            .zip(found.iter())
            .for_each(|(cell, verdict)| _ = cell.write(number(verdict)));
        Ok(())
    })
}

/// Flags of `robosieve_explain`.
#[repr(u32)]
pub enum robosieve_explain_flag {
    /// List the rules that do not match, too.
    AllRules = 1,
}

/// Explains the verdict on one URL for one agent, as a JSON object.
///
/// The object is that of `robosieve check --json`, and docs/CHECK.md describes its keys: the
/// verdict, its basis, the origin, facts about the robots.txt, the deciding rule with its line, and
/// the rules that lost. `agent` is the number of the agent in the judge, from 0. `flags` is 0, or
/// values of `robosieve_explain_flag`.
///
/// `*out` is the text in UTF-8, or NULL after an error. Free it with `robosieve_string_free`. Texts
/// of sites are in it as they wrote them: escape control characters before you print them.
///
/// Cost: decompresses and parses the robots.txt, some tens of microseconds or more.
///
/// Errors: BAD_ARGUMENT; CORRUPT, also if the text of the robots.txt contradicts the verdict.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_explain(
    judge: *const robosieve_judge,
    url: *const c_char,
    url_len: usize,
    agent: usize,
    flags: u32,
    out: *mut *mut c_char,
) -> robosieve_status {
    guard(|| {
        // SAFETY: the caller keeps the contract of the module.
        let out = unsafe { output(out, 1, "out")? };
        out[0].write(ptr::null_mut());
        // SAFETY: as above.
        let (handle, url) = unsafe {
            (
                reference(judge, "judge")?,
                slice(url.cast::<u8>(), url_len, "url")?,
            )
        };
        check_flags(flags, robosieve_explain_flag::AllRules as u32)?;
        let Some(label) = handle.judge.agents().get(agent).map(Agent::label) else {
            let what = format!(
                "agent is {agent}, but the judge has {} agents",
                handle.labels.len()
            );
            return Err(Failure::bad_argument(what));
        };
        let why = handle.judge.explain(url, agent)?;
        out[0].write(json_text(&why.to_json(url, label, flags != 0))?);
        Ok(())
    })
}

/// Frees a text that a function of the library gave to the caller. NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_string_free(text: *mut c_char) {
    guard_value((), || {
        if !text.is_null() {
            // SAFETY: the caller guarantees that `json_text` made it, and that this is its end.
            drop(unsafe { CString::from_raw(text) });
        }
    });
}

/// Closes a judge. NULL is allowed. No other call may use the judge at the same time or later.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn robosieve_judge_close(judge: *mut robosieve_judge) {
    // SAFETY: the caller keeps the contract of the module.
    guard_value((), || unsafe { close(judge) });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What C gets for a URL: a verdict per agent, and the explanation for the first.
    fn answers(judge: &robosieve_judge, url: &str) -> ([i8; 2], CString) {
        let (mut verdicts, mut text) = ([-1; 2], ptr::null_mut());
        // SAFETY: lengths are those of the buffers, and the text came from the library.
        unsafe {
            let (start, len) = (url.as_ptr().cast(), url.len());
            let out = verdicts.as_mut_ptr();
            let status = robosieve_judge_url(judge, start, len, out, verdicts.len());
            assert_eq!(status, robosieve_status::Ok);
            let status = robosieve_explain(judge, start, len, 0, 0, &raw mut text);
            assert_eq!(status, robosieve_status::Ok);
            (verdicts, CString::from_raw(text))
        }
    }

    /// The header promises use from several threads. These verify blocks of one snapshot, read texts,
    /// and promote a rule set at the same time. `scripts/x sanitize --thread` looks for races.
    #[test]
    fn handles_are_shared_between_threads() {
        const THREADS: usize = 64;
        const SITES: usize = 100;
        let mut compiler = crate::compile::Compiler::default();
        let busy: String = (0..60)
            .map(|rule| format!("disallow: /{rule}/*.html$\n"))
            .collect();
        for site in 0..SITES {
            let rules = if site == 0 { &busy } else { "disallow: /1/\n" };
            let robots = format!("user-agent: a\n{rules}# {site}\n");
            compiler
                .add_robots(&format!("https://h{site}.example"), robots.as_bytes())
                .unwrap();
        }
        let bytes = compiler.finish().unwrap().to_vec().unwrap();
        let open = || {
            let agents = ["a", "b"].map(|name| name.parse().unwrap());
            let snapshot = crate::snapshot::Snapshot::new(bytes.clone()).unwrap();
            robosieve_judge {
                judge: Judge::new(snapshot, &agents, Default::default()).unwrap(),
                labels: vec![c"a".to_owned(), c"b".to_owned()],
            }
        };
        // Every other URL is one of the busy site. The last site is unknown.
        let urls: Vec<String> = (0..=2 * SITES)
            .map(|number| {
                let site = if number % 2 == 0 { number / 2 } else { 0 };
                format!("https://h{site}.example/{}/x.html", number % 90)
            })
            .collect();
        let (alone, shared) = (open(), open());
        let expected: Vec<_> = urls.iter().map(|url| answers(&alone, url)).collect();
        assert!((0..3).all(|code| expected.iter().any(|(verdicts, _)| verdicts[0] == code)));
        let start = std::sync::Barrier::new(THREADS);
        std::thread::scope(|scope| {
            for thread in 0..THREADS {
                let (shared, start, urls, expected) = (&shared, &start, &urls, &expected);
                scope.spawn(move || {
                    start.wait();
                    for round in 0..2 * urls.len() {
                        let row = (round + thread * urls.len() / THREADS) % urls.len();
                        assert!(
                            answers(shared, &urls[row]) == expected[row],
                            "{}",
                            urls[row]
                        );
                    }
                });
            }
        });
    }
}
