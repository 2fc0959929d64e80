//! `robosieve man`: the manual, a page for the whole and one for each verb, made of what `--help` says.

use super::args::{Cli, ManArgs};
use super::output::{Output, print};
use super::overlap::{Files, place_of};
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
            let verbs = pages.iter().filter_map(|page| page.name.strip_prefix("robosieve-"));
            bail!("there is no page on {name:?}; there are those on {}", verbs.collect::<Vec<_>>().join(", "))
        }
    }
}

/// A page of the manual, in troff.
struct Page {
    name: String,
    text: String,
}

/// The page on the whole, and those on the verbs.
fn pages() -> anyhow::Result<Vec<Page>> {
    let mut whole = Cli::command().disable_help_subcommand(true);
    // From here on each verb knows the options of all verbs.
    whole.build();
    let verbs: Vec<Command> = whole.get_subcommands().cloned().collect();
    std::iter::once(whole).chain(verbs).map(page).collect()
}

fn page(command: Command) -> anyhow::Result<Page> {
    let name = command.get_display_name().unwrap_or(command.get_name()).to_owned();
    let examples = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let has_verbs = command.has_subcommands();
    let source = concat!("robosieve ", env!("CARGO_PKG_VERSION"));
    let man = Man::new(command).title(name.to_uppercase()).source(source).manual("robosieve manual");
    let mut text = Vec::new();
    man.render_title(&mut text)?;
    man.render_name_section(&mut text)?;
    man.render_synopsis_section(&mut text)?;
    man.render_description_section(&mut text)?;
    man.render_options_section(&mut text)?;
    if has_verbs {
        man.render_subcommands_section(&mut text)?;
    }
    put_examples(&examples, &mut text)?;
    Ok(Page { name, text: String::from_utf8_lossy(&text).into_owned() })
}

/// What stands at the end of `--help`: indented lines, the commands, are kept as they are, and between blank lines are paragraphs.
fn put_examples(help: &str, out: &mut impl Write) -> std::io::Result<()> {
    let mut is_command = false;
    for line in help.lines() {
        if is_command != line.starts_with("  ") {
            is_command = !is_command;
            writeln!(out, "{}", if is_command { ".PP\n.nf\n.ad l\n.nh" } else { ".fi\n.hy\n.ad b" })?;
        }
        match line {
            "Examples:" => writeln!(out, ".SH EXAMPLES")?,
            "" => writeln!(out, ".PP")?,
            // At the beginning of a line a dot or a quote would be a request.
            _ => writeln!(out, "\\&{}", line.replace('\\', "\\e").replace('-', "\\-"))?,
        }
    }
    if is_command { writeln!(out, ".fi") } else { Ok(()) }
}

fn write_all(dir: &Path, pages: &[Page]) -> anyhow::Result<()> {
    std::fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
    let (mut files, mut outputs) = (Files::default(), Vec::new());
    let place = place_of(dir);
    for page in pages {
        let name = format!("{}.1", page.name);
        let path = dir.join(&name);
        files.writes_in_directory("--out-dir", &path, place.join(name))?;
        let mut out = Output::open(Some(&path))?;
        out.write_all(page.text.as_bytes())?;
        outputs.push(out);
    }
    Output::commit_all(outputs)
}
