//! The settings of a job, and what they mean for lines.

use super::added::AddedColumns;
use super::annotation::{AnnotationWriter, Annotator};
use super::criterion::Criterion;
use super::form::{Form, LineForm};
use crate::error::{ErrorKind, Result};
use crate::judge::{Judge, PreferenceJudge, Stage};
use crate::pipeline::Progress;
use crate::records::RecordOptions;

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
    /// Whether headers of lists are skipped, so that they may differ. Otherwise the first counts.
    pub skips_headers: bool,
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
        if self.name.is_some() {
            return bad_job("only the columns added to Parquet files have a name");
        }
        match self.form {
            None | Some(Form::Letters | Form::Mask) if !self.added.is_empty() => bad_job(format!(
                "the form {} has no room for added columns; JSON lines (the form jsonl), tables \
                 (the form csv) and Parquet files have it",
                self.form.unwrap_or(Form::Letters)
            )),
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

    /// An annotator of lines.
    ///
    /// # Errors
    /// As [`line_form`](Self::line_form).
    pub(crate) fn annotator(&self) -> Result<Annotator<'_, 'j>> {
        let form = self.line_form()?;
        Ok(Annotator {
            judge: self.judge.engine(),
            criterion: self.criterion,
            writer: AnnotationWriter::new(form, self.judge, self.added, self.preferences),
            preferences: self.preferences.then(|| PreferenceJudge::new(self.judge)),
        })
    }
}

/// The error of a setting that a container does not have.
pub(crate) fn bad_job<T>(what: impl Into<String>) -> Result<T> {
    Err(ErrorKind::BadJob(what.into()).into())
}
