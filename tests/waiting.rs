//! Waits of the tests. No clock decides a test: a bound only ends a wait that would last forever,
//! and says what was waited for.

use std::process::{Child, ExitStatus};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::{Duration, Instant};

/// Far above what the slowest step needs on a busy machine.
pub(crate) const BOUND: Duration = Duration::from_secs(600);

/// A shell function: `wait_for WHAT COMMAND…` runs the command until it succeeds.
pub(crate) const WAIT_FOR: &str = "wait_for() { local what=$1; shift; SECONDS=0; until \"$@\"; do \
     if ((SECONDS > 600)); then echo \"waited 600 s for $what\"; kill -9 0; fi; sleep .01; done; }; ";

/// Waits until a condition holds.
pub(crate) fn wait_until(what: &str, mut is_met: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is_met() {
        assert!(start.elapsed() < BOUND, "waited {BOUND:?} for {what}");
        thread::sleep(Duration::from_millis(1));
    }
}

/// The exit status of a child. A child that does not end is killed.
pub(crate) fn ended(what: &str, child: &mut Child) -> ExitStatus {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait().unwrap() {
            return status;
        }
        if start.elapsed() > BOUND {
            child.kill().unwrap();
            child.wait().unwrap();
            panic!("waited {BOUND:?} for the end of {what}");
        }
        thread::sleep(Duration::from_millis(1));
    }
}

/// Runs work on a thread of its own, whose panic is an `Err`. The work reports its steps; each has
/// the whole bound.
pub(crate) fn bounded<T: Send + 'static>(
    work: impl FnOnce(&dyn Fn(String)) -> T + Send + 'static,
) -> thread::Result<T> {
    let (sender, steps) = mpsc::channel();
    let worker = thread::spawn(move || {
        work(&|step| {
            let _ = sender.send(step);
        })
    });
    let mut last = "the first step".to_owned();
    loop {
        match steps.recv_timeout(BOUND) {
            Ok(step) => last = step,
            Err(RecvTimeoutError::Disconnected) => return worker.join(),
            Err(RecvTimeoutError::Timeout) => panic!("waited {BOUND:?} for {last}"),
        }
    }
}

#[test]
fn steps_are_named_and_panics_returned() {
    assert_eq!(bounded(|step| step("one".to_owned())).ok(), Some(()));
    assert!(bounded(|_| -> () { panic!("this step panics") }).is_err());
    let mut left = 3;
    wait_until("three tries", || {
        left -= 1;
        left == 0
    });
}
