//! One parsed robots.txt, with the agents that it was asked about last.

use crate::column::{text_bytes, url_arrays, url_bytes};
use crate::errors::{caught, detached, exception};
use crate::judging::{map_texts, nulls};
use crate::options::{named, one_of};
use crate::result_array::Array;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use robosieve::compile::decode_body;
use robosieve::judge::{ExplainedRobots, Reason, StatusPolicy, Verdict, explain, is_url_or_path};
use robosieve::lint::{Finding, lint};
use robosieve::preferences::{PreferenceExplanation, explain_preferences};
use robosieve::robots::{BodyFacts, OtherField};
use robosieve::{Agent, AgentMatch, Profile};
use serde_json::Value;
use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

/// The most agents that a robots.txt remembers.
const AGENTS: usize = 8;

/// A larger body is parsed without the interpreter's lock. A smaller one takes less than 0.1 ms.
const LARGE: usize = 32 << 10;

/// A parsed robots.txt.
#[pyclass(frozen, subclass, module = "robosieve._native")]
pub(crate) struct Robots {
    robots: robosieve::Robots,
    /// The length of the body as it was given; the parsed one ends after 500 KiB.
    body_len: usize,
    /// Why this robots.txt holds: anything but `Rules` is a response without rules.
    reason: Reason,
    /// The agents that were asked about last, the newest first.
    agents: Mutex<Vec<CachedAgent>>,
}

/// An agent under the name that a caller gave.
struct CachedAgent {
    name: String,
    agent: Arc<Agent>,
}

impl CachedAgent {
    fn new(name: &str) -> PyResult<Self> {
        if name.contains(',') {
            return Err(PyValueError::new_err(format!(
                "agent={name:?}: no name has a comma; ask about one agent at a time"
            )));
        }
        Ok(Self {
            name: name.to_owned(),
            agent: Arc::new(name.parse().map_err(exception)?),
        })
    }
}

/// The bytes of a URL or path for a method.
///
/// # Errors
/// `ValueError` for other text, most likely two arguments in the wrong order. A rule would not match
/// it, so the answer would be "allowed".
fn url_or_path_bytes<'o>(
    method: &str,
    url_or_path: &'o Bound<'_, PyAny>,
) -> PyResult<Cow<'o, [u8]>> {
    let text = url_bytes(url_or_path)?;
    if is_url_or_path(&text) {
        return Ok(text);
    }
    let shown = url_or_path.repr()?;
    Err(PyValueError::new_err(format!(
        "url_or_path={shown}: neither a URL with a scheme and a host nor a path that begins with /; \
         the agent comes first: {method}(agent, url_or_path)"
    )))
}

/// The argument `agent`: one name.
///
/// # Errors
/// `TypeError` for other types, such as a list of names.
fn agent_argument<'a>(given: &'a Bound<'_, PyAny>) -> PyResult<&'a str> {
    let Ok(name) = given.cast::<PyString>() else {
        let kind = given.get_type().fully_qualified_name()?;
        return Err(PyTypeError::new_err(format!(
            "agent is of type {kind}; give the name of one agent, such as \"GPTBot\", before the URL"
        )));
    };
    name.to_str()
}

impl Robots {
    /// The agent with a name, which is then the newest of those that are remembered.
    fn agent(&self, name: &str) -> PyResult<Arc<Agent>> {
        let mut agents = self.agents.lock().unwrap_or_else(PoisonError::into_inner);
        match agents.iter().position(|cached| cached.name == name) {
            Some(0) => {}
            Some(number) => agents[..=number].rotate_right(1),
            None => {
                let agent = CachedAgent::new(name)?;
                agents.truncate(AGENTS - 1);
                agents.insert(0, agent);
            }
        }
        Ok(Arc::clone(&agents[0].agent))
    }

    /// The explanation of a verdict as JSON, with the keys of `robosieve check --robots --json`.
    fn explanation(&self, agent: &Agent, how: AgentMatch, url: &[u8], all: bool) -> Value {
        let body = self.robots.body();
        let mut facts = BodyFacts::of(body);
        facts.bytes = self.body_len;
        facts.ignored_bytes += self.body_len.saturating_sub(body.len());
        ExplainedRobots::new(self.robots.parsed(), self.reason, facts).to_json(agent, how, url, all)
    }

    /// The preferences about a URL with this verdict.
    fn preferences_under(
        &self,
        agent: &Agent,
        how: AgentMatch,
        url: &[u8],
        verdict: Verdict,
    ) -> PreferenceExplanation {
        let mut found = explain_preferences(self.robots.parsed(), agent, how, url);
        if verdict == Verdict::Disallowed {
            found.preferences = found.preferences.of_refused_url();
        }
        found
    }
}

