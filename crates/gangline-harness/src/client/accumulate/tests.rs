//! Blocks come out as they went in, however their pieces are cut and interleaved.

use proptest::prelude::*;

use super::*;

fn feed_all(accumulator: &mut Accumulator, events: &[Value]) -> Vec<Step> {
    let mut steps = Vec::new();
    for event in events {
        steps.extend(accumulator.feed("", &event.to_string()).unwrap());
    }
    steps
}

#[derive(Clone, Debug)]
enum Piece {
    Text(String),
    Thinking(String, String),
    Tool(Value),
    Strange(Value),
}

fn pieces() -> impl Strategy<Value = Piece> {
    let number = any::<i32>().prop_map(|number| json!(number));
    let text = "\\PC{0,10}".prop_map(|text| json!(text));
    let value = prop_oneof![number, text, Just(json!(null)), Just(json!({"a": [1, {}]}))];
    let object = prop::collection::btree_map("[a-z\"\\\\é]{1,4}", value, 0..4)
        .prop_map(|fields| json!(fields));
    prop_oneof![
        "\\PC{0,30}".prop_map(Piece::Text),
        ("\\PC{0,20}", "[A-Za-z0-9+/=]{0,20}").prop_map(|(text, sign)| Piece::Thinking(text, sign)),
        object.clone().prop_map(Piece::Tool),
        object.prop_map(Piece::Strange),
    ]
}

/// The text in pieces of at most `size` characters.
fn cut(text: &str, size: usize) -> Vec<String> {
    let characters: Vec<char> = text.chars().collect();
    characters.chunks(size).map(|part| part.iter().collect()).collect()
}

/// Returns the events of a block and what shall come of it.
fn events_of(index: usize, piece: &Piece, size: usize) -> (Vec<Value>, Value) {
    let delta = |kind: &str, field: &str, text: &str| {
        cut(text, size).into_iter().map(|part| json!({"type": kind, field: part})).collect()
    };
    let (start, deltas, block): (Value, Vec<Value>, Value) = match piece {
        Piece::Text(text) => (
            json!({"type": "text", "text": ""}),
            delta("text_delta", "text", text),
            json!({"type": "text", "text": text}),
        ),
        Piece::Thinking(text, sign) => (
            json!({"type": "thinking", "thinking": "", "signature": ""}),
            [
                delta("thinking_delta", "thinking", text),
                delta("signature_delta", "signature", sign),
            ]
            .concat(),
            json!({"type": "thinking", "thinking": text, "signature": sign}),
        ),
        Piece::Tool(input) => (
            json!({"type": "tool_use", "id": "x", "name": "n", "input": {}}),
            delta("input_json_delta", "partial_json", &input.to_string()),
            json!({"type": "tool_use", "id": "x", "name": "n", "input": input}),
        ),
        Piece::Strange(data) => {
            let block = json!({"type": "of tomorrow", "data": data});
            (block.clone(), vec![], block)
        }
    };
    let mut events =
        vec![json!({"type": "content_block_start", "index": index, "content_block": start})];
    events.extend(
        deltas
            .into_iter()
            .map(|delta| json!({"type": "content_block_delta", "index": index, "delta": delta})),
    );
    events.push(json!({"type": "content_block_stop", "index": index}));
    (events, block)
}

proptest! {
    #[test]
    fn blocks_come_out_as_they_went_in(
        pieces in prop::collection::vec(pieces(), 0..6),
        size in 1usize..9,
        order in prop::collection::vec(any::<prop::sample::Index>(), 200),
    ) {
        let blocks: Vec<(Vec<Value>, Value)> =
            pieces.iter().enumerate().map(|(index, piece)| events_of(index, piece, size)).collect();
        let expected: Vec<&Value> = blocks.iter().map(|(_, block)| block).collect();
        // Blocks may be interleaved; each one's own events keep their order.
        let mut queues: Vec<std::vec::IntoIter<Value>> =
            blocks.iter().map(|(events, _)| events.clone().into_iter()).collect();
        let mut accumulator = Accumulator::default();
        let mut done = vec![None; queues.len()];
        let mut order = order.into_iter().cycle();
        while queues.iter().any(|queue| queue.len() > 0) {
            let at = order.next().unwrap().index(queues.len());
            let at = (0..queues.len()).map(|step| (at + step) % queues.len())
                .find(|at| queues[*at].len() > 0).unwrap();
            let event = queues[at].next().unwrap();
            if let Some(Step::Block(completed)) =
                accumulator.feed("", &event.to_string()).unwrap()
            {
                prop_assert_eq!(completed.bad_input, None);
                done[at] = Some(Value::Object(completed.block.0));
            }
        }
        let done: Vec<Value> = done.into_iter().map(Option::unwrap).collect();
        prop_assert_eq!(done.iter().collect::<Vec<_>>(), expected);
    }

    #[test]
    fn no_event_makes_it_panic(
        kinds in prop::collection::vec(prop::sample::select(vec![
            "message_start", "content_block_start", "content_block_delta", "content_block_stop",
            "message_delta", "message_stop", "error", "ping",
        ]), 0..20),
        odd in prop::sample::select(vec![
            json!(null), json!(7), json!("x"), json!([]), json!({"type": 5}),
            json!({"type": "input_json_delta"}), json!({"type": "citations_delta", "citation": {}}),
        ]),
    ) {
        let mut accumulator = Accumulator::default();
        for kind in kinds {
            let event = json!({"type": kind, "index": 0, "message": odd, "content_block": odd,
                "delta": odd, "usage": odd, "error": odd});
            let _ = accumulator.feed("", &event.to_string());
        }
    }
}

