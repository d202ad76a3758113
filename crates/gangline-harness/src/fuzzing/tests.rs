//! The seeds of the fuzz targets.

use gangline_testkit::seeds;

use super::*;

#[test]
fn seeds_of_model_streams() {
    seeds::check("sse", sse);
}

#[test]
fn seeds_of_mcp_servers() {
    seeds::check("mcp_stdio", mcp_stdio);
    seeds::check("mcp_http", mcp_http);
}
