//! Writes the verdicts of each line of a block, in one of the four forms, or only added values.

use super::added::{AddedColumns, AddedMemory};
use super::added_text::{AddedText, SharedValues};
use super::criterion::Criterion;
use super::form::LineForm;
use super::judged_records::{RecordUrls, judge_records};
use super::preference_text::PreferenceText;
use super::value_syntax::ValueSyntax;
use crate::agent::Agent;
use crate::error::{Error, ErrorKind, Remedy, Result};
use crate::file_format::without_mark;
use crate::judge::emitter::Joined;
use crate::judge::engine::{Engine, Scratch};
use crate::judge::rows::LineRun;
use crate::judge::{
    FileStatements, Judge, PreferenceJudge, PreferenceScratch, Stage, Verdict, VerdictsRef,
};
use crate::pipeline::blocks::{BlockKind, LineBlock};
use crate::pipeline::{Destination, FilterStats};
use crate::preferences::{ResponsePreferences, ResponseStatements};
use crate::records::{RecordFormat, table_head, without_end};
use bstr::ByteSlice;
use memchr::memmem::Finder;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::borrow::Cow;
use std::collections::HashMap;
use std::io::Write;

/// Judges blocks and annotates their lines.
pub(crate) struct Annotator<'a, 's> {
    pub judge: &'a Engine<'s>,
    pub criterion: Criterion,
    pub writer: AnnotationWriter<'a>,
    /// Set if preferences are written too.
    pub preferences: Option<PreferenceJudge<'a>>,
}

