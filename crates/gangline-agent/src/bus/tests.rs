use super::*;

fn nothing_to_answer(heard: Heard) -> Incoming {
    let turn = TurnId { epoch: gangline_core::Epoch(1), number: 1 };
    Incoming::NoReply { turn, message: None, heard }
}

/// Who comes when the loop takes nothing any more hears so, and so does who was in its queue by then.
#[tokio::test]
async fn a_caller_hears_of_a_loop_that_ends() {
    let (agent_loop, mut incoming) = mpsc::channel(2);
    let early = taken(&agent_loop, nothing_to_answer);
    let ends = async {
        // The early one waits in the queue for its answer.
        while incoming.is_empty() {
            tokio::task::yield_now().await;
        }
        incoming.close();
        drop(incoming);
    };
    let (early, ()) = tokio::join!(early, ends);
    assert_eq!(early, Err(Ending));
    assert_eq!(taken(&agent_loop, nothing_to_answer).await, Err(Ending));
}

/// A loop that took the word and ends before it has dealt with it has not heard it.
#[tokio::test]
async fn a_caller_hears_of_a_loop_that_ends_over_its_word() {
    let (agent_loop, mut incoming) = mpsc::channel(1);
    let takes = async { drop(incoming.recv().await) };
    let (told, ()) = tokio::join!(taken(&agent_loop, nothing_to_answer), takes);
    assert_eq!(told, Err(Ending));
}

#[tokio::test]
async fn a_caller_goes_on_when_the_loop_has_heard() {
    let (agent_loop, mut incoming) = mpsc::channel(1);
    let hears = async {
        let Some(Incoming::NoReply { heard, .. }) = incoming.recv().await else { unreachable!() };
        heard.send(()).unwrap();
    };
    let (told, ()) = tokio::join!(taken(&agent_loop, nothing_to_answer), hears);
    assert_eq!(told, Ok(()));
}
