//! A raw HTTP peer: what is written and read is what stands on the wire.

use std::{
    io::{BufRead, BufReader, Read, Write},
    net::TcpStream,
};

use gangline_testkit::wait::PATIENCE;

/// One answer, taken apart.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

/// Connects to `http://HOST:PORT` or `HOST:PORT`.
pub(crate) fn connect(address: &str) -> TcpStream {
    let address = address.trim_start_matches("http://");
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    stream
}

/// Sends one request and reads the whole answer; the connection is not used again.
pub(crate) fn request(address: &str, head: &str, headers: &[String], body: &str) -> Answer {
    let mut stream = connect(address);
    let host = address.trim_start_matches("http://");
    let mut text = format!("{head} HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n");
    for header in headers {
        text.push_str(&format!("{header}\r\n"));
    }
    text.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
    stream.write_all(text.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    Answer { status, head: head.to_owned(), body: body.to_owned() }
}

/// An event stream that stays open.
pub(crate) struct Events {
    reader: BufReader<TcpStream>,
    seen: Vec<String>,
}

impl Events {
    /// Opens the stream and reads its head.
    pub(crate) fn open(address: &str, authorization: &str) -> Self {
        let mut stream = connect(address);
        let host = address.trim_start_matches("http://");
        write!(stream, "GET /events HTTP/1.1\r\nHost: {host}\r\n{authorization}\r\n\r\n").unwrap();
        let mut events = Self { reader: BufReader::new(stream), seen: Vec::new() };
        while !events.line().trim().is_empty() {}
        events
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        assert_ne!(self.reader.read_line(&mut line).unwrap(), 0, "ended: {:?}", self.seen);
        line
    }

    /// Waits for a line that contains `part`; returns it.
    pub(crate) fn wait(&mut self, part: &str) -> String {
        loop {
            let line = self.line().trim_end().to_owned();
            self.seen.push(line.clone());
            if line.contains(part) {
                return line;
            }
        }
    }
}
