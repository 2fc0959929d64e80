//! The native methods of the Java classes `robosieve.Snapshot`, `Judge` and `Robots`.
//!
//! Each is a thin call of the library. Arrays are copied in and out, so the garbage collector never
//! waits. docs/JAVA.md has the contract.

mod failure;
mod handles;

use failure::{Failure, Throw};
use handles::{close, get, open};
use jni::objects::{
    JBooleanArray, JByteArray, JClass, JIntArray, JLongArray, JObject, JObjectArray, JString,
};
use jni::sys::{jboolean, jint, jlong};
use jni::{Env, NativeMethod, native_method};
use robosieve::crawlers::add_agents;
use robosieve::filter_lists::FilterLists;
use robosieve::judge::{Require, Rows, VerdictsRef};
use robosieve::robots::RuleKind;
use robosieve::{
    Agent, AgentMatch, Judge, JudgeOptions, NamedValue, Profile, Robots, RobotsRef, Snapshot,
};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Display;
use std::ops::Range;
use std::str::FromStr;
use std::time::Duration;

type Result<T> = std::result::Result<T, Failure>;

/// A `byte[]`, `int[]`, `long[]` and `String[]` of Java.
type Bytes<'l> = JByteArray<'l>;
type Ints<'l> = JIntArray<'l>;
type Longs<'l> = JLongArray<'l>;
type Strings<'l> = JObjectArray<'l, JString<'l>>;

/// Exports a function as the native method of a class, by the name that the virtual machine looks for.
macro_rules! export {
    ($class:literal, $($method:tt)*) => {
        const _: NativeMethod = native_method! {
            java_type = $class,
            error_policy = Throw,
            $($method)*
        };
    };
}

export!("robosieve.NativeObject", static extern fn free(handle: jlong));
fn free(_: &mut Env<'_>, _: JClass<'_>, handle: jlong) -> Result<()> {
    close(handle);
    Ok(())
}

export!("robosieve.Snapshot", static extern fn open_file(path: JString) -> jlong);
fn open_file(env: &mut Env<'_>, _: JClass<'_>, path: JString<'_>) -> Result<jlong> {
    Ok(open(Snapshot::open(path.try_to_string(env)?)?))
}

export!("robosieve.Snapshot", extern fn verify(snapshot: jlong));
fn verify(_: &mut Env<'_>, _: JObject<'_>, snapshot: jlong) -> Result<()> {
    Ok(get::<Snapshot>(snapshot)?.verify()?)
}

export!("robosieve.Snapshot",
    extern fn open_judge(snapshot: jlong, agents: [JString], options: [JString]) -> jlong);
fn open_judge<'l>(
    env: &mut Env<'l>,
    _: JObject<'l>,
    snapshot: jlong,
    agents: Strings<'l>,
    options: Strings<'l>,
) -> Result<jlong> {
    let mut selected = Vec::new();
    for agent in strings(env, &agents)? {
        add_agents(&agent, &mut selected)?;
    }
    if selected.is_empty() {
        let what = "no agents; name at least one".to_owned();
        return Err(Failure::Argument(what));
    }
    let mut given = JudgeOptions::default();
    let mut lists = None;
    // A name, its value, the next name, and so on.
    for pair in strings(env, &options)?.chunks_exact(2) {
        let [name, value] = [pair[0].as_str(), pair[1].as_str()];
        given = match name {
            "status-policy" => given.status_policy(Some(named(name, value)?)),
            "unknown" => given.unknown(Some(named(name, value)?)),
            "no-time" => given.no_time(named(name, value)?),
            "agent-match" => given.agent_match(named(name, value)?),
            "any-scheme" => given.any_scheme(parsed(name, value)?),
            "at" => given.at(parsed::<i64>(name, value)?),
            "as-of" => given.as_of(parsed::<i64>(name, value)?),
            "lists" => {
                lists = Some(FilterLists::open(value)?);
                given
            }
            _ => {
                let what = format!(
                    "{name:?} is not an option; give status-policy, unknown, no-time, agent-match, \
                     any-scheme, at, as-of or lists"
                );
                return Err(Failure::Argument(what));
            }
        };
    }
    let judge = Judge::new(get::<Snapshot>(snapshot)?, &selected, given)?;
    Ok(open(match lists {
        Some(lists) => judge.with_lists(lists),
        None => judge,
    }))
}

