//! The seeds of the fuzz target.

#[test]
fn seeds_of_responses() {
    gangline_testkit::seeds::check("usage", super::usage);
}
