//! Preferences as annotating writes them, in each form.

use crate::filter::AnnotateForm;
use crate::preferences::Preferences;

/// What preferences are written as, and what of it is the same for all lines.
pub(super) struct PreferenceText {
    form: AnnotateForm,
    /// What stands before each agent's preferences in JSON.
    keys: Vec<String>,
    /// For a URL about which no agent is told anything: most.
    nothing: Vec<u8>,
}

impl PreferenceText {
    pub(super) fn new(form: AnnotateForm, agents: &[String]) -> Self {
        let key = |(i, name): (usize, &String)| {
            let before = if i == 0 { "" } else { "," };
            format!("{before}{}:{{\"train-ai\":\"", serde_json::Value::from(name.as_str()))
        };
        let mut text = Self { form, keys: agents.iter().enumerate().map(key).collect(), nothing: Vec::new() };
        let mut nothing = Vec::new();
        text.put(&vec![Preferences::default(); agents.len()], &mut nothing);
        text.nothing = nothing;
        text
    }

    /// The names of the columns, each with what ends it.
    pub(super) fn header(&self) -> &'static [u8] {
        b"content-usage\tcontent-signal\t"
    }

    pub(super) fn put_nothing(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.nothing);
    }

    /// Writes what each agent is told, behind its verdicts.
    pub(super) fn put(&self, preferences: &[Preferences], out: &mut Vec<u8>) {
        match self.form {
            AnnotateForm::Letters => put_columns(preferences, out),
            AnnotateForm::Jsonl => self.put_object(preferences, out),
            AnnotateForm::Mask => {}
        }
    }

    fn put_object(&self, preferences: &[Preferences], out: &mut Vec<u8>) {
        out.extend_from_slice(b",\"robots_preferences\":{");
        for (key, said) in self.keys.iter().zip(preferences) {
            out.extend_from_slice(key.as_bytes());
            out.extend_from_slice(said.train_ai.name().as_bytes());
            out.extend_from_slice(b"\",\"search\":\"");
            out.extend_from_slice(said.search.name().as_bytes());
            out.extend_from_slice(b"\",\"content-signal\":{");
            for (i, (key, value)) in said.signals.iter().enumerate() {
                let parts: [&[u8]; 5] =
                    [if i == 0 { b"\"" } else { b",\"" }, key.as_bytes(), b"\":\"", value.as_bytes(), b"\""];
                parts.into_iter().for_each(|part| out.extend_from_slice(part));
            }
            out.extend_from_slice(b"}}");
        }
        out.push(b'}');
    }
}

/// A column of letters and one of signals, in both a semicolon between agents.
fn put_columns(preferences: &[Preferences], out: &mut Vec<u8>) {
    for (i, said) in preferences.iter().enumerate() {
        if i > 0 {
            out.push(b';');
        }
        out.extend([said.train_ai.letter() as u8, said.search.letter() as u8]);
    }
    out.push(b'\t');
    for (i, said) in preferences.iter().enumerate() {
        if i > 0 {
            out.push(b';');
        }
        if said.signals.is_empty() {
            out.push(b'-');
        }
        for (i, (key, value)) in said.signals.iter().enumerate() {
            let parts: [&[u8]; 4] = [if i == 0 { b"" } else { b"," }, key.as_bytes(), b"=", value.as_bytes()];
            parts.into_iter().for_each(|part| out.extend_from_slice(part));
        }
    }
    out.push(b'\t');
}