impl<'s> Annotator<'_, 's> {
    /// Annotates the lines of a block. `responses` has the preferences in the response of each
    /// record; it is empty if the records are not responses.
    pub(crate) fn annotate(
        &self,
        block: &mut LineBlock,
        responses: &[ResponsePreferences],
        scratch: &mut AnnotateScratch<'s>,
    ) -> Result<()> {
        let mut out = std::mem::take(&mut block.annotated);
        out.clear();
        let agents = self.judge.agents().len();
        let mut stats = block.new_stats();
        stats.agent_allowed.resize(agents, 0);
        let syntax = self.writer.syntax(block)?;
        match block.kind {
            BlockKind::Lines => {
                self.write_lines(block, responses, syntax, scratch, &mut stats, &mut out)?
            }
            BlockKind::Header => self.writer.write_header(block, syntax, &mut out)?,
            BlockKind::LongLineStart | BlockKind::LongLineRest => self.write_long(
                block,
                syntax,
                &mut scratch.write.added,
                &mut stats,
                &mut out,
            )?,
        }
        block.annotated = out;
        block.stats = stats;
        Ok(())
    }

    /// Judges the lines of a block, counts them, and writes each run of equal verdicts.
    fn write_lines(
        &self,
        block: &LineBlock,
        mut responses: &[ResponsePreferences],
        syntax: ValueSyntax,
        scratch: &mut AnnotateScratch<'s>,
        stats: &mut FilterStats,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let AnnotateScratch { judge, write } = scratch;
        let until = Stage::Match;
        // Added values and preferences depend on the origin.
        let joined = if self.writer.added.is_some() || self.preferences.is_some() {
            Joined::SameOrigin
        } else {
            Joined::SameReason
        };
        judge_records(
            self.judge,
            block,
            until,
            joined,
            judge,
            |lines, urls, verdicts| {
                let count = lines.ends.len();
                self.criterion.count(&verdicts, count as u64, stats);
                if verdicts.unjudged() == Some(Verdict::Invalid) {
                    stats.count_blank(block.data(), lines);
                }
                // Each record of a WARC file has one entry in `responses`; other lists have none.
                let (responses_of_run, rest) = responses.split_at(count.min(responses.len()));
                responses = rest;
                let run = JudgedRun {
                    lines,
                    urls,
                    verdicts,
                    responses: responses_of_run,
                };
                self.write_run(block, &run, syntax, write, out)
            },
        )
    }

    /// Writes lines with the same verdicts, which share their text as far as they can.
    #[inline]
    fn write_run(
        &self,
        block: &LineBlock,
        run: &JudgedRun<'_>,
        syntax: ValueSyntax,
        memory: &mut WriteScratch,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let WriteScratch {
            preferences: memory,
            added,
            text,
        } = memory;
        let writer = &self.writer;
        writer.refuse_existing_keys(block, run.lines)?;
        let verdicts = &run.verdicts;
        let data = block.data();
        let format = block.format.as_deref();
        let is_invalid = verdicts.unjudged() == Some(Verdict::Invalid);
        // The first added value begins with its separator from the verdicts.
        let start = usize::from(!writer.has_verdicts);
        writer.write_verdicts(verdicts, syntax, text);
        // Preferences depend on the path and on the response, and a run of unknown sites has
        // several origins. Then each line has a text of its own.
        let mut stated = None;
        if let Some(preferences) = &self.preferences {
            let has_response = run.responses.iter().any(|response| !response.is_empty());
            let has_any = preferences.has_any(verdicts.file(), memory)?;
            stated = Some(preferences).filter(|_| has_any || has_response);
        }
        let is_per_line = writer.prepare_added(verdicts, syntax, added)?;
        if is_per_line || stated.is_some() {
            let verdicts_len = text.len();
            for (i, (line, url)) in run.lines.ranges().zip(run.urls.iter()).enumerate() {
                text.truncate(verdicts_len);
                writer.write_added(url, verdicts, syntax, added, text)?;
                if let Some(preferences) = stated {
                    let found = preferences.at(verdicts.file(), url, verdicts.iter(), memory);
                    let statements = self.statements(run.responses.get(i));
                    writer.write_preferences(found, &statements, text);
                } else {
                    writer.write_no_preferences(verdicts, text);
                }
                writer.write_end(syntax, text);
                writer.write_line(&text[start..], &data[line], is_invalid, format, out);
            }
            return Ok(());
        }
        if writer.added.is_some() {
            let url = run.urls.iter().next().unwrap_or_default();
            writer.write_added(url, verdicts, syntax, added, text)?;
        }
        writer.write_no_preferences(verdicts, text);
        writer.write_end(syntax, text);
        for line in run.lines.ranges() {
            writer.write_line(&text[start..], &data[line], is_invalid, format, out);
        }
        Ok(())
    }

    /// The statements of a response to each agent; empty if it states nothing.
    fn statements(&self, response: Option<&ResponsePreferences>) -> Vec<ResponseStatements> {
        let Some(response) = response.filter(|response| !response.is_empty()) else {
            return Vec::new();
        };
        let how = self.judge.options().agent_match;
        let agents = self.judge.agents().iter();
        agents
            .map(|agent| response.statements_to(agent, how))
            .collect()
    }

    /// Writes a part of a line that is too long to judge. The text of the line is passed on with
    /// the letters, and left out of JSON.
    fn write_long(
        &self,
        block: &LineBlock,
        syntax: ValueSyntax,
        added: &mut AddedScratch,
        stats: &mut FilterStats,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let form = self.writer.form;
        if block.kind == BlockKind::LongLineStart {
            stats.count(Destination::Invalid, 1);
            let mut text = Vec::new();
            let verdicts = VerdictsRef::invalid(self.judge.agents().len());
            self.writer.write_verdicts(&verdicts, syntax, &mut text);
            self.writer.prepare_added(&verdicts, syntax, added)?;
            self.writer
                .write_added(b"", &verdicts, syntax, added, &mut text)?;
            self.writer.write_no_preferences(&verdicts, &mut text);
            self.writer.write_end(syntax, &mut text);
            if form == LineForm::Jsonl {
                out.push(b'{');
            }
            // The first added value begins with its separator from the verdicts.
            out.extend_from_slice(&text[usize::from(!self.writer.has_verdicts)..]);
        }
        if matches!(form, LineForm::Letters | LineForm::Csv) {
            out.extend_from_slice(block.data());
        }
        Ok(())
    }
}

