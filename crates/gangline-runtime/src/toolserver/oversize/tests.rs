//! Long lines between others.

use serde_json::json;
use tokio::io::AsyncReadExt as _;

use super::{Long, Watched};

/// Lines within the cap are passed over; the others are told in order, the last without an end too.
#[tokio::test]
async fn long_lines_are_told_in_order() {
    let pad = " ".repeat(40);
    let input = format!(
        "{{\"id\":1}}\n{{\"id\":2{pad}}}\n\n{{\"id\":3}}{}\r\n{{\"id\":4{pad}}}\n{{\"id\":5{pad}}}",
        " ".repeat(32)
    );
    let mut watched = Watched::new(input.as_bytes(), 40);
    let mut read = String::new();
    watched.read_to_string(&mut read).await.unwrap();
    assert_eq!(read, input);
    let ids = [2, 4, 5].map(|id| Long::Request(json!(id)));
    assert_eq!([watched.long(), watched.long(), watched.long()], ids);
}
