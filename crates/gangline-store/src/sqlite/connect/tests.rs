//! Which SQLite is accepted.

use super::recent;

#[test]
fn only_a_sqlite_without_the_shared_log_corruption_is_accepted() {
    for (version, accepted) in [
        ("3.51.3", true),
        ("3.51.10", true),
        ("3.52.0", true),
        ("4.0.0", true),
        ("3.51.2", false),
        ("3.9.99", false),
        ("3.51", false),
        ("unknown", false),
    ] {
        assert_eq!(recent(version), accepted, "{version}");
    }
}
