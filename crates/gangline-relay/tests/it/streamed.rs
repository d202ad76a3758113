//! Nothing is held back, a spent budget holds at the next request, and ends are told.

use futures::StreamExt as _;
use gangline_core::budget::CallOutcome;
use gangline_os::clock::UnixMicros;
use gangline_relay::{Limits, Stop};
use serde_json::Value;

use crate::stage::{Api, Stage};

const START: &str = "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"model\":\
    \"priced\",\"usage\":{\"input_tokens\":50,\"output_tokens\":1}}}\n\n";
const DELTA: &str =
    "event: message_delta\ndata: {\"type\":\"message_delta\",\"usage\":{\"output_tokens\":10}}\n\n";
const STOP: &str = "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n";

/// Each event has reached the client before the next one is sent.
#[tokio::test]
async fn each_event_goes_on_as_it_comes() {
    let (address, api) = Api::new().await;
    let mut stage = Stage::with_key(&address).await;
    let (response, mut call) = tokio::join!(stage.ask("{}"), async {
        let mut call = api.take().await;
        call.begin_events().await;
        call
    });
    assert_eq!(response.headers()["x-request"], "7");
    assert!(!response.headers().contains_key("x-hop"));
    let mut pieces = response.bytes_stream();
    for (event, tokens) in [(START, 51), ("data: half ", 51), ("\n\n", 51), (DELTA, 60), (STOP, 60)]
    {
        call.chunk(event).await;
        assert_eq!(pieces.next().await.unwrap().unwrap(), event.as_bytes());
        assert_eq!(stage.totals.tokens(), tokens, "it is counted before it goes on");
    }
    call.end().await;
    assert!(pieces.next().await.is_none());
    let report = stage.report().await;
    assert_eq!((report.outcome, report.cost_micros), (CallOutcome::Answered, Some(70)));
}

/// A budget stops within one request of its limit, although the client asks anew before the response
/// has ended.
#[tokio::test]
async fn the_request_after_the_limit_is_refused_in_the_vendors_words() {
    let (address, api) = Api::new().await;
    let mut stage = Stage::with_key(&address).await;
    let why = "Gangline: the budget of lab-ada is spent".to_owned();
    let (ever, past) = (UnixMicros(i64::MAX), UnixMicros(1));
    let until =
        |tokens, micros, until| Limits(vec![Stop { tokens, micros, until, why: why.clone() }]);
    let stop = |tokens, micros| until(tokens, micros, ever);
    stage.limits.send_replace(stop(Some(60), None));
    let (response, mut call) = tokio::join!(stage.ask("{}"), async {
        let mut call = api.take().await;
        call.begin_events().await;
        call
    });
    let mut pieces = response.bytes_stream();
    call.chunk(START).await;
    pieces.next().await.unwrap().unwrap();
    // 51 of 60: another request passes.
    let (second, ()) = tokio::join!(stage.ask("{}"), async {
        let mut call = api.take().await;
        call.json("200 OK", "{\"model\":\"priced\"}").await;
    });
    assert_eq!(second.status(), 200);
    second.bytes().await.unwrap();
    assert_eq!(stage.report().await.tokens, None);
    call.chunk(DELTA).await;
    pieces.next().await.unwrap().unwrap();
    let refused = stage.ask("{}").await;
    assert_eq!(
        (refused.status().as_u16(), &refused.headers()["x-should-retry"]),
        (400, &"false".parse().unwrap())
    );
    let error: Value = serde_json::from_str(&refused.text().await.unwrap()).unwrap();
    assert_eq!(
        (&error["type"], &error["error"]["message"]),
        (&"error".into(), &why.clone().into())
    );
    assert_eq!(stage.report().await.outcome, CallOutcome::Refused);
    // What is under way ends as it would.
    call.chunk(STOP).await;
    call.end().await;
    assert_eq!(pieces.next().await.unwrap().unwrap(), STOP.as_bytes());
    assert!(pieces.next().await.is_none());
    assert_eq!(stage.report().await.tokens.unwrap().output, 10);
    // Money is a limit of its own, and a raised one holds at once.
    stage.limits.send_replace(stop(None, Some(70)));
    assert_eq!(stage.ask("{}").await.status(), 400);
    stage.limits.send_replace(stop(Some(61), Some(71)));
    let (passed, ()) = tokio::join!(stage.ask("{}"), async {
        api.take().await.json("200 OK", "{}").await;
    });
    assert_eq!(passed.status(), 200);
    // The day is over, and nobody has said so yet.
    stage.limits.send_replace(stop(Some(1), None));
    assert_eq!(stage.ask("{}").await.status(), 400);
    stage.limits.send_replace(until(Some(1), None, past));
    let (passed, ()) = tokio::join!(stage.ask("{}"), async {
        api.take().await.json("200 OK", "{}").await;
    });
    assert_eq!(passed.status(), 200);
}

#[tokio::test]
async fn a_response_that_is_cut_or_given_up_is_counted_as_far_as_it_came() {
    let (address, api) = Api::new().await;
    let mut stage = Stage::with_key(&address).await;
    for client_gives_up in [false, true] {
        let (response, mut call) = tokio::join!(stage.ask("{}"), async {
            let mut call = api.take().await;
            call.begin_events().await;
            call
        });
        let mut pieces = response.bytes_stream();
        call.chunk(START).await;
        pieces.next().await.unwrap().unwrap();
        if client_gives_up {
            drop(pieces);
            call.closed().await;
        } else {
            drop(call);
            assert!(pieces.next().await.unwrap().is_err(), "a cut is a cut for the client too");
        }
        let report = stage.report().await;
        assert_eq!((report.outcome, report.tokens.unwrap().input), (CallOutcome::Cut, 50));
    }
    assert_eq!(stage.totals.tokens(), 102);
    let (response, mut call) = tokio::join!(stage.ask("{}"), async {
        let mut call = api.take().await;
        call.begin_events().await;
        call
    });
    call.chunk(START).await;
    stage.stop.cancel();
    assert!(response.bytes().await.is_err(), "a relay that ends cuts what is under way");
}
