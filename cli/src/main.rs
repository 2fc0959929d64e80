//! The `robosieve` command: the allocator and the exit code. Everything else is in the library of
//! this package, which the Python package runs too, with the allocator of its process.

/// The system's allocator cost a third more time in compiling; filtering hardly allocates.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> std::process::ExitCode {
    robosieve_cli::run(std::env::args_os()).number().into()
}