/// Neighbouring lines of a block with the same verdicts.
pub(crate) struct JudgedRun<'r> {
    pub lines: LineRun<'r>,
    pub urls: RecordUrls<'r>,
    pub verdicts: VerdictsRef<'r>,
    /// The preferences in the responses of these lines; empty if they are not responses.
    pub responses: &'r [ResponsePreferences],
}

/// A worker's scratch for judging and for writing.
pub(crate) struct AnnotateScratch<'s> {
    judge: Scratch<'s>,
    write: WriteScratch,
}

/// A worker's scratch for preferences, for added values and for the text before a line.
#[derive(Default)]
pub(crate) struct WriteScratch {
    preferences: PreferenceScratch,
    added: AddedScratch,
    text: Vec<u8>,
}

/// A worker's scratch for added values.
#[derive(Default)]
struct AddedScratch {
    values: AddedMemory,
    /// The values that all lines of a run share.
    shared: SharedValues,
}

impl<'s> AnnotateScratch<'s> {
    pub(crate) fn new(judge: &Engine<'s>) -> Self {
        Self {
            judge: judge.scratch(),
            write: WriteScratch::default(),
        }
    }
}

/// Writes annotations in one form. The texts that are the same for all lines are made once.
pub(crate) struct AnnotationWriter<'a> {
    pub form: LineForm,
    /// Whether verdicts are written. Without agents there are none, and a filter writes only added
    /// values.
    has_verdicts: bool,
    /// The agents' names, separated by commas.
    names: String,
    /// The JSON text before the verdicts, and before that of each agent.
    verdicts_key: String,
    keys: Vec<String>,
    /// The names of the columns of a table, or of the new keys of an object.
    new_names: Vec<String>,
    /// Finds objects that may have a key of these names.
    key_finder: Finder<'static>,
    /// The remedy for a record that has one already.
    if_existing: Remedy,
    added: Option<AddedText<'a>>,
    preferences: Option<PreferenceText>,
}

impl<'a> AnnotationWriter<'a> {
    pub(crate) fn new(
        form: LineForm,
        judge: &'a Judge,
        added: AddedColumns,
        preferences: bool,
        name: Option<&str>,
    ) -> Self {
        // A name is that of the key with the verdicts of all agents, but the start of the names of
        // columns, which agents have each.
        let key = name.unwrap_or("robots");
        let prefix = match (form, name) {
            (LineForm::Csv, Some(prefix)) => prefix.to_owned(),
            _ => format!("{key}_"),
        };
        let names: Vec<String> = judge.agents().iter().map(Agent::to_string).collect();
        let mut keys = Vec::with_capacity(names.len());
        for (i, name) in names.iter().enumerate() {
            let separator = if i == 0 { "" } else { "," };
            let name = serde_json::Value::from(name.as_str());
            keys.push(format!("{separator}{name}:\""));
        }
        let preferences = preferences.then(|| PreferenceText::new(form, &names, &prefix));
        let has_verdicts = !judge.agents().is_empty();
        let mut new_names = Vec::new();
        if form == LineForm::Jsonl {
            new_names.extend(has_verdicts.then(|| key.to_owned()));
            new_names.extend(added.iter().map(|column| format!("{prefix}{column}")));
            if preferences.is_some() {
                new_names.extend(["preferences", "license"].map(|name| format!("{prefix}{name}")));
            }
        } else {
            new_names.extend(names.iter().map(|name| format!("{prefix}{name}")));
            for column in added.iter() {
                new_names.extend(column.column_names(&prefix, judge.agents()));
            }
        }
        let quoted = serde_json::Value::from(key).to_string();
        let key_start = quoted.trim_end_matches('"');
        Self {
            form,
            has_verdicts,
            verdicts_key: format!("{quoted}:{{"),
            keys,
            names: names.join(","),
            new_names,
            key_finder: Finder::new(key_start).into_owned(),
            if_existing: Remedy::RenameColumn,
            added: AddedText::new(added, judge, &prefix),
            preferences,
        }
    }

