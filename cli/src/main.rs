//! The `robosieve` command: the allocator and the exit code. Everything else is in the library of
//! this package, which the Python package runs too, with the allocator of its process.

use std::alloc::{GlobalAlloc, Layout, System};
use std::io::Write;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

// Before `main`, Rust opens `/dev/null` in place of closed standard streams.
#[cfg(unix)]
ctor::declarative::ctor! {
    #[ctor(unsafe)]
    fn record_closed_streams() {
        robosieve_cli::record_closed_streams();
    }
}

#[global_allocator]
static ALLOCATOR: Allocator = Allocator(mimalloc::MiMalloc);

fn main() -> std::process::ExitCode {
    robosieve_cli::run(std::env::args_os()).number().into()
}

/// mimalloc: the system's allocator cost a third more time in compiling; filtering hardly allocates.
///
/// Large blocks are those of the system, which takes them back when they are freed. mimalloc keeps
/// the pages of a block that another thread frees until the system runs out of memory
/// (`MADV_FREE`): filtering nine lists with lines of 63 MiB on eight threads took 1.2 GB so.
///
/// If the system has no more memory (`ulimit -v`, containers), Rust would abort the process. This
/// allocator ends it with a message and the exit status of an error.
/// mimalloc 3 starts 0.4 ms slower, a sixth of a `check`, and compiles no faster. Huge pages spent
/// 9 % of the processor time of `compile` on clearing memory.
struct Allocator(mimalloc::MiMalloc);

/// The size of a large block. The allocator of glibc maps each that is not smaller.
const LARGE: usize = 32 << 20;

// SAFETY: Each size has one allocator, which gets the same layouts for a block.
unsafe impl GlobalAlloc for Allocator {
    #[inline]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: The caller's layout is passed on, here and below.
        let pointer = unsafe {
            match layout.size() >= LARGE {
                true => System.alloc(layout),
                false => self.0.alloc(layout),
            }
        };
        checked(pointer, layout.size())
    }

    #[inline]
    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: As in `alloc`.
        let pointer = unsafe {
            match layout.size() >= LARGE {
                true => System.alloc_zeroed(layout),
                false => self.0.alloc_zeroed(layout),
            }
        };
        checked(pointer, layout.size())
    }

    #[inline]
    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: As in `alloc`. The size and the alignment are those of a layout, by the contract
        // of this method. A block that moves to the other allocator is copied up to the shorter
        // size.
        let new = unsafe {
            match (layout.size() >= LARGE, size >= LARGE) {
                (false, false) => self.0.realloc(pointer, layout, size),
                (true, true) => System.realloc(pointer, layout, size),
                _ => {
                    let new = self.alloc(Layout::from_size_align_unchecked(size, layout.align()));
                    new.copy_from_nonoverlapping(pointer, layout.size().min(size));
                    self.dealloc(pointer, layout);
                    new
                }
            }
        };
        checked(new, size)
    }

    #[inline]
    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: As in `alloc`.
        unsafe {
            match layout.size() >= LARGE {
                true => System.dealloc(pointer, layout),
                false => self.0.dealloc(pointer, layout),
            }
        }
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
