use super::*;

#[test]
fn a_row_is_read_with_what_it_counts() {
    let table = "| when | way |\n|---|---|\n| leg before | a → b | 2 | `x.rs` | `push(` |\n";
    let expect = Leg {
        way: "a → b".to_owned(),
        crossings: 2,
        before_model: true,
        file: "x.rs".to_owned(),
        text: "push(".to_owned(),
    };
    assert_eq!(legs(table).unwrap(), [expect]);
}

#[test]
fn a_row_without_a_number_or_a_cell_is_an_error() {
    for row in ["| leg before | a → b | two | `x` | `y` |", "| leg after | a → b | 2 | `x` |"] {
        assert!(legs(row).is_err(), "{row}");
    }
    assert!(legs("no table").is_err());
}

#[test]
fn tasks_are_found_by_their_start() {
    let code = r#"tasks.spawn("link", x); tasks.spawn(HOOKS, y); tasks.spawn("chat", z);"#;
    assert_eq!(tasks_started(code), ["link", "hooks", "chat"]);
}
