//! A stream of a model's API: however it is cut, it says the same.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| gangline_harness::fuzzing::sse(bytes));