    /// A writer of added values without verdicts, as columns of a table (also of lines without
    /// columns) or as keys of objects.
    fn without_verdicts(form: LineForm, judge: &'a Judge, added: AddedColumns) -> Self {
        let mut writer = Self::new(form, judge, added, false, None);
        let verdicts = match form {
            LineForm::Jsonl => usize::from(writer.has_verdicts),
            _ => judge.agents().len(),
        };
        writer.new_names.drain(..verdicts);
        writer.has_verdicts = false;
        writer.if_existing = Remedy::LeaveColumnOut;
        writer
    }

    /// Refuses objects that have a new key already: a second one would hide the first from readers.
    ///
    /// A key that is written with escapes is not found.
    fn refuse_existing_keys(&self, block: &LineBlock, lines: LineRun<'_>) -> Result<()> {
        let is_object = block
            .format
            .as_deref()
            .is_some_and(RecordFormat::are_objects);
        if self.form != LineForm::Jsonl || !is_object {
            return Ok(());
        }
        // Few objects have the text of a key, so nearly all lines cost one search.
        let text = &block.data()[lines.start..lines.ends.last().copied().unwrap_or(lines.start)];
        if self.key_finder.find(text).is_none() {
            return Ok(());
        }
        for line in lines.ranges() {
            let line = without_mark(&block.data()[line]);
            // A line that is not an object becomes the value of a new one.
            let Ok(keys) = serde_json::from_slice::<ObjectKeys<'_>>(line) else {
                continue;
            };
            if let Some(name) = self.new_names.iter().find(|name| keys.contains(name)) {
                return Err(self.existing(block, "key", name));
            }
        }
        Ok(())
    }

    /// Refuses a header that has the name of a new column already. Some readers ignore case.
    fn refuse_existing_columns(&self, block: &LineBlock) -> Result<()> {
        let Some(format) = block.format.as_deref() else {
            return Ok(());
        };
        let names = format.column_names(table_head(block.data()));
        let is_there = |new: &&String| {
            let mut names = names.iter();
            names.any(|name| name.trim_ascii().eq_ignore_ascii_case(new.as_bytes()))
        };
        match self.new_names.iter().find(is_there) {
            Some(name) => Err(self.existing(block, "column", name)),
            None => Ok(()),
        }
    }

    /// The error of a column or a key that is there already.
    fn existing(&self, block: &LineBlock, what: &str, name: &str) -> Error {
        let advice = match self.if_existing {
            Remedy::LeaveColumnOut => "rename it, or leave out the new one",
            _ => "give the new one another name",
        };
        let what = format!("there is a {what} {name:?} already; {advice}");
        let err = block.error(ErrorKind::BadList(what));
        err.with_remedy(self.if_existing)
    }

    /// Writes the verdicts of a line. They precede the line; in JSON they follow it.
    fn write_verdicts(&self, verdicts: &VerdictsRef<'_>, syntax: ValueSyntax, out: &mut Vec<u8>) {
        out.clear();
        if !self.has_verdicts {
            return;
        }
        match self.form {
            LineForm::Letters => {
                verdicts.append(|verdict| verdict.letter() as u8, out);
                out.push(b'\t');
            }
            LineForm::Mask => {
                // One digit has no room for the other verdicts: only an allowed URL may be fetched.
                verdicts.append(
                    |verdict| {
                        if verdict == Verdict::Allowed {
                            b'1'
                        } else {
                            b'0'
                        }
                    },
                    out,
                );
            }
            LineForm::Jsonl => {
                // Names of verdicts need no escapes, and the keys are escaped once for all lines.
                out.extend_from_slice(self.verdicts_key.as_bytes());
                for (key, verdict) in self.keys.iter().zip(verdicts.iter()) {
                    out.extend_from_slice(key.as_bytes());
                    out.extend_from_slice(verdict.name().as_bytes());
                    out.push(b'"');
                }
                out.push(b'}');
            }
            LineForm::Csv => {
                for (agent, verdict) in verdicts.iter().enumerate() {
                    if let (ValueSyntax::Columns(delimiter), 1..) = (syntax, agent) {
                        out.push(delimiter);
                    }
                    out.extend_from_slice(verdict.name().as_bytes());
                }
            }
        }
    }

    /// The syntax of the values of a block.
    ///
    /// # Errors
    /// [`ErrorKind::BadJob`] if the form is that of a table, and the block
    /// is not a part of one.
    fn syntax(&self, block: &LineBlock) -> Result<ValueSyntax> {
        if self.form != LineForm::Csv {
            return Ok(ValueSyntax::Keys);
        }
        match block.format.as_deref().and_then(RecordFormat::delimiter) {
            Some(delimiter) => Ok(ValueSyntax::Columns(delimiter)),
            None if !self.has_verdicts => Ok(ValueSyntax::Columns(b'\t')),
            None => {
                let what = "the form csv adds columns to tables (CSV, TSV), and this is not one; JSON lines (the form jsonl) hold the same values";
                let err = block.error(ErrorKind::BadJob(what.to_owned()));
                Err(err.with_remedy(Remedy::WriteObjects))
            }
        }
    }

    /// Prepares the added values that lines with these verdicts share. Returns whether each line has
    /// a text of its own nevertheless.
    fn prepare_added(
        &self,
        verdicts: &VerdictsRef<'_>,
        syntax: ValueSyntax,
        memory: &mut AddedScratch,
    ) -> Result<bool> {
        let Some(added) = &self.added else {
            return Ok(false);
        };
        added.write_shared(verdicts, syntax, &mut memory.values, &mut memory.shared)?;
        Ok(added.is_per_line(verdicts))
    }

    /// Writes the added values of a URL, after [`prepare_added`](Self::prepare_added).
    fn write_added(
        &self,
        url: &[u8],
        verdicts: &VerdictsRef<'_>,
        syntax: ValueSyntax,
        memory: &mut AddedScratch,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let Some(added) = &self.added else {
            return Ok(());
        };
        let AddedScratch { values, shared } = memory;
        added.write(url, verdicts, syntax, shared, values, out)
    }

    /// Writes the preferences of a robots.txt, combined with the statements of a response if there
    /// are any.
    fn write_preferences(
        &self,
        robots: FileStatements<'_>,
        statements: &[ResponseStatements],
        out: &mut Vec<u8>,
    ) {
        if let Some(text) = &self.preferences {
            text.write(robots, statements, out);
        }
    }

    /// Writes the preferences under these verdicts of a site that states none.
    fn write_no_preferences(&self, verdicts: &VerdictsRef<'_>, out: &mut Vec<u8>) {
        if let Some(text) = &self.preferences {
            text.write_none(verdicts, out);
        }
    }

    /// Writes the text after the verdicts and preferences of a line.
    #[inline(always)]
    fn write_end(&self, syntax: ValueSyntax, out: &mut Vec<u8>) {
        match self.form {
            LineForm::Letters => {}
            LineForm::Csv => {
                if let ValueSyntax::Columns(delimiter) = syntax {
                    out.push(delimiter);
                }
            }
            LineForm::Mask => out.push(b'\n'),
            LineForm::Jsonl => out.extend_from_slice(b"}\n"),
        }
    }

    /// Writes a line with the text of its verdicts. It is inlined because the call would cost more
    /// than the body.
    #[inline(always)]
    fn write_line(
        &self,
        verdicts: &[u8],
        line: &[u8],
        is_invalid: bool,
        format: Option<&RecordFormat>,
        out: &mut Vec<u8>,
    ) {
        match self.form {
            LineForm::Letters => {
                out.extend_from_slice(verdicts);
                out.extend_from_slice(line);
            }
            LineForm::Csv => {
                // A byte order mark stays at the start of the file.
                let text = without_mark(line);
                out.extend_from_slice(&line[..line.len() - text.len()]);
                out.extend_from_slice(verdicts);
                out.extend_from_slice(text);
            }
            LineForm::Mask => out.extend_from_slice(verdicts),
            LineForm::Jsonl => {
                let text = line.trim_ascii();
                // A line with a URL is known to be an object. A line without one may be anything.
                let has_key = format.is_some_and(RecordFormat::are_objects)
                    && (!is_invalid || is_object(without_mark(text)));
                match text.strip_suffix(b"}").filter(|_| has_key) {
                    Some(open) => {
                        out.extend_from_slice(open);
                        if !open.trim_ascii_end().ends_with(b"{") {
                            out.push(b',');
                        }
                    }
                    None => {
                        let key = if format.is_none_or(RecordFormat::are_urls) {
                            "url"
                        } else {
                            "line"
                        };
                        // A byte order mark before the first URL is not part of it.
                        let line = if is_invalid { line } else { without_mark(line) };
                        let line = without_end(line).to_str_lossy();
                        let _ = write!(out, "{{\"{key}\":");
                        // A value of `serde_json` would be a copy of a line of up to 64 MiB.
                        let _ = serde_json::to_writer(&mut *out, &*line);
                        out.push(b',');
                    }
                }
                out.extend_from_slice(verdicts);
            }
        }
    }

    fn write_header(
        &self,
        block: &LineBlock,
        syntax: ValueSyntax,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let header = block.data();
        if let ValueSyntax::Columns(delimiter) = syntax {
            self.refuse_existing_columns(block)?;
            let start = header.len() - table_head(header).len();
            out.extend_from_slice(&header[..start]);
            for name in &self.new_names {
                syntax.text(name, out);
                out.push(delimiter);
            }
            out.extend_from_slice(&header[start..]);
        }
        if self.form == LineForm::Letters {
            out.extend_from_slice(self.names.as_bytes());
            out.push(b'\t');
            out.extend_from_slice(
                self.preferences
                    .as_ref()
                    .map_or(b"", PreferenceText::header),
            );
            out.extend_from_slice(header);
        }
        Ok(())
    }
}

