//! `robosieve compile`: archives to a snapshot, with a report.

use super::args::CompileArgs;
use super::progress::Progress;
use super::report::print_compile;
use anyhow::{Context, bail};
use robosieve::Compiler;

pub(crate) fn run(args: &CompileArgs, quiet: bool) -> anyhow::Result<()> {
    if args.output.is_dir() {
        bail!("{}: cannot be an output: it is a directory; name a file in it", args.output.display());
    }
    let progress = Progress::count("entries", quiet);
    let mut compiler = Compiler::new(args.profile.value());
    compiler.skip_damaged(args.skip_damaged);
    compiler.add_paths(&args.inputs, &|at| progress.set(at.entries))?;
    let mut compiled = compiler.finish()?;
    compiled.write_to(&args.output)?;
    progress.finish();
    if let Some(path) = &args.stats_json {
        let json = serde_json::to_string_pretty(compiled.report())?;
        std::fs::write(path, json + "\n").with_context(|| path.display().to_string())?;
    }
    if !quiet {
        print_compile(compiled.report(), progress.elapsed());
    }
    Ok(())
}
