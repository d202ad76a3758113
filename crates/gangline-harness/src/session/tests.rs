//! The log's lines: golden form, torn ends, failed writes.

use serde_json::json;

use super::*;

#[test]
fn the_form_of_each_line_is_fixed() {
    let block: Block = serde_json::from_value(json!({"type": "text", "text": "x"})).unwrap();
    let usage = Usage { input_tokens: 1, ..Usage::default() };
    let stop_reason = Some("end_turn".to_owned());
    for (record, line) in [
        (Record::Session { v: 1, id: "s".into() }, r#"{"kind":"session","v":1,"id":"s"}"#),
        (
            Record::User { content: vec![block.clone()] },
            r#"{"kind":"user","content":[{"text":"x","type":"text"}]}"#,
        ),
        (
            Record::Block { block: block.clone() },
            r#"{"kind":"block","block":{"text":"x","type":"text"}}"#,
        ),
        (
            Record::End { stop_reason, usage },
            concat!(
                r#"{"kind":"end","stop_reason":"end_turn","usage":{"input_tokens":1,"#,
                r#""output_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0}}"#
            ),
        ),
        (
            Record::Result { block: block.clone() },
            r#"{"kind":"result","block":{"text":"x","type":"text"}}"#,
        ),
        (
            Record::Summary { content: vec![block], instructions: vec!["do".into()], usage },
            concat!(
                r#"{"kind":"summary","content":[{"text":"x","type":"text"}],"#,
                r#""instructions":["do"],"usage":{"input_tokens":1,"#,
                r#""output_tokens":0,"cache_creation_input_tokens":0,"cache_read_input_tokens":0}}"#
            ),
        ),
        (Record::Clear, r#"{"kind":"clear"}"#),
        (Record::Refused { from: 3 }, r#"{"kind":"refused","from":3}"#),
        (Record::ThoughtsDropped, r#"{"kind":"thoughts_dropped"}"#),
    ] {
        assert_eq!(
            serde_json::to_value(&record).unwrap(),
            serde_json::from_str::<Value>(line).unwrap()
        );
        assert_eq!(serde_json::from_str::<Record>(line).unwrap(), record);
        assert!(matches!(read_line(line.as_bytes()), Some(Line::Known(known)) if known == record));
    }
}

#[test]
fn an_append_after_a_torn_line_takes_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let (mut log, first) = SessionLog::open(&path).unwrap();
    log.append(&Record::User { content: vec![] }).unwrap();
    std::fs::OpenOptions::new()
        .append(true)
        .open(&path)
        .unwrap()
        .write_all(b"{\"kind\":\"user\",\"con")
        .unwrap();
    let (mut log, records) = SessionLog::open(&path).unwrap();
    assert_eq!(records.len(), 2);
    assert_eq!(records[0], first[0]);
    log.append(&Record::User { content: vec![Block::text("x")] }).unwrap();
    let (_, records) = SessionLog::open(&path).unwrap();
    assert_eq!(records[2], Record::User { content: vec![Block::text("x")] });
}

#[test]
fn a_failed_write_is_an_error_and_the_next_one_takes_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let (mut log, _) = SessionLog::open(&path).unwrap();
    let record = Record::User { content: vec![] };
    // A descriptor that cannot write stands for a disk that is full; half a line got through.
    let good = std::mem::replace(&mut log.file, File::open(&path).unwrap());
    assert!(matches!(log.append(&record), Err(SessionError::Append { .. })));
    log.file = good;
    log.file.write_all(b"{\"kind\":").unwrap();
    log.append(&record).unwrap();
    let (_, records) = SessionLog::open(&path).unwrap();
    assert_eq!(records[1..], [record]);
}

#[test]
fn what_is_not_a_regular_file_is_refused() {
    for path in ["/dev/zero", "/"] {
        let refused = SessionLog::open(Path::new(path));
        assert!(matches!(refused, Err(SessionError::Open { .. })), "{path}");
    }
}
