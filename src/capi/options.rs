//! The options of a judge, in a struct that can grow.

use super::pointers::slice;
use super::status::Failure;
use crate::agent::AgentMatch;
use crate::judge::{JudgeOptions, NoTime, Require, StatusPolicy, UnknownOrigin};
use std::mem::MaybeUninit;

/// The meaning of answers other than 2xx.
#[repr(i32)]
pub enum robosieve_status_policy {
    /// The policy of the snapshot's profile: GOOGLE or RFC9309.
    Snapshot = 0,
    /// As GOOGLE2023: 4xx except 429 allows. 429, 5xx and network errors disallow for 30 days, then
    /// the last good copy applies.
    Google = 1,
    /// 4xx allows. 5xx and network errors disallow for 30 days, then they allow.
    Rfc9309 = 2,
    /// Unknown origins, redirects to a URL that was not captured, 401, 403, 429, 5xx and network
    /// errors disallow.
    Strict = 3,
    /// Google's specification of 2012: 4xx allows. 5xx and network errors disallow, however long
    /// they last.
    Google2012 = 4,
    /// Google's specification of 2019: 4xx allows. 5xx and network errors disallow for 30 days, then
    /// the last good copy applies.
    Google2019 = 5,
    /// Google's specification of 2023.
    Google2023 = 6,
    /// Google's documentation as of April 2026: 4xx except 429 allows. 429, 5xx and network errors
    /// disallow for 12 hours, then the last good copy applies; from 30 days on they allow.
    Google2026 = 7,
}

/// The verdict on URLs of origins that the snapshot does not contain.
#[repr(i32)]
pub enum robosieve_unknown_origin {
    /// `ROBOSIEVE_VERDICT_UNKNOWN`; with the policy STRICT, disallowed.
    Unknown = 0,
    /// All agents may fetch them.
    Allow = 1,
    /// No agent may fetch them.
    Disallow = 2,
}

/// How agents are compared with user-agent lines.
#[repr(i32)]
pub enum robosieve_agent_match {
    /// As Google's parser; in addition, a name outside RFC 9309's alphabet (`MJ12bot`) is compared
    /// as a whole.
    Extended = 0,
    /// Only as Google's parser: no group can name an agent outside the alphabet.
    Google = 1,
}

/// The number of agents that must be allowed to fetch a row, for it to count as allowed.
#[repr(i32)]
pub enum robosieve_require {
    /// All agents of the judge.
    All = 0,
    /// One agent or more.
    Any = 1,
}

/// Options of a judge. Zeros are the defaults, so a program sets `size` and what it needs:
/// `robosieve_judge_options options = {.size = sizeof options, .any_scheme = 1};`
///
/// Later versions may add members at the end. A larger struct is accepted if the members that this
/// version does not know are zero.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct robosieve_judge_options {
    /// The size of the struct in bytes, `sizeof(robosieve_judge_options)`.
    pub size: usize,
    /// A value of `robosieve_status_policy`.
    pub status_policy: i32,
    /// A value of `robosieve_unknown_origin`.
    pub unknown_origin: i32,
    /// A value of `robosieve_agent_match`.
    pub agent_match: i32,
    /// 1: use the http entry for https URLs, and the reverse, if only one exists.
    pub any_scheme: i32,
    /// 1: judge failing sites at the time `at`. 0: at the time of their newest capture, so that
    /// verdicts depend on the snapshot alone.
    pub has_at: i32,
    /// Seconds since 1970, used if `has_at` is 1.
    pub at: i64,
    /// Seconds since 1970, used if `has_as_of` is 1.
    pub as_of: i64,
    /// 1: judge by the rules in force at the time `as_of`, of a snapshot with a history. 0: by the
    /// newest rules.
    pub has_as_of: i32,
    /// A value of `robosieve_no_time`.
    pub no_time: i32,
}

/// The verdict on a row without a time, where each row is judged as of its own.
#[repr(i32)]
pub enum robosieve_no_time {
    /// That on URLs of origins that the snapshot does not contain.
    Unknown = 0,
    /// That of the newest rules.
    Newest = 1,
}

