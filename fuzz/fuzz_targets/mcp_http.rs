//! Responses of an MCP server over HTTP: what comes out is a message.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| gangline_harness::fuzzing::mcp_http(bytes));
