//! A talk with Codex' app server: whoever asks is answered, and every turn has one end.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| gangline_runtime::fuzzing::codex(bytes));