/// The keys of an object.
#[derive(Deserialize)]
#[serde(transparent)]
struct ObjectKeys<'l>(#[serde(borrow)] HashMap<Cow<'l, str>, IgnoredAny>);

impl ObjectKeys<'_> {
    fn contains(&self, key: &str) -> bool {
        self.0.contains_key(key)
    }
}

fn is_object(text: &[u8]) -> bool {
    text.starts_with(b"{") && serde_json::from_slice::<IgnoredAny>(text).is_ok()
}

/// Adds values to lines of a filter, without verdicts: keys to JSON lines, else columns in front,
/// with the delimiter of the table, or a TAB if lines have no columns.
pub(crate) struct LineAdder<'a> {
    columns: Annotator<'a, 'a>,
    objects: Annotator<'a, 'a>,
}

impl<'a> LineAdder<'a> {
    /// `None` if nothing is added.
    pub(crate) fn new(added: AddedColumns, judge: &'a Judge) -> Option<Self> {
        let annotator = |form| Annotator {
            judge: judge.engine(),
            criterion: Criterion::default(),
            writer: AnnotationWriter::without_verdicts(form, judge, added),
            preferences: None,
        };
        (!added.is_empty()).then(|| Self {
            columns: annotator(LineForm::Csv),
            objects: annotator(LineForm::Jsonl),
        })
    }

    /// The annotator for the lines of a block.
    fn annotator(&self, block: &LineBlock) -> &Annotator<'a, 'a> {
        let format = block.format.as_deref();
        if format.is_some_and(RecordFormat::are_objects) {
            &self.objects
        } else {
            &self.columns
        }
    }

    /// Writes judged lines of a block.
    // Not inlined: a filter that adds nothing keeps its short loop.
    #[inline(never)]
    pub(crate) fn write_run(
        &self,
        block: &LineBlock,
        run: &JudgedRun<'_>,
        memory: &mut WriteScratch,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let annotator = self.annotator(block);
        let syntax = annotator.writer.syntax(block)?;
        annotator.write_run(block, run, syntax, memory, out)
    }

    /// Writes the header of a list.
    pub(crate) fn write_header(&self, block: &LineBlock, out: &mut Vec<u8>) -> Result<()> {
        let writer = &self.annotator(block).writer;
        let syntax = writer.syntax(block)?;
        writer.write_header(block, syntax, out)
    }
}
