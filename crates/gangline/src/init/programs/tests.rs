//! The table of programs fits to the backends.

use super::*;

#[test]
fn no_program_stands_in_the_table_twice() {
    let names: std::collections::BTreeSet<_> = PROGRAMS.iter().map(|it| it.name).collect();
    assert_eq!(names.len(), PROGRAMS.len());
    for program in PROGRAMS {
        let entry = gangline_runtime::registry::built_in(program.backend).unwrap();
        assert_eq!(entry.program, Some(program.name));
    }
}
