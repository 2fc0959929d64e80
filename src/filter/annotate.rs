//! What a worker makes of a block to be annotated.

use crate::agent::Agent;
use crate::error::Result;
use crate::file_format::without_mark;
use crate::filter::AnnotateForm;
use crate::filter::output::{Criterion, judge_records};
use crate::filter::preference_text::PreferenceText;
use crate::judge::LineVerdicts;
use crate::judge::engine::{Engine, Scratch};
use crate::judge::{PreferenceJudge, PreferenceScratch};
use crate::judge::{Stage, Verdict};
use crate::pipeline::FilterStats;
use crate::pipeline::blocks::{Block, Part};
use crate::preferences::Preferences;
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
    preferences: Option<PreferenceText>,
}

impl Form {
    pub(super) fn new(form: AnnotateForm, agents: &[Agent], preferences: bool) -> Self {
        let names: Vec<String> = agents.iter().map(Agent::to_string).collect();
        let key = |(i, name): (usize, &String)| {
            let before = if i == 0 { "" } else { "," };
            format!("{before}{}:\"", serde_json::Value::from(name.as_str()))
        };
        let preferences = preferences.then(|| PreferenceText::new(form, &names));
        Self { form, keys: names.iter().enumerate().map(key).collect(), names: names.join(","), preferences }
    }

    /// What is written for the verdicts of a line: before it, or for JSON behind it.
    fn put_verdicts(&self, verdicts: &LineVerdicts<'_>, out: &mut Vec<u8>) {
        out.clear();
        match self.form {
            AnnotateForm::Letters => {
                verdicts.append(|verdict| verdict.letter() as u8, out);
                out.push(b'\t');
            }
            AnnotateForm::Mask => {
                verdicts.append(|verdict| if verdict == Verdict::Allowed { b'1' } else { b'0' }, out);
            }
            AnnotateForm::Jsonl => {
                out.extend_from_slice(b"\"robots\":{");
                for (key, verdict) in self.keys.iter().zip(verdicts.iter()) {
                    out.extend_from_slice(key.as_bytes());
                    out.extend_from_slice(verdict.name().as_bytes());
                    out.push(b'"');
                }
                out.push(b'}');
            }
        }
    }

    fn put_preferences(&self, preferences: &[Preferences], out: &mut Vec<u8>) {
        if let Some(text) = &self.preferences {
            text.put(preferences, out);
        }
    }

    fn put_no_preferences(&self, out: &mut Vec<u8>) {
        if let Some(text) = &self.preferences {
            text.put_nothing(out);
        }
    }

    /// What ends a line's verdicts and preferences.
    #[inline(always)]
    fn put_end(&self, out: &mut Vec<u8>) {
        match self.form {
            AnnotateForm::Letters => {}
            AnnotateForm::Mask => out.push(b'\n'),
            AnnotateForm::Jsonl => out.extend_from_slice(b"}\n"),
        }
    }

    /// Writes a line, given what is written for its verdicts. It is called from two places, and as a call it would cost more than it does.
    #[inline(always)]
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
                let has_key =
                    records.is_some_and(Records::are_objects) && (!is_invalid || is_object(without_mark(text)));
                match text.strip_suffix(b"}").filter(|_| has_key) {
                    Some(open) => {
                        out.extend_from_slice(open);
                        if !open.trim_ascii_end().ends_with(b"{") {
                            out.push(b',');
                        }
                    }
                    None => {
                        let key = if records.is_none_or(Records::are_urls) { "url" } else { "line" };
                        // The byte order mark before a first URL is no part of it.
                        let line = if is_invalid { line } else { without_mark(line) };
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
            out.extend_from_slice(self.preferences.as_ref().map_or(b"", PreferenceText::header));
            out.extend_from_slice(header);
        }
    }
}

fn is_object(text: &[u8]) -> bool {
    text.starts_with(b"{") && serde_json::from_slice::<IgnoredAny>(text).is_ok()
}

/// Judges blocks, and writes what is asked for of their lines.
pub(super) struct Annotator<'a, 's> {
    pub judge: &'a Engine<'s>,
    pub criterion: Criterion,
    pub form: Form,
    /// Where preferences are asked for.
    pub preferences: Option<PreferenceJudge<'a>>,
}

impl<'s> Annotator<'_, 's> {
    pub(super) fn annotate(
        &self,
        block: &mut Block,
        (scratch, memory): &mut (Scratch<'s>, PreferenceScratch),
        stats: &mut FilterStats,
    ) -> Result<()> {
        let mut out = std::mem::take(&mut block.annotated);
        out.clear();
        let agents = self.judge.agents().len();
        let data = block.data();
        stats.bytes += data.len() as u64;
        stats.agent_allowed.resize(agents, 0);
        match block.part {
            Part::Lines => self.put_lines(block, scratch, memory, stats, &mut out)?,
            Part::Header => self.form.put_header(data, &mut out),
            Part::LongStart | Part::LongRest => put_long(&self.form, block.part, data, agents, stats, &mut out),
        }
        block.annotated = out;
        Ok(())
    }

    fn put_lines(
        &self,
        block: &Block,
        scratch: &mut Scratch<'s>,
        memory: &mut PreferenceScratch,
        stats: &mut FilterStats,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let (form, data, records) = (&self.form, block.data(), block.records.as_deref());
        let (mut before, mut failed) = (Vec::new(), Ok(()));
        judge_records(self.judge, block, Stage::Match, scratch, |lines, urls, verdicts| {
            self.criterion.count(&verdicts, lines.ends.len() as u64, stats);
            form.put_verdicts(&verdicts, &mut before);
            let is_invalid = verdicts.unjudged() == Some(Verdict::Invalid);
            if is_invalid {
                stats.count_blank(data, lines);
            }
            if let Some(preferences) = &self.preferences {
                match preferences.has_any(verdicts.file(), memory) {
                    Ok(true) => {
                        let verdicts_len = before.len();
                        for (line, url) in lines.ranges().zip(urls.iter()) {
                            before.truncate(verdicts_len);
                            form.put_preferences(preferences.at(verdicts.file(), url, memory), &mut before);
                            form.put_end(&mut before);
                            form.put_line(&before, &data[line], is_invalid, records, out);
                        }
                        return;
                    }
                    Ok(false) => form.put_no_preferences(&mut before),
                    Err(err) => failed = Err(err),
                }
            }
            form.put_end(&mut before);
            lines.ranges().for_each(|line| form.put_line(&before, &data[line], is_invalid, records, out));
        })?;
        failed
    }
}

/// A line too long to be held, in parts: its text is passed on where lines are, and left out of JSON.
fn put_long(form: &Form, part: Part, data: &[u8], agents: usize, stats: &mut FilterStats, out: &mut Vec<u8>) {
    let mut verdicts = Vec::new();
    form.put_verdicts(&LineVerdicts::invalid(agents), &mut verdicts);
    form.put_no_preferences(&mut verdicts);
    form.put_end(&mut verdicts);
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
