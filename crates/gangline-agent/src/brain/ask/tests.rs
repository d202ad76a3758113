use serde_json::json;

use super::*;

/// F27: a secret is masked in every argument, so that no cut and no list leaves half of it.
#[test]
fn every_text_of_the_arguments_is_masked_by_itself() {
    let redactor = Redactor::new(["hunter2hunter2".to_owned()]);
    let input = json!({
        "command": "echo hunter2hunter2\nls",
        "edits": [{"new_string": "x hunter2hunter2"}, 1, null, true],
    });
    let expect = json!({
        "command": "echo [masked]\nls",
        "edits": [{"new_string": "x [masked]"}, 1, null, true],
    });
    assert_eq!(masked(input, &redactor), expect);
}
