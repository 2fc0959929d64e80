//! The workload: a given snapshot and list, or a synthetic web.

use super::BenchArgs;
use crate::figures::counts::counted;
use crate::figures::escape::escape;
use crate::numbers::parse_count;
use crate::option_guard::OptionGuard;
use crate::signals;
use crate::stderr::print_line;
use anyhow::Context;
use robosieve::job::Input;
use robosieve::output::OutputFile;
use robosieve::{Compiler, Snapshot};
use robosieve_synthetic::{Web, WebOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

pub(super) struct Workload {
    /// Its description in the output.
    pub name: String,
    /// The synthetic web, unless files are given.
    pub web: Option<Web>,
    /// The list of URLs, in memory.
    pub urls: Arc<[u8]>,
}

impl Workload {
    /// Reads the list from a file: plain, gzip or zstd.
    pub(super) fn given(snapshot: &Path, urls: &str) -> anyhow::Result<Self> {
        // Refuses other formats by the name of the file: the benchmark reads a list in memory.
        Input::open(urls)?;
        let mut text = Vec::new();
        std::fs::File::open(urls)
            .map_err(anyhow::Error::from)
            .and_then(|file| Ok(robosieve::decode::decode(file)?.read_to_end(&mut text)?))
            .with_context(|| urls.to_owned())?;
        anyhow::ensure!(!text.is_empty(), "{urls}: holds no lines to judge");
        Ok(Self {
            name: format!("{}, {urls}", snapshot.display()),
            web: None,
            urls: text.into(),
        })
    }

    /// Generates a synthetic web and compiles its snapshot.
    pub(super) fn synthetic(web: Web, quiet: bool) -> anyhow::Result<(Snapshot, Self)> {
        let start = Instant::now();
        let mut compiler = Compiler::default();
        compiler.add_reader("synthetic archive", web.archive())?;
        let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
        let compiled = start.elapsed();
        let mut urls = Vec::new();
        web.urls().read_to_end(&mut urls)?;
        if !quiet {
            print_line(format_args!(
                "robosieve: made and compiled the archive in {:.2} s, made the URLs in {:.2} s",
                compiled.as_secs_f64(),
                (start.elapsed() - compiled).as_secs_f64()
            ));
        }
        Ok((
            snapshot,
            Self {
                name: name(web.options()),
                web: Some(web),
                urls: urls.into(),
            },
        ))
    }
}

fn name(options: WebOptions) -> String {
    format!(
        "synthetic web of {} and {}, {}, seed {}",
        counted(options.origins, "origin"),
        counted(options.urls, "URL"),
        options.order.name(),
        options.seed
    )
}

/// The synthetic web of the arguments.
pub(super) fn web(args: &BenchArgs) -> anyhow::Result<Web> {
    let urls = match &args.urls {
        None => WebOptions::default().urls,
        Some(text) => parse_count(text)
            .map_err(anyhow::Error::msg)
            .with_context(|| {
                format!("--urls {text}: without -s it is the number of URLs to generate")
            })?,
    };
    Ok(Web::new(
        WebOptions::default()
            .seed(args.seed)
            .origins(args.origins)
            .urls(urls)
            .order(args.order.order()),
    ))
}

/// Writes the archive and the list for other tools; `guard` has the files that the run reads.
pub(super) fn write(
    web: Web,
    dir: &Path,
    mut guard: OptionGuard,
    quiet: bool,
) -> anyhow::Result<()> {
    std::fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
    let [archive, urls] = ["robots.jsonl.zst", "urls.txt"].map(|name| dir.join(name));
    for path in [&archive, &urls] {
        guard.add_output_in_directory("--write-to", path)?;
    }
    let (archive, urls) = rayon::join(
        || write_file(web.archive(), archive, quiet),
        || write_file(web.urls(), urls, quiet),
    );
    let files = [archive?, urls?];
    signals::committing();
    Ok(OutputFile::commit_all(files)?)
}

fn write_file(mut from: impl Read, path: PathBuf, quiet: bool) -> anyhow::Result<OutputFile> {
    let start = Instant::now();
    let mut file = OutputFile::create(&path)?;
    let bytes = io::copy(&mut from, &mut file)?;
    if !quiet {
        let seconds = start.elapsed().as_secs_f64();
        print_line(format_args!(
            "robosieve: {}: {} of text in {seconds:.1} s",
            escape(&path.display().to_string()),
            counted(bytes, "byte")
        ));
    }
    Ok(file)
}
