//! `robosieve man`: man pages of the program and of each verb, generated from `--help`.

use crate::args::{Cli, ManArgs};
use crate::option_guard::OptionGuard;
use crate::output::{OutputTarget, print};
use anyhow::{Context, bail};
use clap::{Command, CommandFactory};
use clap_mangen::Man;
use std::io::Write;
use std::path::Path;

pub(crate) fn run(args: &ManArgs) -> anyhow::Result<()> {
    let pages = pages()?;
    if let Some(dir) = &args.out_dir {
        return write_all(dir, &pages);
    }
    let name = match &args.verb {
        None => "robosieve".to_owned(),
        Some(verb) => format!("robosieve-{verb}"),
    };
    match pages.iter().find(|page| page.name == name) {
        Some(page) => print(&page.text),
        None => {
            let verbs = pages
                .iter()
                .filter_map(|page| page.name.strip_prefix("robosieve-"));
            bail!(
                "there is no page on {name:?}; there are pages on {}",
                verbs.collect::<Vec<_>>().join(", ")
            )
        }
    }
}

/// A man page in troff.
struct ManPage {
    name: String,
    text: String,
}

/// The page of the program, and those of the verbs.
fn pages() -> anyhow::Result<Vec<ManPage>> {
    let mut whole = Cli::command().disable_help_subcommand(true);
    // Adds the global options to each verb.
    whole.build();
    let verbs: Vec<Command> = whole.get_subcommands().cloned().collect();
    std::iter::once(whole).chain(verbs).map(page).collect()
}

/// The page of one command.
fn page(command: Command) -> anyhow::Result<ManPage> {
    // `Man` takes the command, so its names and examples are read first.
    let name = command
        .get_display_name()
        .unwrap_or(command.get_name())
        .to_owned();
    let examples = command
        .get_after_long_help()
        .or(command.get_after_help())
        .map(ToString::to_string)
        .unwrap_or_default();
    let has_verbs = command.has_subcommands();
    let source = concat!("robosieve ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command)
        .title(name.to_uppercase())
        .source(source)
        .manual("robosieve manual");
    // `Man::render` has no section of examples, so the sections are rendered one by one, and the
    // examples follow them.
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if has_verbs {
        man.render_subcommands_section(&mut text)?;
    }
    write_examples(&examples, &mut text)?;
    Ok(ManPage {
        name,
        text: String::from_utf8_lossy(&text).into_owned(),
    })
}

/// Writes the end of `--help`: indented lines are commands and stay unchanged; blank lines separate
/// paragraphs.
fn write_examples(help: &str, out: &mut impl Write) -> std::io::Result<()> {
    let mut is_command = false;
    for line in help.lines() {
        if is_command != line.starts_with("  ") {
            is_command = !is_command;
            writeln!(
                out,
                "{}",
                if is_command {
                    ".PP\n.nf\n.ad l\n.nh"
                } else {
                    ".fi\n.hy\n.ad b"
                }
            )?;
        }
        match line {
            "Examples:" => writeln!(out, ".SH EXAMPLES")?,
            "" => writeln!(out, ".PP")?,
            // A dot or a quote at the beginning of a line would be a request.
            _ => writeln!(out, "\\&{}", line.replace('\\', "\\e").replace('-', "\\-"))?,
        }
    }
    if is_command {
        writeln!(out, ".fi")
    } else {
        Ok(())
    }
}

fn write_all(dir: &Path, pages: &[ManPage]) -> anyhow::Result<()> {
    std::fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
    let mut guard = OptionGuard::default();
    let mut outputs = Vec::new();
    for page in pages {
        let path = dir.join(format!("{}.1", page.name));
        guard.add_output_in_directory("--out-dir", &path)?;
        let mut out = OutputTarget::open(Some(&path))?;
        out.write_all(page.text.as_bytes())?;
        outputs.push(out);
    }
    OutputTarget::commit_all(outputs)
}