#[pymethods]
impl Robots {
    /// Parses a body. `reason` and `body_len` are those of a pickled object.
    #[new]
    #[pyo3(signature = (body, profile = "google", reason = "rules", body_len = None))]
    fn new(
        py: Python<'_>,
        body: &Bound<'_, PyAny>,
        profile: &str,
        reason: &str,
        body_len: Option<usize>,
    ) -> PyResult<Self> {
        let profile: Profile = named("profile", profile)?;
        let reason = one_of(
            "reason",
            reason,
            &Reason::ALL.map(|reason| (reason, reason.name())),
        )?;
        let body = text_bytes(body, "the body of a robots.txt is bytes or str")?;
        let parse = || Ok(robosieve::Robots::parse(&*body, profile));
        let robots = if body.len() > LARGE {
            detached(py, parse)?
        } else {
            caught(parse)?
        };
        Ok(Self {
            robots,
            body_len: body_len.unwrap_or(body.len()),
            reason,
            agents: Mutex::default(),
        })
    }

    /// The arguments that make an equal object: `(body, profile, reason, body_len)`.
    fn arguments<'py>(
        &self,
        py: Python<'py>,
    ) -> (Bound<'py, PyBytes>, &'static str, &'static str, usize) {
        let body = PyBytes::new(py, self.robots.body());
        (body, self.profile(), self.reason(), self.body_len)
    }

    /// The parser that is reproduced.
    #[getter]
    fn profile(&self) -> &'static str {
        self.robots.parsed().profile().name()
    }

    /// Why this robots.txt holds.
    #[getter]
    fn reason(&self) -> &'static str {
        self.reason.name()
    }

    /// The numbers of groups and of rules.
    fn counts(&self) -> (usize, usize) {
        let groups = self.robots.parsed().groups();
        (
            groups.len(),
            groups.iter().map(|group| group.rules().len()).sum(),
        )
    }

    /// Whether an agent may fetch a URL, which may be a path that begins with `/`.
    ///
    /// `agent` is the product token of the crawler, such as `"GPTBot"`, a chain of fallbacks,
    /// `"Googlebot-Image:Googlebot"`, or `"*"`. Text that is neither a URL nor a path raises
    /// ValueError; an empty text is the path `/`.
    #[pyo3(signature = (agent, url_or_path, *, agent_match = None))]
    fn allows(
        &self,
        #[pyo3(from_py_with = agent_argument)] agent: &str,
        url_or_path: &Bound<'_, PyAny>,
        agent_match: Option<&str>,
    ) -> PyResult<bool> {
        let how = match agent_match {
            None => AgentMatch::Extended,
            Some(name) => named("agent_match", name)?,
        };
        let url = url_or_path_bytes("allows", url_or_path)?;
        caught(|| {
            let agent = self.agent(agent)?;
            Ok(self.robots.parsed().allows_with(&agent, how, &*url))
        })
    }

    /// One verdict per URL or path; other text is not a URL.
    fn verdict_column(
        &self,
        py: Python<'_>,
        #[pyo3(from_py_with = agent_argument)] agent: &str,
        urls: &Bound<'_, PyAny>,
        agent_match: &str,
    ) -> PyResult<Array> {
        let how = named("agent_match", agent_match)?;
        let arrays = caught(|| url_arrays(urls))?;
        let agent = caught(|| self.agent(agent))?;
        detached(py, || {
            let verdict = |url: &[u8]| {
                Ok(if is_url_or_path(url) {
                    i8::from(self.robots.parsed().allows_with(&agent, how, url))
                } else {
                    Verdict::Invalid.code()
                })
            };
            let values = map_texts(&arrays, verdict).map_err(exception)?;
            Array::int8(values, nulls(&arrays))
        })
    }

    /// The explanation of the verdict on a URL, as JSON.
    fn explain_json(
        &self,
        #[pyo3(from_py_with = agent_argument)] agent: &str,
        url: &Bound<'_, PyAny>,
        all_rules: bool,
        agent_match: &str,
    ) -> PyResult<String> {
        let how = named("agent_match", agent_match)?;
        let url = url_or_path_bytes("explain", url)?;
        caught(|| {
            let parsed = self.agent(agent)?;
            Ok(self.explanation(&parsed, how, &url, all_rules).to_string())
        })
    }

    /// The preferences about the use of a URL, as JSON.
    fn preferences_json(
        &self,
        #[pyo3(from_py_with = agent_argument)] agent: &str,
        url: &Bound<'_, PyAny>,
        agent_match: &str,
    ) -> PyResult<String> {
        let how = named("agent_match", agent_match)?;
        let url = url_or_path_bytes("preferences", url)?;
        caught(|| {
            let agent = self.agent(agent)?;
            let verdict = explain(self.robots.parsed(), &agent, how, &url).verdict;
            let found = self.preferences_under(&agent, how, &url, verdict);
            Ok(found.to_json().to_string())
        })
    }

    /// The crawl-delay for an agent, in seconds.
    fn crawl_delay_for(
        &self,
        #[pyo3(from_py_with = agent_argument)] agent: &str,
        agent_match: &str,
    ) -> PyResult<Option<f64>> {
        let how = named("agent_match", agent_match)?;
        caught(|| {
            let agent = self.agent(agent)?;
            let delay = self.robots.parsed().crawl_delay(&agent, how);
            Ok(delay.map(|delay| delay.as_secs_f64()))
        })
    }

    /// The values of the `request-rate` lines of an agent's groups, in order.
    fn request_rates(
        &self,
        #[pyo3(from_py_with = agent_argument)] agent: &str,
    ) -> PyResult<Vec<String>> {
        caught(|| {
            let agent = self.agent(agent)?;
            let (groups, _) = self
                .robots
                .parsed()
                .groups_for(&agent, AgentMatch::Extended);
            let fields = self.robots.parsed().other_fields().iter().filter(|field| {
                field.name() == "request-rate"
                    && field.group().is_some_and(|group| groups.contains(&group))
            });
            Ok(texts(fields))
        })
    }

    /// The sitemaps in the order of the file.
    #[getter]
    fn sitemaps(&self) -> PyResult<Vec<String>> {
        caught(|| Ok(texts(self.robots.parsed().sitemaps())))
    }

    /// The licences in the order of the file.
    #[getter]
    fn licenses(&self) -> PyResult<Vec<String>> {
        caught(|| Ok(texts(self.robots.parsed().licenses())))
    }

    /// The findings of `lint`, as JSON.
    fn lint_json(&self, py: Python<'_>) -> PyResult<String> {
        if self.reason != Reason::Rules {
            return Ok("[]".to_owned());
        }
        detached(py, || {
            let findings = lint(self.robots.body());
            Ok(Value::Array(findings.iter().map(Finding::to_json).collect()).to_string())
        })
    }
}

