//! Tests of which adapter drives what.

use super::*;

#[test]
fn every_built_in_backend_has_an_adapter() {
    let without = ENTRIES.iter().filter(|entry| of(entry).is_none()).map(|entry| entry.name);
    assert_eq!(without.collect::<Vec<_>>(), [""; 0]);
    assert!(make("no-such").is_err());
}
