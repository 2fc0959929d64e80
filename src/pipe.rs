//! The buffers of pipes that are read. On Linux a program can enlarge them.

/// Gives a pipe a buffer of 1 MiB, unless it has a larger one. Does nothing if this is not a pipe,
/// or if the system refuses: the pipes of a user have a limit together.
///
/// The writer of a pipe sleeps when it is full, and with the default of 64 KiB that happens four
/// times in each block of 256 KiB. `cat LIST | robosieve filter … - | cat` took 0.43 s with default
/// pipes, and 0.34 s with a large one before `filter`.
#[cfg(target_os = "linux")]
pub(crate) fn enlarge_pipe(pipe: impl std::os::fd::AsFd) {
    use rustix::pipe::{fcntl_getpipe_size, fcntl_setpipe_size};
    const SIZE: usize = 1 << 20;
    let pipe = pipe.as_fd();
    if fcntl_getpipe_size(pipe).is_ok_and(|size| size < SIZE) {
        // A refused pipe works as before, only slower.
        let _ = fcntl_setpipe_size(pipe, SIZE);
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn enlarge_pipe<P>(_: P) {}
