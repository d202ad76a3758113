//! The seeds of the fuzz targets.

use gangline_testkit::seeds;

use super::*;

#[test]
fn seeds_of_claude_code() {
    seeds::check("claude", claude);
}

#[test]
fn seeds_of_codex() {
    seeds::check("codex", codex);
}

#[test]
fn seeds_of_acp_programs() {
    seeds::check("acp", acp);
}

#[test]
fn seeds_of_screens() {
    seeds::check("screen", screen);
}
