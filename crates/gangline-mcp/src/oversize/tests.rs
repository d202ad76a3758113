//! Ids of long lines, wherever they stand in it.

use proptest::prelude::*;
use serde_json::json;

use super::{Long, Scan};

fn scanned(line: &str) -> Long {
    let mut scan = Scan::default();
    line.bytes().for_each(|byte| scan.take(byte));
    scan.end()
}

#[test]
fn the_id_of_the_outermost_object_is_found() {
    let id = |id: serde_json::Value| Long::Request(id);
    let cases = [
        (r#"{"id":7,"method":"tools/call","params":{"id":8}}"#, id(json!(7))),
        (
            r#"{"method":"x","params":{"id":8,"text":"\",\"id\":9"},"jsonrpc":"2.0","id":7}"#,
            id(json!(7)),
        ),
        (r#"{ "params" : [ {"id": 1}, "}" ] , "id" : "a\"b" } "#, id(json!("a\"b"))),
        ("{\"id\":\t12.5\r", Long::Unknown),
        (r#"{"id":-3,"params":{"#, id(json!(-3))),
        (r#"{"params":{"text":"\\"},"id":4}"#, id(json!(4))),
        (r#"{"\u0069d":4,"x":"id","id2":5}"#, Long::Notification),
        (r#"{"id":null}"#, Long::Notification),
        (r#"{"id":{"id":5}}"#, Long::Notification),
        (r#"{"id":[5]}"#, Long::Notification),
        (r#"{"method":"notifications/x","params":{"id":8}}"#, Long::Notification),
        (r#"[{"id":7}]"#, Long::Unknown),
        (r#""id":7"#, Long::Unknown),
        (r#"{"text":"id":7"#, Long::Unknown),
        ("", Long::Unknown),
        ("}}}]]", Long::Unknown),
    ];
    for (line, expected) in cases {
        assert_eq!(scanned(line), expected, "{line}");
    }
    let long = "x".repeat(200);
    assert_eq!(scanned(&format!(r#"{{"id":"{long}"}}"#)), Long::Unknown, "it waits");
    assert_eq!(scanned(&format!(r#"{{"id":7,"{long}":"{long}"}}"#)), Long::Request(json!(7)));
}

proptest! {
    /// Whatever else a request has in it, its own id is found; whatever bytes come, nothing breaks.
    #[test]
    fn any_request_is_recognised(id in any::<i64>(), text in any::<String>(), key in any::<String>()) {
        let message = json!({"params": {"id": text, key: {"id": [text]}}, "a": text, "id": id});
        prop_assert_eq!(scanned(&message.to_string()), Long::Request(json!(id)));
    }

    #[test]
    fn any_bytes_are_taken(bytes in any::<Vec<u8>>()) {
        let mut scan = Scan::default();
        bytes.iter().for_each(|byte| scan.take(*byte));
        let _ = scan.end();
    }
}