/// The value that a name selects, or an error that lists the names.
fn named<T: NamedValue>(option: &str, given: &str) -> Result<T> {
    if let Some((value, _)) = T::NAMES.iter().find(|(_, name)| *name == given) {
        return Ok(*value);
    }
    let names: Vec<&str> = T::NAMES.iter().map(|(_, name)| *name).collect();
    let names = names.join(", ");
    let what = format!("{option}: {given:?} is not one of {names}");
    Err(Failure::Argument(what))
}

/// A number, or `true` or `false`.
fn parsed<T: FromStr<Err: Display>>(option: &str, given: &str) -> Result<T> {
    given
        .parse()
        .map_err(|err| Failure::Argument(format!("{option}: {given:?}: {err}")))
}

export!("robosieve.Judge", extern fn agent_labels(judge: jlong) -> [JString]);
fn agent_labels<'l>(env: &mut Env<'l>, _: JObject<'l>, judge: jlong) -> Result<Strings<'l>> {
    let judge = get::<Judge>(judge)?;
    string_array(env, judge.agents().iter().map(Agent::label))
}

export!("robosieve.Judge",
    extern fn allow_rows(judge: jlong, data: [jbyte], offsets: [jint]) -> [jboolean]);
/// Whether all agents may fetch each row, and no list blocks it.
fn allow_rows<'l>(
    env: &mut Env<'l>,
    _: JObject<'l>,
    judge: jlong,
    data: Bytes<'l>,
    offsets: Ints<'l>,
) -> Result<JBooleanArray<'l>> {
    let column = Column::copy(env, data, offsets)?;
    let allowed = get::<Judge>(judge)?.allowed(column.rows(), Require::All)?;
    let array = JBooleanArray::new(env, allowed.len())?;
    array.set_region(env, 0, &allowed)?;
    Ok(array)
}

export!("robosieve.Judge",
    extern fn judge_rows(judge: jlong, data: [jbyte], offsets: [jint], times: [jlong]) -> [jbyte]);
/// The codes of verdicts; `times` is null, or has the time of each row.
fn judge_rows<'l>(
    env: &mut Env<'l>,
    _: JObject<'l>,
    judge: jlong,
    data: Bytes<'l>,
    offsets: Ints<'l>,
    times: Longs<'l>,
) -> Result<Bytes<'l>> {
    let judge = get::<Judge>(judge)?;
    let column = Column::copy(env, data, offsets)?;
    let len = column.rows().len().saturating_mul(judge.agents().len());
    if jint::try_from(len).is_err() {
        let what = format!("{len} verdicts exceed a Java array; judge fewer rows at a time");
        return Err(Failure::Argument(what));
    }
    let mut codes = Vec::with_capacity(len);
    // Neighbours with the same verdicts come in one call.
    let append = |rows: Range<usize>, verdicts: VerdictsRef<'_>| {
        for _ in rows {
            verdicts.append(|verdict| verdict.code() as u8, &mut codes);
        }
        Ok(())
    };
    if times.is_null() {
        judge.judge_rows(column.rows(), append)?;
    } else {
        let mut seconds = vec![0; times.len(env)?];
        times.get_region(env, 0, &mut seconds)?;
        let times = seconds.into_iter();
        let times: Vec<_> = times
            .map(|time| (time != i64::MIN).then_some(time))
            .collect();
        judge.judge_rows_as_of(column.rows(), &times, append)?;
    }
    Ok(env.byte_array_from_slice(&codes)?)
}

/// A column of texts, copied from Java.
struct Column {
    data: Vec<u8>,
    offsets: Vec<i32>,
}

impl Column {
    fn copy(env: &mut Env<'_>, data: Bytes<'_>, offsets: Ints<'_>) -> Result<Self> {
        let mut copied = vec![0; offsets.len(env)?];
        offsets.get_region(env, 0, &mut copied)?;
        Ok(Self {
            data: env.convert_byte_array(data)?,
            offsets: copied,
        })
    }

    fn rows(&self) -> Rows<'_> {
        Rows::Offsets32 {
            data: &self.data,
            offsets: &self.offsets,
        }
    }
}

export!("robosieve.Robots",
    static extern fn open_rules(body: [jbyte], profile: JString, names: [JString]) -> jlong);