/// The size of the options in the first version of this interface, up to `at`.
const FIRST_SIZE: usize = 40;
const _: () = assert!(std::mem::offset_of!(robosieve_judge_options, as_of) == FIRST_SIZE);

/// The size of the options in this version.
const SIZE: usize = 56;
const _: () = assert!(size_of::<robosieve_judge_options>() == SIZE);

/// The largest size that is read. A larger number comes from memory that nobody initialised.
const MAX_SIZE: usize = 4096;

/// The options behind a pointer; the defaults for NULL.
///
/// # Safety
/// As the [module](super) states: there are as many bytes as the first member says.
pub(super) unsafe fn judge_options(
    options: *const robosieve_judge_options,
) -> Result<JudgeOptions, Failure> {
    if options.is_null() {
        return Ok(JudgeOptions::default());
    }
    // SAFETY: the first member is there in every version. `slice` checks the alignment.
    let size = unsafe { slice(options.cast::<usize>(), 1, "options")?[0] };
    if !(FIRST_SIZE..=MAX_SIZE).contains(&size) {
        let what = format!("options->size is {size}; set it to sizeof(robosieve_judge_options)");
        return Err(Failure::bad_argument(what));
    }
    // SAFETY: there are `size` bytes.
    let bytes = unsafe { slice(options.cast::<u8>(), size, "options")? };
    // Members that an earlier version lacks are zero, their defaults.
    let known = size.min(SIZE);
    let mut given = MaybeUninit::<robosieve_judge_options>::zeroed();
    // SAFETY: both have `known` bytes. Any bytes are valid numbers.
    let given = unsafe {
        let copy = given.as_mut_ptr().cast::<u8>();
        copy.copy_from_nonoverlapping(bytes.as_ptr(), known);
        given.assume_init()
    };
    if bytes[known..].iter().any(|byte| *byte != 0) {
        return Err(Failure::bad_argument(
            "options has a member that this version of robosieve does not know",
        ));
    }
    convert(&given)
}

fn convert(given: &robosieve_judge_options) -> Result<JudgeOptions, Failure> {
    // 0 selects the default of a member, so that a zeroed struct is valid.
    let status_policy = policy_of("options->status_policy", given.status_policy)?;
    let unknown = match given.unknown_origin {
        0 => None,
        1 => Some(UnknownOrigin::Allow),
        2 => Some(UnknownOrigin::Disallow),
        other => return Err(bad_value("options->unknown_origin", other, 2)),
    };
    let agent_match = matching_of("options->agent_match", given.agent_match)?;
    let no_time = match given.no_time {
        0 => NoTime::Unknown,
        1 => NoTime::Newest,
        other => return Err(bad_value("options->no_time", other, 1)),
    };
    let has_as_of = flag("options->has_as_of", given.has_as_of)?;
    Ok(JudgeOptions::default()
        .status_policy(status_policy)
        .unknown(unknown)
        .agent_match(agent_match)
        .any_scheme(flag("options->any_scheme", given.any_scheme)?)
        .at(flag("options->has_at", given.has_at)?.then_some(given.at))
        .as_of(has_as_of.then_some(given.as_of))
        .no_time(no_time))
}

/// The policy that a value of `robosieve_status_policy` selects; `None` for the default.
pub(super) fn policy_of(name: &str, value: i32) -> Result<Option<StatusPolicy>, Failure> {
    match value {
        0 => Ok(None),
        1 => Ok(Some(StatusPolicy::Google)),
        2 => Ok(Some(StatusPolicy::Rfc9309)),
        3 => Ok(Some(StatusPolicy::Strict)),
        4 => Ok(Some(StatusPolicy::Google2012)),
        5 => Ok(Some(StatusPolicy::Google2019)),
        6 => Ok(Some(StatusPolicy::Google2023)),
        7 => Ok(Some(StatusPolicy::Google2026)),
        other => Err(bad_value(name, other, 7)),
    }
}

