//! What a worker makes of a block to be annotated.

use super::AnnotateForm;
use super::Stage;
use super::block::{Block, Part};
use super::judge::{Judge, Scratch};
use super::output::{Criterion, judge_records};
use super::stats::FilterStats;
use crate::agent::Agent;
use crate::error::Result;
use crate::matcher::Verdict;
use crate::records::{Records, without_end};
use serde::de::IgnoredAny;
use std::io::Write;

/// The form, and what of it is the same for all lines.
pub(super) struct Form {
    form: AnnotateForm,
    /// The agents' names with commas between them.
    names: String,
    /// What stands before each agent's verdict in JSON.
    keys: Vec<String>,
}

impl Form {
    pub(super) fn new(form: AnnotateForm, agents: &[Agent]) -> Self {
        let names: Vec<String> = agents.iter().map(Agent::to_string).collect();
        let key = |(i, name): (usize, &String)| {
            let before = if i == 0 { "" } else { "," };
            format!("{before}{}:\"", serde_json::Value::from(name.as_str()))
        };
        Self { form, keys: names.iter().enumerate().map(key).collect(), names: names.join(",") }
    }

    /// What is written for the verdicts of a line: before it, or for JSON behind it, with the brace that ends the object.
    fn put_verdicts(&self, verdicts: impl Iterator<Item = Verdict>, out: &mut Vec<u8>) {
        out.clear();
        match self.form {
            AnnotateForm::Letters => {
                out.extend(verdicts.map(|verdict| verdict.letter() as u8));
                out.push(b'\t');
            }
            AnnotateForm::Mask => {
                out.extend(verdicts.map(|verdict| if verdict == Verdict::Allowed { b'1' } else { b'0' }));
                out.push(b'\n');
            }
            AnnotateForm::Jsonl => {
                out.extend_from_slice(b"\"robots\":{");
                for (key, verdict) in self.keys.iter().zip(verdicts) {
                    out.extend_from_slice(key.as_bytes());
                    out.extend_from_slice(verdict.name().as_bytes());
                    out.push(b'"');
                }
                out.extend_from_slice(b"}}\n");
            }
        }
    }

    /// Writes a line, given what is written for its verdicts.
    fn put_line(&self, verdicts: &[u8], line: &[u8], is_invalid: bool, records: Option<&Records>, out: &mut Vec<u8>) {
        match self.form {
            AnnotateForm::Letters => {
                out.extend_from_slice(verdicts);
                out.extend_from_slice(line);
            }
            AnnotateForm::Mask => out.extend_from_slice(verdicts),
            AnnotateForm::Jsonl => {
                let text = line.trim_ascii();
                // What has no URL may be no object either; of the others it is known.
                let is_object = records.is_some_and(Records::are_objects)
                    && (!is_invalid || (text.starts_with(b"{") && serde_json::from_slice::<IgnoredAny>(text).is_ok()));
                match text.strip_suffix(b"}").filter(|_| is_object) {
                    Some(open) => {
                        out.extend_from_slice(open);
                        if !open.trim_ascii_end().ends_with(b"{") {
                            out.push(b',');
                        }
                    }
                    None => {
                        let key = if records.is_none_or(Records::are_urls) { "url" } else { "line" };
                        let line = String::from_utf8_lossy(without_end(line));
                        let _ = write!(out, "{{\"{key}\":{},", serde_json::Value::from(line));
                    }
                }
                out.extend_from_slice(verdicts);
            }
        }
    }

    fn put_header(&self, header: &[u8], out: &mut Vec<u8>) {
        if self.form == AnnotateForm::Letters {
            out.extend_from_slice(self.names.as_bytes());
            out.push(b'\t');
            out.extend_from_slice(header);
        }
    }
}

/// Judges a block's lines, and writes what is asked for of each.
pub(super) fn annotate<'s, D: AsRef<[u8]>>(
    judge: &Judge<'s, D>,
    criterion: Criterion,
    form: &Form,
    block: &mut Block,
    scratch: &mut Scratch<'s>,
    stats: &mut FilterStats,
) -> Result<()> {
    let mut out = std::mem::take(&mut block.annotated);
    out.clear();
    let agents = judge.agents().len();
    let data = block.data();
    stats.bytes += data.len() as u64;
    stats.agent_allowed.resize(agents, 0);
    match block.part {
        Part::Lines => {
            let records = block.records.as_deref();
            let mut before = Vec::new();
            judge_records(judge, block, Stage::Match, scratch, |lines, verdicts| {
                criterion.count(&verdicts, lines.ends.len() as u64, stats);
                form.put_verdicts(verdicts.iter(), &mut before);
                let is_invalid = verdicts.unjudged() == Some(Verdict::Invalid);
                lines.ranges().for_each(|line| form.put_line(&before, &data[line], is_invalid, records, &mut out));
            })?;
        }
        Part::Header => form.put_header(data, &mut out),
        Part::LongStart | Part::LongRest => put_long(form, block.part, data, agents, stats, &mut out),
    }
    block.annotated = out;
    Ok(())
}

/// A line too long to be held, in parts: its text is passed on where lines are, and left out of JSON.
fn put_long(form: &Form, part: Part, data: &[u8], agents: usize, stats: &mut FilterStats, out: &mut Vec<u8>) {
    let mut verdicts = Vec::new();
    form.put_verdicts(std::iter::repeat_n(Verdict::Invalid, agents), &mut verdicts);
    if part == Part::LongStart {
        stats.count(Verdict::Invalid, 1);
        if form.form == AnnotateForm::Jsonl {
            out.push(b'{');
        }
        out.extend_from_slice(&verdicts);
    }
    if form.form == AnnotateForm::Letters {
        out.extend_from_slice(data);
    }
}
