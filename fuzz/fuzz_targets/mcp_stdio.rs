//! Lines of an MCP server: each comes out as one line with its id.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| gangline_harness::fuzzing::mcp_stdio(bytes));
