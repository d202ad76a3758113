use super::*;

#[test]
fn ids_round_trip_through_their_written_form() {
    let message = MessageId(42);
    assert_eq!(message.to_string(), "m42");
    assert_eq!("m42".parse(), Ok(message));
    let turn = TurnId { epoch: Epoch(3), number: 17 };
    assert_eq!(turn.to_string(), "t3.17");
    assert_eq!("t3.17".parse(), Ok(turn));
}

#[test]
fn a_broken_id_names_what_was_wanted() {
    for bad in ["", "42", "m", "m-1", "m+1", "mx", "t1.2"] {
        assert!(bad.parse::<MessageId>().is_err(), "{bad}");
    }
    let error = "t1".parse::<TurnId>().unwrap_err();
    assert_eq!(error.to_string(), "`t1` is not a turn id such as `t3.17`");
}