/// The values of fields as text. Bytes outside UTF-8 are U+FFFD.
fn texts<'f, 'a: 'f>(fields: impl Iterator<Item = &'f OtherField<'a>>) -> Vec<String> {
    fields
        .map(|field| String::from_utf8_lossy(field.value()).into_owned())
        .collect()
}

/// The text of the robots.txt that a response stands for, and the reason. A status of 0 is no
/// response.
///
/// # Errors
/// `ValueError` for redirects and for unknown policies.
#[pyfunction]
pub(crate) fn robots_of_response<'py>(
    py: Python<'py>,
    status: u16,
    body: &Bound<'py, PyAny>,
    headers: Vec<(Vec<u8>, Vec<u8>)>,
    status_policy: &str,
) -> PyResult<(Bound<'py, PyBytes>, &'static str)> {
    let policy: StatusPolicy = named("status_policy", status_policy)?;
    let body = text_bytes(body, "the body of a robots.txt is bytes or str")?;
    caught(|| {
        let is_success = (200..300).contains(&status);
        // A body that cannot be decoded is not a response, as when it is compiled.
        let (status, body) = match is_success.then(|| decode_body(&body, headers)) {
            Some(Some(decoded)) => (status, decoded),
            Some(None) => (0, Default::default()),
            None => (status, Default::default()),
        };
        let Some(found) = policy.robots_of(status, &body) else {
            let what = if status == 304 {
                "status=304 confirms the robots.txt that you have; keep using that object"
                    .to_owned()
            } else {
                format!(
                    "status={status} is a redirect; follow it and pass the last response, or \
                     status=404 after five redirects"
                )
            };
            return Err(PyValueError::new_err(what));
        };
        Ok((PyBytes::new(py, found.text), found.reason.name()))
    })
}

/// The product token that a `User-Agent` header names.
#[pyfunction]
pub(crate) fn product_token(user_agent: &str) -> String {
    Agent::from_user_agent(user_agent).label().to_owned()
}
