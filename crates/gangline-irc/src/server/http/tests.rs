//! Which lines are HTTP.

use super::*;

#[test]
fn request_lines_and_host_headers_are_known_and_irc_lines_are_not() {
    for (line, request) in [
        ("GET / HTTP/1.1", true),
        ("POST / HTTP/1.0", true),
        ("post /x?y http/1.1", true),
        ("PRI * HTTP/2.0", true),
        ("M-SEARCH * HTTP/1.1", true),
        ("OPTIONS  *  HTTP/1.1", true),
        ("GET /", false),
        ("GET / FTP/1.1", false),
        ("CAP LS 302", false),
        ("NICK HTTP/1.1", false),
        ("USER http 0 * :HTTP/1.1", false),
        ("PRIVMSG #web :GET / HTTP/1.1", false),
        (":a NICK HTTP/1.1", false),
        ("@a=b NICK HTTP/1.1", false),
        ("", false),
    ] {
        assert_eq!(is_request(line.as_bytes()), request, "{line}");
    }
    for (line, host) in [
        ("Host: localhost:6667", true),
        ("host:x", true),
        ("  HOST: x", true),
        ("Hosts: x", false),
        ("Ho", false),
        ("NICK Host:", false),
    ] {
        assert_eq!(is_host(line.as_bytes()), host, "{line}");
    }
}
