//! The settings of a job, and what they mean for lines.

use super::added::AddedColumns;
use super::annotation::{AnnotationWriter, Annotator};
use super::criterion::Criterion;
use super::form::{Form, LineForm};
use crate::error::{ErrorKind, Remedy, Result};
use crate::judge::{Judge, PreferenceJudge, Stage};
use crate::pipeline::Progress;
use crate::records::RecordOptions;
use std::collections::HashSet;

/// The settings of a job.
#[derive(Clone)]
pub(crate) struct Settings<'j> {
    pub judge: &'j Judge,
    pub criterion: Criterion,
    /// The form of annotations; `None` is the default of the container.
    pub form: Option<Form>,
    /// The name, or the prefix of the names, of added columns.
    pub name: Option<&'j str>,
    pub records: RecordOptions,
    /// The values that annotations add to the verdicts, and a filter to disallowed records.
    pub added: AddedColumns,
    /// Whether annotations have preferences.
    pub preferences: bool,
    /// Further metadata of Parquet files.
    pub metadata: Vec<(String, String)>,
    /// The stage after which the work on a line stops, for benchmarks.
    pub until: Stage,
    pub progress: &'j (dyn Fn(Progress) + Sync),
}

impl<'j> Settings<'j> {
    /// The form of annotated lines.
    ///
    /// # Errors
    /// [`ErrorKind::BadJob`] for settings that lines do not have.
    pub(crate) fn line_form(&self) -> Result<LineForm> {
        self.check_name()?;
        if matches!(self.form, Some(Form::Jsonl | Form::Csv)) {
            self.refuse_repeated_agents()?;
        }
        if self.judge.agents().is_empty() {
            return self.form_without_verdicts();
        }
        match self.form {
            None | Some(Form::Letters | Form::Mask) if !self.added.is_empty() => bad_job(format!(
                "the form {} has no room for added columns; JSON lines (the form jsonl), tables \
                 (the form csv) and Parquet files have it",
                self.form.unwrap_or(Form::Letters)
            ))
            .map_err(|err| err.with_remedy(Remedy::ChooseForm)),
            None | Some(Form::Letters) => Ok(LineForm::Letters),
            Some(Form::Jsonl) => Ok(LineForm::Jsonl),
            Some(Form::Csv) if self.preferences => {
                bad_job("the form csv cannot hold preferences; use letters or jsonl")
            }
            Some(Form::Csv) => Ok(LineForm::Csv),
            Some(Form::Mask) if self.preferences => {
                bad_job("the form mask cannot hold preferences; use letters or jsonl")
            }
            Some(Form::Mask) => Ok(LineForm::Mask),
            Some(form @ (Form::Bits | Form::Int8)) => bad_job(format!(
                "the form {form} adds columns to Parquet files; lines take letters, jsonl, csv \
                 or mask"
            )),
        }
    }

    /// Refuses a name for lines without columns and keys, and the names of the keys that hold a line.
    fn check_name(&self) -> Result<()> {
        match (self.name, self.form) {
            (None, _) | (Some(_), Some(Form::Csv)) => Ok(()),
            (Some(name @ ("url" | "line")), Some(Form::Jsonl)) => bad_job(format!(
                "the key {name:?} is that of a line which is not an object; give the verdicts \
                 another name"
            )),
            (Some(_), Some(Form::Jsonl)) => Ok(()),
            (Some(_), form) => bad_job(format!(
                "the form {} has no name; only columns, which Parquet files and the form csv have, \
                 and the keys of the form jsonl have one",
                form.unwrap_or(Form::Letters)
            )),
        }
    }

    /// Refuses agents of the same name, whose columns or keys would have one name too.
    ///
    /// # Errors
    /// [`ErrorKind::BadJob`].
    pub(crate) fn refuse_repeated_agents(&self) -> Result<()> {
        let mut names = HashSet::new();
        for agent in self.judge.agents() {
            if !names.insert(agent.to_string().to_ascii_lowercase()) {
                return bad_job(format!(
                    "the agent {agent} is named twice, so two columns or keys would have one name; \
                     name it once"
                ));
            }
        }
        Ok(())
    }

    /// Refuses to add values that nothing can give.
    ///
    /// # Errors
    /// [`ErrorKind::BadJob`] for lists and entries if the judge has no filter lists, and for values of
    /// verdicts if it has no agents.
    pub(crate) fn check_added_columns(&self) -> Result<()> {
        if self.judge.agents().is_empty() && self.added.is_of_verdicts() {
            return bad_job(
                "without agents there are no verdicts, so there is no reason and no line that \
                 decides; of the added columns, only the origin, the list and the entry remain",
            )
            .map_err(|err| err.with_remedy(Remedy::NameAgents));
        }
        let has_lists = self.judge.engine().lists().is_some();
        if !self.added.has_listed() || has_lists {
            return Ok(());
        }
        bad_job("the list and the entry that name a URL come from filter lists, and there are none")
            .map_err(|err| err.with_remedy(Remedy::NameLists))
    }

    /// Refuses to add lists and entries to disallowed records, which none names.
    ///
    /// # Errors
    /// [`ErrorKind::BadJob`].
    pub(crate) fn refuse_list_columns(&self) -> Result<()> {
        if !self.added.has_listed() {
            return Ok(());
        }
        bad_job(
            "a filter adds columns to disallowed records, and a record that a list names is not one \
             of them: annotating writes the list and the entry of each record",
        )
    }

    /// The form of lines without verdicts, because the judge has no agents.
    fn form_without_verdicts(&self) -> Result<LineForm> {
        if self.preferences {
            return bad_job("preferences are those to agents, and none is named");
        }
        match self.form {
            Some(Form::Jsonl) if !self.added.is_empty() => Ok(LineForm::Jsonl),
            Some(Form::Csv) if !self.added.is_empty() => Ok(LineForm::Csv),
            _ => bad_job(
                "without agents there are no verdicts to write; add columns, such as the list and \
                 the entry that name a URL, to JSON lines (the form jsonl), tables (the form csv) or \
                 Parquet files",
            )
            .map_err(|err| err.with_remedy(Remedy::AddListColumns)),
        }
    }

    /// An annotator of lines.
    ///
    /// # Errors
    /// As [`line_form`](Self::line_form).
    pub(crate) fn annotator(&self) -> Result<Annotator<'_, 'j>> {
        let form = self.line_form()?;
        Ok(Annotator {
            judge: self.judge.engine(),
            criterion: self.criterion,
            writer: AnnotationWriter::new(
                form,
                self.judge,
                self.added,
                self.preferences,
                self.name,
            ),
            preferences: self.preferences.then(|| PreferenceJudge::new(self.judge)),
        })
    }
}

/// The error of a setting that a container does not have.
pub(crate) fn bad_job<T>(what: impl Into<String>) -> Result<T> {
    Err(ErrorKind::BadJob(what.into()).into())
}
