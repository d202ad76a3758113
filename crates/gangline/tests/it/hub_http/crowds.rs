//! Many connections at once, and many requests on one.

use std::{
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpStream,
    time::Duration,
};

use super::{Scene, connect};

/// Half a request may stay for 10 s, and more of them than there are places would wait one after the other.
const AT_ONCE: Duration = Duration::from_secs(5);
/// Three times as many as there are places.
const HALF_OPEN: usize = 200;

/// Reads one response and leaves the connection as it is.
fn response(reader: &mut BufReader<TcpStream>) -> (String, String) {
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") {
        assert_ne!(reader.read_line(&mut head).unwrap(), 0, "{head}");
    }
    let head = head.to_ascii_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: ")).unwrap();
    let mut body = vec![0; length.parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    (head, String::from_utf8(body).unwrap())
}

fn ask(scene: &Scene, stream: &mut TcpStream) {
    let host = scene.address.trim_start_matches("http://");
    let owner = scene.stage.token();
    let text = format!(
        "GET /api/v1/attention HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {owner}\r\n\r\n"
    );
    stream.write_all(text.as_bytes()).unwrap();
}

/// Requests that are never whole need no token, so they keep nobody out.
#[test]
fn half_sent_requests_lock_nobody_out() {
    let scene = Scene::open(&["oak-ada"]);
    let half = || {
        let mut stream = connect(&scene.address);
        stream.write_all(b"GET /api/v1/attention HTTP/1.1\r\nHo").unwrap();
        stream
    };
    let half_open: Vec<TcpStream> = (0..HALF_OPEN).map(|_| half()).collect();
    for _ in 0..3 {
        let mut stream = connect(&scene.address);
        stream.set_read_timeout(Some(AT_ONCE)).unwrap();
        ask(&scene, &mut stream);
        let (head, body) = response(&mut BufReader::new(stream));
        assert!(head.starts_with("http/1.1 200") && body == "[]", "{head}{body}");
    }
    // The oldest have given way to the others.
    let mut first = &half_open[0];
    first.set_read_timeout(Some(AT_ONCE)).unwrap();
    assert_eq!(first.read(&mut [0; 1]).unwrap_or_default(), 0);
}

/// Clients send their next request on the connection of the last one; some fail if it is closed.
#[test]
fn a_connection_carries_one_request_after_the_other() {
    let scene = Scene::open(&["oak-ada"]);
    let mut stream = connect(&scene.address);
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    for _ in 0..3 {
        ask(&scene, &mut stream);
        let (head, body) = response(&mut reader);
        assert!(head.starts_with("http/1.1 200") && body == "[]", "{head}{body}");
        assert!(!head.contains("connection: close"), "{head}");
    }
    // Two at once are answered in their order.
    ask(&scene, &mut stream);
    ask(&scene, &mut stream);
    assert_eq!(
        (response(&mut reader).1, response(&mut reader).1),
        ("[]".to_owned(), "[]".to_owned())
    );
}
