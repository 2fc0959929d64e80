//! The `robosieve` command: the allocator and the exit code. Everything else is in the library of
//! this package, which the Python package runs too, with the allocator of its process.

use std::alloc::{GlobalAlloc, Layout};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

#[global_allocator]
static ALLOCATOR: Allocator = Allocator(mimalloc::MiMalloc);

fn main() -> std::process::ExitCode {
    robosieve_cli::run(std::env::args_os()).number().into()
}

/// mimalloc: the system's allocator cost a third more time in compiling; filtering hardly allocates.
///
/// If the system has no more memory (`ulimit -v`, containers), Rust would abort the process. This
/// allocator ends it with a message and the exit status of an error.
struct Allocator(mimalloc::MiMalloc);

// SAFETY: All memory is that of mimalloc, for the same layouts.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: The caller's layout is passed on, here and below.
        checked(unsafe { self.0.alloc(layout) }, layout.size())
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: As in `alloc`.
        checked(unsafe { self.0.alloc_zeroed(layout) }, layout.size())
    }

    #[inline]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: As in `alloc`.
        checked(unsafe { self.0.realloc(pointer, layout, size) }, size)
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: As in `alloc`.
        unsafe { self.0.dealloc(pointer, layout) }
    }
}

#[inline]
fn checked(pointer: *mut u8, size: usize) -> *mut u8 {
    if pointer.is_null() {
        end_without_memory(size);
    }
    pointer
}

#[cold]
fn end_without_memory(size: usize) -> ! {
    static IS_ENDING: AtomicBool = AtomicBool::new(false);
    // Other threads fail too, and wait for the end. If the message itself needs memory, it is left
    // out.
    if IS_ENDING.swap(true, Ordering::Relaxed) {
        std::thread::sleep(Duration::from_secs(1));
        std::process::abort();
    }
    let _ = writeln!(
        std::io::stderr(),
        "robosieve: not enough memory: the system refused {size} bytes; raise the limit on memory \
         (ulimit -v), or give fewer threads with -j"
    );
    std::process::exit(2)
}