fn open_rules<'l>(
    env: &mut Env<'l>,
    _: JClass<'l>,
    body: Bytes<'l>,
    profile: JString<'l>,
    names: Strings<'l>,
) -> Result<jlong> {
    let profile: Profile = named("profile", &profile.try_to_string(env)?)?;
    let names = strings(env, &names)?;
    let body = env.convert_byte_array(body)?;
    Ok(open(CrawlerRules::select(&body, profile, &names)?))
}

/// What a robots.txt says to one crawler, which may have several names.
struct CrawlerRules {
    /// A robots.txt with one group, for all agents.
    robots: Robots,
    everyone: Agent,
    /// What `Robots.java` answers from.
    facts: Vec<String>,
}

impl CrawlerRules {
    /// Merges the groups that name one of `names`, or those for everybody if there are none.
    fn select(body: &[u8], profile: Profile, names: &[String]) -> Result<Self> {
        let robots = RobotsRef::parse(body, profile);
        let how = AgentMatch::default();
        let everyone: Agent = "*".parse()?;
        let mut groups = BTreeSet::new();
        let mut delays = Vec::new();
        for name in names {
            let agent: Agent = name.parse()?;
            if let (named, Some(_)) = robots.groups_for(&agent, how) {
                groups.extend(named);
                delays.extend(robots.crawl_delay(&agent, how));
            }
        }
        let is_named = !groups.is_empty();
        if !is_named {
            groups.extend(robots.groups_for(&everyone, how).0);
            delays.extend(robots.crawl_delay(&everyone, how));
        }
        // A rule without a path matches nothing.
        let rules: Vec<_> = groups
            .iter()
            .flat_map(|&group| robots.groups()[group].rules())
            .filter(|rule| !rule.value().is_empty())
            .collect();
        // The lines as they are, so that they are parsed as in the whole file.
        let mut merged = b"user-agent: *\n".to_vec();
        for rule in &rules {
            merged.extend_from_slice(rule.text());
            merged.push(b'\n');
        }
        let allows_all = rules.iter().all(|rule| rule.kind() == RuleKind::Allow);
        let allows_nothing = rules.iter().all(|rule| rule.kind() == RuleKind::Disallow)
            && rules
                .iter()
                .any(|rule| [&b"/"[..], b"*", b"/*"].contains(&rule.value()));
        let delay = delays.iter().min().map(Duration::as_millis);
        let mut facts = vec![
            is_named.to_string(),
            allows_all.to_string(),
            allows_nothing.to_string(),
            delay.map_or(String::new(), |millis| millis.to_string()),
        ];
        let sitemaps = robots
            .sitemaps()
            .map(|line| String::from_utf8_lossy(line.value()));
        facts.extend(sitemaps.map(Cow::into_owned));
        Ok(Self {
            robots: Robots::parse(merged, profile),
            everyone,
            facts,
        })
    }
}

export!("robosieve.Robots", extern fn is_allowed(rules: jlong, url: [jbyte]) -> jboolean);
fn is_allowed<'l>(
    env: &mut Env<'l>,
    _: JObject<'l>,
    rules: jlong,
    url: Bytes<'l>,
) -> Result<jboolean> {
    let rules = get::<CrawlerRules>(rules)?;
    let url = env.convert_byte_array(url)?;
    Ok(rules.robots.allows(&rules.everyone, url))
}

export!("robosieve.Robots", extern fn list_facts(rules: jlong) -> [JString]);
fn list_facts<'l>(env: &mut Env<'l>, _: JObject<'l>, rules: jlong) -> Result<Strings<'l>> {
    let rules = get::<CrawlerRules>(rules)?;
    string_array(env, rules.facts.iter().map(String::as_str))
}

/// The texts of an array of Java.
fn strings(env: &mut Env<'_>, array: &Strings<'_>) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    for index in 0..array.len(env)? {
        texts.push(array.get_element(env, index)?.try_to_string(env)?);
    }
    Ok(texts)
}

/// An array of texts for Java.
fn string_array<'l, 't>(
    env: &mut Env<'l>,
    texts: impl ExactSizeIterator<Item = &'t str>,
) -> Result<Strings<'l>> {
    let array = Strings::new(env, texts.len(), JString::null())?;
    for (index, text) in texts.enumerate() {
        let text = JString::from_str(env, text)?;
        array.set_element(env, index, &text)?;
    }
    Ok(array)
}
