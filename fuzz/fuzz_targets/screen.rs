//! A screen of a program in a terminal: what is read off it stands on it.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| gangline_runtime::fuzzing::screen(bytes));
