//! Archives into a snapshot file, as `robosieve compile` does: `snapshot [--history] OUT ARCHIVE...`.
//!
//! Without arguments, it compiles the archives of `datasets/small` into memory.

use robosieve::{Compiler, Result};
use std::path::PathBuf;

const SMALL: [&str; 2] = ["datasets/small/robots.warc", "datasets/small/more.jsonl"];

fn main() -> Result<()> {
    let mut arguments = std::env::args_os().skip(1).map(PathBuf::from).peekable();
    let has_history = arguments.next_if(|first| first == "--history").is_some();
    let out = arguments.next();
    let archives: Vec<PathBuf> = if out.is_some() {
        arguments.collect()
    } else {
        SMALL.map(PathBuf::from).into()
    };
    let mut compiler = Compiler::default().history(has_history);
    archives
        .iter()
        .try_for_each(|archive| compiler.add_path(archive))?;
    let compiled = compiler.finish()?;
    match &out {
        Some(path) => println!("a file of {} bytes", compiled.write_to(path)?.bytes_out),
        None => println!("a snapshot of {} bytes", compiled.to_vec()?.len()),
    }
    Ok(())
}
