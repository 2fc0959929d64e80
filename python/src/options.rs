//! Options as Python passes them: texts and numbers, checked here.

use crate::errors::{RobosieveError, exception};
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use robosieve::crawlers::add_agents;
use robosieve::judge::{JudgeOptions, Require};
use robosieve::{Agent, NamedValue};
use std::collections::BTreeMap;

/// The value of an option of the library by its name.
///
/// # Errors
/// `ValueError` that lists the names.
pub(crate) fn named<T: NamedValue>(option: &str, given: &str) -> PyResult<T> {
    one_of(option, given, T::NAMES)
}

/// The value of a name among `values`.
///
/// # Errors
/// `ValueError` that lists the names.
pub(crate) fn one_of<T: Copy>(option: &str, given: &str, values: &[(T, &str)]) -> PyResult<T> {
    if let Some((value, _)) = values.iter().find(|(_, name)| *name == given) {
        return Ok(*value);
    }
    Err(PyValueError::new_err(format!(
        "{option}={given:?}; give one of {}",
        names_of(values)
    )))
}

/// The names of the values of an option, for messages.
fn names_of<T>(values: &[(T, &str)]) -> String {
    let names: Vec<String> = values.iter().map(|(_, name)| format!("{name:?}")).collect();
    names.join(", ")
}

/// The argument `options`: the judging options of `robosieve._options.JudgeOptions`.
///
/// # Errors
/// `TypeError` for other types, `ValueError` for unknown names.
pub(crate) fn judge_options(given: &Bound<'_, PyAny>) -> PyResult<JudgeOptions> {
    Ok(JudgeOptions::default()
        .status_policy(named_field(given, "status_policy")?)
        .unknown(named_field(given, "unknown")?)
        .any_scheme(field(given, "any_scheme")?)
        .at(field::<Option<i64>>(given, "at")?)
        .as_of(field::<Option<i64>>(given, "as_of")?)
        .no_time(named_field(given, "no_time")?.unwrap_or_default())
        .agent_match(named_field(given, "agent_match")?.unwrap_or_default()))
}

/// The argument `require`.
///
/// # Errors
/// As [`named_value`].
pub(crate) fn require_argument(given: &Bound<'_, PyAny>) -> PyResult<Require> {
    named_value("require", given)
}

/// The value of a field of a `NamedTuple`.
///
/// # Errors
/// `TypeError` that names the field, for a value of another type. PyO3 names the argument that has all
/// options.
pub(crate) fn field<'py, T: FromPyObjectOwned<'py>>(
    given: &Bound<'py, PyAny>,
    name: &str,
) -> PyResult<T> {
    let value = given.getattr(name)?;
    let kind = value.get_type();
    let extracted: PyResult<T> = value.extract().map_err(Into::into);
    extracted.map_err(|err| {
        let what = err.value(given.py());
        PyTypeError::new_err(format!("{name} is of type {kind}: {what}"))
    })
}

/// The value that a field of a `NamedTuple` names; `None` for None.
///
/// # Errors
/// As [`named_value`].
pub(crate) fn named_field<T: NamedValue>(
    given: &Bound<'_, PyAny>,
    name: &str,
) -> PyResult<Option<T>> {
    let value = given.getattr(name)?;
    if value.is_none() {
        return Ok(None);
    }
    named_value(name, &value).map(Some)
}

/// The value of an option that a Python object names.
///
/// # Errors
/// `ValueError` that lists the names, also for other types than str.
fn named_value<T: NamedValue>(option: &str, given: &Bound<'_, PyAny>) -> PyResult<T> {
    if let Ok(name) = given.extract::<String>() {
        return named(option, &name);
    }
    let shown = given.repr()?;
    let names = names_of(T::NAMES);
    Err(PyValueError::new_err(format!(
        "{option}={shown}; give one of {names}"
    )))
}

/// The values that a field of a `NamedTuple` names.
pub(crate) fn named_fields<T: NamedValue>(
    given: &Bound<'_, PyAny>,
    name: &str,
) -> PyResult<Vec<T>> {
    let values: Vec<String> = field(given, name)?;
    values.iter().map(|value| named(name, value)).collect()
}

/// The agents of names and sets (`@ai`).
///
/// # Errors
/// `ValueError` for bad names, and without any agent.
pub(crate) fn parse_agents<S: AsRef<str>>(specs: &[S]) -> PyResult<Vec<Agent>> {
    let mut agents = Vec::new();
    for spec in specs {
        if spec.as_ref().contains(',') {
            let what = format!(
                "agent {:?}: no name has a comma; give verdicts() a list, or use masks()",
                spec.as_ref()
            );
            return Err(PyValueError::new_err(what));
        }
        add_agents(spec.as_ref(), &mut agents).map_err(exception)?;
    }
    if agents.is_empty() {
        return Err(PyValueError::new_err(
            "no agent; name one, such as \"GPTBot\", or a set, such as \"@ai\"",
        ));
    }
    Ok(agents)
}

/// The entry of the metadata of Parquet files with the members of the sets.
pub(crate) const SETS: &str = "robosieve.sets";

/// The members of each set among `specs` as JSON, each under its label in `agents`, as the command
/// writes them. `None` without a set.
pub(crate) fn sets_json(specs: &[String], agents: &[Agent]) -> PyResult<Option<String>> {
    let mut sets: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for spec in specs {
        let name = spec.trim();
        let is_known = sets.keys().any(|known| known.eq_ignore_ascii_case(name));
        if !name.starts_with('@') || is_known {
            continue;
        }
        let mut members = Vec::new();
        add_agents(name, &mut members).map_err(exception)?;
        let listed = |member: &Agent| agents.iter().find(|agent| agent.is_same(member));
        let labels = members.iter().filter_map(listed).map(Agent::label);
        sets.insert(name, labels.collect());
    }
    if sets.is_empty() {
        return Ok(None);
    }
    let json = serde_json::to_string(&sets);
    json.map(Some)
        .map_err(|err| RobosieveError::new_err(err.to_string()))
}

/// The agent of a name.
///
/// # Errors
/// `ValueError` for a bad name, and for a set.
pub(crate) fn parse_agent(name: &str) -> PyResult<Agent> {
    let agents = parse_agents(&[name])?;
    let [agent] = agents.as_slice() else {
        return Err(PyValueError::new_err(format!(
            "agent={name:?} names {} agents; give one",
            agents.len()
        )));
    };
    Ok(agent.clone())
}

/// The names of the agents of names and sets.
#[pyfunction]
pub(crate) fn agents(specs: Vec<String>) -> PyResult<Vec<String>> {
    Ok(parse_agents(&specs)?
        .iter()
        .map(|agent| agent.label().to_owned())
        .collect())
}
