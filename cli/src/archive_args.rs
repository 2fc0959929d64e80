//! What the verbs that read archives share: options, checks of their outputs, and warnings.

use crate::figures::counts::counted_as;
use crate::figures::escape::escape;
use crate::help_text::{INPUT, RESOURCES};
use crate::numbers::parse_size;
use crate::stats_json::StatsArgs;
use crate::stderr::print_line;
use anyhow::{Context, bail};
use clap::Args;
use robosieve::Compiler;
use robosieve::compile::{CompilePhase, CompileReport};
use robosieve::output::is_standard_stream;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

// Shared by the verbs that read archives.
#[derive(Debug, Args)]
pub(crate) struct ArchiveArgs {
    /// Skip, and count, damaged places of the inputs instead of failing
    #[arg(long, help_heading = INPUT)]
    pub skip_damaged: bool,
    #[command(flatten)]
    pub stats: StatsArgs,
    /// Keep at most this many bytes of captures and texts in memory, such as 512M
    ///
    /// The rest goes to temporary files. About 50 bytes per capture come on top. The output does
    /// not depend on this.
    #[arg(
        long,
        value_name = "SIZE",
        value_parser = parse_size,
        default_value = "1G",
        help_heading = RESOURCES
    )]
    pub memory: u64,
    /// Directory of temporary files (default: that of the output)
    ///
    /// Ten million captures take less than 10 GB there. The files have no name, and vanish with the
    /// process.
    #[arg(long, value_name = "DIR", help_heading = RESOURCES)]
    pub temp_dir: Option<PathBuf>,
}

impl ArchiveArgs {
    /// Sets the options of a compiler that writes `output`.
    pub(crate) fn configure(&self, compiler: Compiler, output: &Path) -> anyhow::Result<Compiler> {
        Ok(compiler
            .skip_damaged(self.skip_damaged)
            .memory(self.memory)
            .temp_dir(self.temp_dir(output)?))
    }

    /// The directory of temporary files. The one next to the output has room for the output too.
    fn temp_dir(&self, output: &Path) -> anyhow::Result<PathBuf> {
        let Some(dir) = &self.temp_dir else {
            let dir = output.parent().filter(|dir| !dir.as_os_str().is_empty());
            return Ok(dir.unwrap_or(Path::new(".")).to_owned());
        };
        if !dir.is_dir() {
            bail!("--temp-dir: {} is not a directory", dir.display());
        }
        Ok(dir.clone())
    }
}

/// Refuses standard output, and refuses to replace an archive of pages: it was probably meant as an
/// input (`-o *.warc.gz`). `content` is what the verb writes.
pub(crate) fn refuse_archive(output: &Path, content: &str) -> anyhow::Result<()> {
    if is_standard_stream(output) {
        bail!("{content} cannot be written to standard output: name a file");
    }
    let mut start = Vec::new();
    if output.is_file() {
        let file = File::open(output).with_context(|| output.display().to_string())?;
        file.take(5)
            .read_to_end(&mut start)
            .with_context(|| output.display().to_string())?;
    }
    if start == b"WARC/" || start.starts_with(&[0x1f, 0x8b]) {
        bail!(
            "{}: is an archive; -o names {content} to write, and would replace it",
            output.display()
        );
    }
    Ok(())
}

/// The name of a phase, for progress.
pub(crate) fn phase_name(phase: CompilePhase) -> &'static str {
    match phase {
        CompilePhase::Sort => "sorting captures",
        CompilePhase::Build => "resolving origins",
        _ => "reading",
    }
}

/// Warns of inputs that were not read, also with `-q`: their data are missing in the output.
pub(crate) fn warn_of_unread(report: &CompileReport) {
    warn_of_skipped_files(report);
    warn_of_unread_keys(report);
    warn_of_coded_texts(report);
    warn_of_missing_times(report);
}

fn warn_of_skipped_files(report: &CompileReport) {
    let names = &report.skipped_examples;
    if report.skipped_files > 0 {
        let more = if report.skipped_files > names.len() as u64 {
            ", ..."
        } else {
            ""
        };
        let names: Vec<String> = names.iter().map(|name| escape(name).into_owned()).collect();
        print_line(format_args!(
            "robosieve: warning: {} left out: {}{more}",
            counted_as(
                report.skipped_files,
                "entry of a directory is",
                "entries of directories are"
            ),
            names.join(", ")
        ));
    }
}

/// Warns of bodies under unknown keys.
fn warn_of_unread_keys(report: &CompileReport) {
    for (key, lines) in &report.unread_keys {
        print_line(format_args!(
            "robosieve: warning: {} as unreachable; \"{}\" looks like the body: name it \"body\" \
             (\"body_base64\", \"content\", \"text\", \"robots\" and \"robots_txt\" are read too)",
            counted_as(
                *lines,
                "line with a 2xx status has no body and counts",
                "lines with a 2xx status have no body and count"
            ),
            escape(key),
        ));
    }
}

/// Warns of texts that allow everything because their writer coded them once more.
fn warn_of_coded_texts(report: &CompileReport) {
    if let Some(example) = &report.coded_example {
        print_line(format_args!(
            "robosieve: warning: {} like a robots.txt that was coded once more (escapes such as \\n, \
             base64, hexadecimal digits), such as that of {}; decode them, unless the sites serve them \
             so",
            counted_as(
                report.coded_texts,
                "text allows everything, but looks",
                "texts allow everything, but look"
            ),
            escape(example),
        ));
    }
}

/// Warns of captures that no time orders: the time may be under a key that is not read.
fn warn_of_missing_times(report: &CompileReport) {
    let is_continued = report.inherited > 0 || report.outdated > 0;
    let has_time = report.undated + report.too_new < report.captures;
    if report.superseded > 0 && !has_time && !is_continued {
        print_line(format_args!(
            "robosieve: warning: no capture has a time, and {} superseded by another of the same \
             origin: their contents decide, not their ages; in JSON lines, name the time \"fetched_at\"",
            counted_as(report.superseded, "capture is", "captures are"),
        ));
    }
}

/// The names of inputs in a message.
pub(crate) fn joined(inputs: &[PathBuf]) -> String {
    inputs
        .iter()
        .map(|path| path.display().to_string())
        .collect::<Vec<_>>()
        .join(", ")
}