/// The matching that a value of `robosieve_agent_match` selects.
pub(super) fn matching_of(name: &str, value: i32) -> Result<AgentMatch, Failure> {
    match value {
        0 => Ok(AgentMatch::Extended),
        1 => Ok(AgentMatch::Google),
        other => Err(bad_value(name, other, 1)),
    }
}

/// The number of agents that a value of `robosieve_require` selects.
pub(super) fn require_of(name: &str, value: i32) -> Result<Require, Failure> {
    match value {
        0 => Ok(Require::All),
        1 => Ok(Require::Any),
        other => Err(bad_value(name, other, 1)),
    }
}

fn flag(name: &str, value: i32) -> Result<bool, Failure> {
    match value {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(bad_value(name, other, 1)),
    }
}

fn bad_value(name: &str, value: i32, last: i32) -> Failure {
    Failure::bad_argument(format!("{name} is {value}; it must be from 0 to {last}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers of the header are the numbers that `convert` accepts.
    #[test]
    fn every_constant_has_its_meaning() {
        let given = |status_policy, unknown_origin, agent_match, has_at| robosieve_judge_options {
            size: SIZE,
            status_policy,
            unknown_origin,
            agent_match,
            any_scheme: 1 - has_at,
            has_at,
            at: 5,
            as_of: 6,
            has_as_of: 0,
            no_time: 0,
        };
        use robosieve_agent_match as matching;
        use robosieve_status_policy as policy;
        use robosieve_unknown_origin as unknown;
        let default = JudgeOptions::default();
        for (options, expected) in [
            (
                given(
                    policy::Snapshot as i32,
                    unknown::Unknown as i32,
                    matching::Extended as i32,
                    1,
                ),
                default.at(5),
            ),
            (
                given(
                    policy::Google as i32,
                    unknown::Allow as i32,
                    matching::Google as i32,
                    0,
                ),
                default
                    .status_policy(StatusPolicy::Google)
                    .unknown(UnknownOrigin::Allow)
                    .agent_match(AgentMatch::Google)
                    .any_scheme(true),
            ),
            (
                given(policy::Rfc9309 as i32, unknown::Disallow as i32, 0, 0),
                default
                    .status_policy(StatusPolicy::Rfc9309)
                    .unknown(UnknownOrigin::Disallow)
                    .any_scheme(true),
            ),
            (
                given(policy::Strict as i32, 0, 0, 1),
                default.status_policy(StatusPolicy::Strict).at(5),
            ),
        ] {
            assert_eq!(convert(&options).unwrap(), expected);
        }
    }

    /// The number of each policy of the library: a new one does not compile without its own.
    fn number(policy: StatusPolicy) -> robosieve_status_policy {
        use robosieve_status_policy as number;
        match policy {
            StatusPolicy::Google => number::Google,
            StatusPolicy::Google2012 => number::Google2012,
            StatusPolicy::Google2019 => number::Google2019,
            StatusPolicy::Google2023 => number::Google2023,
            StatusPolicy::Google2026 => number::Google2026,
            StatusPolicy::Rfc9309 => number::Rfc9309,
            StatusPolicy::Strict => number::Strict,
        }
    }

    #[test]
    fn every_number_of_required_agents_has_its_meaning() {
        let values = [
            (robosieve_require::All, Require::All),
            (robosieve_require::Any, Require::Any),
        ];
        for (value, expected) in values {
            assert_eq!(require_of("require", value as i32).unwrap(), expected);
        }
        assert!(require_of("require", 2).is_err() && require_of("require", -1).is_err());
    }

    #[test]
    fn every_status_policy_has_a_number() {
        for value in 1..=7 {
            let policy = policy_of("status_policy", value).unwrap().unwrap();
            assert_eq!(number(policy) as i32, value);
        }
        assert!(policy_of("status_policy", 8).is_err());
        assert!(policy_of("status_policy", -1).is_err());
    }
}
