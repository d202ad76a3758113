use super::*;

#[test]
fn a_call_keeps_a_turn_until_its_limit() {
    let at = |minutes: u64| Duration::from_secs(minutes * 60);
    let mut running = Running::default();
    running.begin("a", at(0));
    running.begin("b", at(20));
    running.begin("b", at(25));
    assert!(running.beats("a", at(29)) && !running.beats("a", at(30)));
    assert!(running.beats("b", at(49)) && !running.beats("b", at(50)));
    assert!(!running.beats("c", at(1)));
    running.end("b");
    assert!(running.any_beats(at(29)) && !running.any_beats(at(31)));
    running.decided(at(40));
    assert!(running.beats("a", at(69)) && !running.beats("b", at(41)));
    running.clear();
    assert!(!running.any_beats(at(41)));
}
