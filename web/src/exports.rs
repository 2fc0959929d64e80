//! The exported functions, and the two buffers that the page reads and writes.

use crate::answers::Tester;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The state of the module. WebAssembly has one thread here, so the lock is always free.
static STATE: Mutex<State> = Mutex::new(State {
    input: Vec::new(),
    output: Vec::new(),
    tester: None,
});

struct State {
    input: Vec<u8>,
    output: Vec<u8>,
    tester: Option<Tester>,
}

fn state() -> MutexGuard<'static, State> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes space for `len` bytes of input, and returns its address. The address is valid until the
/// next call.
#[unsafe(no_mangle)]
pub extern "C" fn input(len: usize) -> *mut u8 {
    let mut state = state();
    state.input = vec![0; len];
    state.input.as_mut_ptr()
}

/// Takes the input as the robots.txt of all questions that follow.
#[unsafe(no_mangle)]
pub extern "C" fn set_robots() {
    let mut state = state();
    let body = std::mem::take(&mut state.input);
    state.tester = Some(Tester::new(body));
}

/// Answers the question in the input, and returns the length of the answer. Both are JSON objects:
/// see [`Tester::answer`].
#[unsafe(no_mangle)]
pub extern "C" fn ask() -> usize {
    let mut state = state();
    let question = std::mem::take(&mut state.input);
    let tester = state.tester.get_or_insert_with(|| Tester::new(Vec::new()));
    state.output = tester.answer(&question).to_string().into_bytes();
    state.output.len()
}

/// The address of the last answer. It is valid until the next [`ask`].
#[unsafe(no_mangle)]
pub extern "C" fn output() -> *const u8 {
    state().output.as_ptr()
}
