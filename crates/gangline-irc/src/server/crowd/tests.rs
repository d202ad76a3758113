//! Who gets in while others have many connections.

use super::*;

fn limits() -> Limits {
    Limits { registering_each: 2, ready_each: 3, ..Limits::default() }
}

#[test]
fn each_user_has_so_many_connections_and_a_closed_one_makes_room() {
    let (mut crowd, limits) = (Crowd::default(), limits());
    let (eve, bob) = (Origin::User(1), Origin::User(2));
    for _ in 0..2 {
        assert_eq!(crowd.comes(eve, &limits, 0), Ok(Entry::Now));
    }
    assert_eq!(crowd.comes(eve, &limits, 0), Ok(Entry::Waits), "the third waits");
    assert_eq!(crowd.comes(bob, &limits, 0), Ok(Entry::Now));
    assert!(!crowd.may_be_read(eve, &limits));
    crowd.leaves(eve, false);
    assert!(crowd.may_be_read(eve, &limits));
    assert_eq!(crowd.comes(eve, &limits, 0), Ok(Entry::Waits), "behind the one that waits");
    crowd.is_read(eve);
    crowd.leaves(eve, false);
    crowd.is_read(eve);
    assert_eq!(crowd.registers(eve, &limits), Ok(()));
    assert_eq!(crowd.comes(eve, &limits, 0), Ok(Entry::Now), "a registered one has left the queue");
    for _ in 0..2 {
        assert_eq!(crowd.registers(eve, &limits), Ok(()));
    }
    assert_eq!(crowd.comes(eve, &limits, 0), Ok(Entry::Now));
    assert!(crowd.registers(eve, &limits).is_err_and(|why| why.contains("has 3 connections")));
    crowd.leaves(eve, true);
    assert_eq!(crowd.registers(eve, &limits), Ok(()));
}

#[test]
fn the_servers_own_user_may_have_any_number_of_registered_connections() {
    let (mut crowd, limits) = (Crowd::default(), limits());
    for _ in 0..50 {
        assert_eq!(crowd.comes(Origin::Own, &limits, 0), Ok(Entry::Now));
        assert_eq!(crowd.registers(Origin::Own, &limits), Ok(()));
    }
    let nobody = Origin::Unknown([127, 0, 0, 1].into());
    for number in 0..4 {
        assert_eq!(crowd.comes(nobody, &limits, 0), Ok(Entry::Now));
        assert_eq!(crowd.registers(nobody, &limits).is_ok(), number < 3, "{number}");
    }
}

#[test]
fn nothing_is_remembered_of_those_who_left() {
    let (mut crowd, limits) = (Crowd::default(), limits());
    for uid in 0..1000 {
        crowd.comes(Origin::User(uid), &limits, 0).unwrap();
        crowd.registers(Origin::User(uid), &limits).unwrap();
        crowd.leaves(Origin::User(uid), true);
    }
    assert!(crowd.counts.is_empty());
    assert_eq!(crowd.all, 0);
}

#[test]
fn clients_leave_descriptors_to_the_agents() {
    for (descriptors, agents, most) in [
        (None, 5, 10_000),
        (Some(1024), 0, 960),
        (Some(1024), 50, 860),
        (Some(1_048_576), 50, 10_000),
        (Some(64), 5, 16),
        (Some(256), 300, 16),
    ] {
        let limits = Limits { descriptors, ..Limits::default() };
        assert_eq!(most_clients(&limits, agents), most, "{descriptors:?} {agents}");
    }
}

/// Many users together cannot keep out the one who runs the server.
#[test]
fn others_leave_connections_to_the_servers_own_user() {
    for (connections, others) in [(100, 84), (16, 8), (2, 1)] {
        let (mut crowd, limits) = (Crowd::default(), Limits { connections, ..Limits::default() });
        let taken = (0..200).filter(|uid| crowd.comes(Origin::User(*uid), &limits, 0).is_ok());
        assert_eq!(taken.count(), others, "of {connections}");
        let why = crowd.comes(Origin::User(200), &limits, 0).unwrap_err();
        assert!(why.contains("connections of other users"), "{why}");
        for _ in others..connections {
            assert_eq!(crowd.comes(Origin::Own, &limits, 0), Ok(Entry::Now), "of {connections}");
            crowd.registers(Origin::Own, &limits).unwrap();
        }
        let why = crowd.comes(Origin::Own, &limits, 0).unwrap_err();
        assert!(why.ends_with("no room for more connections"), "{why}");
    }
}

#[test]
fn refused_connections_do_not_fill_the_log() {
    let mut crowd = Crowd::default();
    let told: Vec<_> = (0..150).map(|second| crowd.refused(Duration::from_secs(second))).collect();
    let told: Vec<_> = told.into_iter().flatten().collect();
    assert_eq!(told, [1, 60, 60]);
}

/// Agents must come back however many strangers are there.
#[test]
fn daemons_find_room_when_there_is_none_for_others() {
    let limits = Limits { connections: 1, ..Limits::default() };
    let mut crowd = Crowd::default();
    for _ in 0..100 {
        assert_eq!(crowd.comes(Origin::Socket, &limits, 100), Ok(Entry::Now));
        assert_eq!(crowd.registers(Origin::Socket, &limits), Ok(()));
    }
    assert_eq!(
        crowd.comes(Origin::User(1), &limits, 100),
        Ok(Entry::Now),
        "they take nobody's room"
    );
    assert!(crowd.comes(Origin::Own, &limits, 100).is_err_and(|why| why.contains("no room")));
    crowd.leaves(Origin::Socket, true);
    assert!(crowd.comes(Origin::Own, &limits, 100).is_err());
    crowd.leaves(Origin::User(1), false);
    assert_eq!(crowd.comes(Origin::Own, &limits, 100), Ok(Entry::Now));
}

/// Who waits takes room too, and there is an end to it.
#[test]
fn a_user_has_so_many_connections_that_wait() {
    let (mut crowd, limits) = (Crowd::default(), limits());
    let eve = Origin::User(1);
    for number in 0..2 + WAITING_MAX {
        let entry = if number < 2 { Entry::Now } else { Entry::Waits };
        assert_eq!(crowd.comes(eve, &limits, 0), Ok(entry), "{number}");
    }
    assert!(crowd.comes(eve, &limits, 0).is_err_and(|why| why.contains("wait already")));
    assert_eq!(crowd.all, 2 + WAITING_MAX);
}
