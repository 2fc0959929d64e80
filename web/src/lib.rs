//! The WebAssembly module of the page: one robots.txt, parsed once, and questions about it in JSON.
//!
//! The interface is four C functions and two buffers. A program asks for space with
//! [`input`](exports::input), writes bytes there, and calls [`set_robots`](exports::set_robots) or
//! [`ask`](exports::ask). The answer is at [`output`](exports::output). No function reads a
//! pointer, so there is no `unsafe` block; only the names of the exports are marked.

#![deny(unsafe_code)]

pub mod answers;
// A name that other programs link to is `unsafe`, because two functions could have the same one.
#[allow(unsafe_code)]
pub mod exports;
