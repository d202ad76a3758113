//! A response of a model's API at the relay: its tokens are the same however it is cut,
//! and none is beyond belief.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| gangline_relay::fuzzing::usage(bytes));
