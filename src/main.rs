//! The `robosieve` command: the allocator, and the exit code; everything else is in `cli`.

mod cli;

/// The system's allocator cost a third more time in compiling; filtering hardly allocates.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    cli::run()
}
