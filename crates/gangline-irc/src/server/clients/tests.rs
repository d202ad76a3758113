//! Slots are used again, numbers are not.

use super::*;

#[test]
fn a_number_is_greater_than_all_before_it_and_its_slot_is_used_again() {
    let mut clients = Clients::default();
    let add = |clients: &mut Clients<char>, name| {
        let id = clients.next_id();
        clients.insert(id, name);
        id
    };
    let (a, b) = (add(&mut clients, 'a'), add(&mut clients, 'b'));
    assert_eq!(clients.remove(a).as_deref(), Some(&'a'));
    assert_eq!(clients.remove(a), None);
    let c = add(&mut clients, 'c');
    assert_eq!((c.slot(), a.slot()), (a.slot(), 0));
    assert!(a < b && b < c);
    assert_eq!((clients.get(a), clients.get(c), clients.len()), (None, Some(&'c'), 2));
    assert_eq!(clients.values().collect::<String>(), "bc", "in the order of coming");
    assert_eq!(clients.behind(b).collect::<String>(), "c");
    *clients.get_mut(c).unwrap() = 'd';
    assert_eq!(clients.take().into_iter().map(|it| *it).collect::<String>(), "db");
    assert!(!clients.contains(b));
}
