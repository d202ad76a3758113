//! What models write for an argument.

use serde_json::json;

use super::*;

/// R2-21: whom a question is for, as one text or as a list.
#[test]
fn names_are_a_text_or_a_list() {
    let names = |to| names(&json!({"to": to}), "to");
    assert_eq!(names(json!("oak-ada, oak-bob")), Ok("oak-ada, oak-bob".to_owned()));
    assert_eq!(names(json!(["oak-ada", "oak-bob"])), Ok("oak-ada,oak-bob".to_owned()));
    assert_eq!(names(json!([])), Ok(String::new()));
    assert_eq!(names(json!(null)), Ok(String::new()));
    assert_eq!(names(json!([5])), Err("`to` must be a list of strings".to_owned()));
    assert_eq!(names(json!(5)), Err("`to` must be a string".to_owned()));
}