#[test]
fn usage_is_the_last_total_of_each_count() {
    let mut accumulator = Accumulator::default();
    let steps = feed_all(
        &mut accumulator,
        &[
            json!({"type": "message_start", "message": {"id": "m", "model": "x", "usage":
                {"input_tokens": 10, "output_tokens": 1, "cache_creation_input_tokens": 3}}}),
            json!({"type": "message_delta", "delta": {}, "usage": {"output_tokens": 5}}),
            json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"},
                "usage": {"output_tokens": 9, "cache_read_input_tokens": null}}),
            json!({"type": "message_stop"}),
        ],
    );
    let usage = Usage {
        input_tokens: 10,
        output_tokens: 9,
        cache_creation_input_tokens: 3,
        cache_read_input_tokens: 0,
    };
    let response = Response {
        usage,
        stop_reason: Some("end_turn".into()),
        id: "m".into(),
        model: "x".into(),
        blocks: vec![],
    };
    assert_eq!(steps, [Step::End(response)]);
}

#[test]
fn citations_are_collected() {
    let mut accumulator = Accumulator::default();
    let cite = |number: u8| {
        json!({"type": "content_block_delta", "index": 0,
            "delta": {"type": "citations_delta", "citation": {"n": number}}})
    };
    let steps = feed_all(
        &mut accumulator,
        &[
            json!({"type": "content_block_start", "index": 0,
                "content_block": {"type": "text", "text": "", "citations": null}}),
            cite(1),
            cite(2),
            json!({"type": "content_block_stop", "index": 0}),
        ],
    );
    let Step::Block(Completed { block, .. }) = &steps[0] else { panic!() };
    assert_eq!(block.as_json()["citations"], json!([{"n": 1}, {"n": 2}]));
}

/// Some servers leave out the last event.
#[test]
fn a_stream_that_ends_after_its_stop_reason_is_whole_and_any_other_is_not() {
    let reason = json!({"type": "message_delta", "delta": {"stop_reason": "end_turn"}});
    let open = json!({"type": "content_block_start", "index": 0, "content_block": {}});
    for (events, whole) in [
        (vec![], false),
        (vec![open.clone()], false),
        (vec![open, reason.clone()], false),
        (vec![reason], true),
    ] {
        let mut accumulator = Accumulator::default();
        feed_all(&mut accumulator, &events);
        assert_eq!(accumulator.end_of_stream().is_ok(), whole, "{events:?}");
    }
}

/// Feeds the deltas of one block and returns the block.
fn block_of(start: &str, deltas: &[&str]) -> Completed {
    let mut accumulator = Accumulator::default();
    let mut feed = |data: &str| accumulator.feed("", data).unwrap();
    feed(&format!(r#"{{"type":"content_block_start","index":0,"content_block":{start}}}"#));
    for delta in deltas {
        feed(&format!(r#"{{"type":"content_block_delta","index":0,"delta":{delta}}}"#));
    }
    match feed(r#"{"type":"content_block_stop","index":0}"#) {
        Some(Step::Block(block)) => block,
        other => panic!("{other:?}"),
    }
}

#[test]
fn half_a_character_is_replaced_and_two_halves_are_one() {
    let text = |pieces: &[&str]| {
        let deltas: Vec<String> =
            pieces.iter().map(|it| format!(r#"{{"type":"text_delta","text":"{it}"}}"#)).collect();
        let deltas: Vec<&str> = deltas.iter().map(String::as_str).collect();
        block_of(r#"{"type":"text","text":""}"#, &deltas).block.0["text"].clone()
    };
    assert_eq!(text(&[r"a \ud83d", r"\ude80 b"]), "a \u{1f680} b");
    assert_eq!(text(&[r"cut \ud83d end"]), "cut \u{fffd} end");
    assert_eq!(text(&[r"cut \ud83d"]), "cut \u{fffd}");
    let tool = r#"{"type":"tool_use","id":"t","name":"bash","input":{}}"#;
    let input = |pieces: &[&str]| {
        let deltas: Vec<String> = pieces
            .iter()
            .map(|it| format!(r#"{{"type":"input_json_delta","partial_json":"{it}"}}"#))
            .collect();
        let deltas: Vec<&str> = deltas.iter().map(String::as_str).collect();
        let block = block_of(tool, &deltas);
        assert_eq!(block.bad_input, None);
        block.block.0["input"].clone()
    };
    // As escapes of the input's own JSON, whole and cut, and as characters that were cut.
    assert_eq!(input(&[r#"{\"a\":\"x \\ud83d\"}"#]), json!({"a": "x \u{fffd}"}));
    assert_eq!(input(&[r#"{\"a\":\"x \\ud83d"#, r#"\\ude80\"}"#]), json!({"a": "x \u{1f680}"}));
    assert_eq!(input(&[r#"{\"a\":\"x \ud83d"#, r#"\ude80\"}"#]), json!({"a": "x \u{1f680}"}));
}
