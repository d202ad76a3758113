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

#[test]
fn a_row_that_the_code_has_left_behind_and_a_wrong_sum_are_found() {
    let table = |sum: u32| {
        format!(
            "| leg before | a → b | 2 | `x.rs` | `push(` |\n| leg after | b → a | 1 | `y.rs` | `pop(` |\n\
             {BEFORE} 15 | 2 |\n{IN_ALL} 33 | {sum} |\n"
        )
    };
    let code = |file: &str| (file == "x.rs").then(|| "push(it)".to_owned());
    let both = |file: &str| code(file).or_else(|| Some("pop()".to_owned()));
    assert_eq!(left_behind(&table(3), both).unwrap(), [""; 0]);
    assert_eq!(
        left_behind(&table(3), code).unwrap(),
        ["`pop(` is not in y.rs any more: correct the row"]
    );
    assert_eq!(
        left_behind(&table(4), both).unwrap(),
        [format!("the row `{IN_ALL}` must end with 3, the sum of the legs")]
    );
}
