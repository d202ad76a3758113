//! TLS in front of a plain server, with a certificate for the name `localhost` that no system trusts.
//!
//! A program trusts it if `SSL_CERT_FILE` in its environment is [`roots`]. The certificates are good until
//! 2120; they were made with `openssl ca`, and the key of the root is thrown away.

use std::{
    io::{Read, Write},
    net::{Shutdown, TcpListener, TcpStream},
    path::PathBuf,
    sync::{Arc, Mutex},
    thread,
};

use rustls::{
    ServerConfig, ServerConnection,
    crypto::ring,
    pki_types::{CertificateDer, PrivateKeyDer, pem::PemObject},
};

const CERTIFICATE: &[u8] = include_bytes!("tls/localhost.pem");
const KEY: &[u8] = include_bytes!("tls/localhost.key");

/// Returns the file of the root that the certificate is signed by.
#[must_use]
pub fn roots() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/src/tls/roots.pem"))
}

/// Serves TLS on a free port of loopback, which is returned, in front of the plain server at `to`. A
/// connection that is refused for its certificate never gets there.
///
/// # Panics
/// When no port can be had.
#[must_use]
#[allow(clippy::disallowed_methods, reason = "the far side of a test")]
pub fn before(to: &str) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let (config, to) = (config(), to.to_owned());
    thread::spawn(move || {
        for client in listener.incoming().flatten() {
            let session = ServerConnection::new(Arc::clone(&config)).unwrap();
            let to = to.clone();
            thread::spawn(move || connect(client, session, &to));
        }
    });
    port
}

fn config() -> Arc<ServerConfig> {
    let certificate = CertificateDer::from_pem_slice(CERTIFICATE).unwrap();
    let key = PrivateKeyDer::from_pem_slice(KEY).unwrap();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .unwrap();
    Arc::new(config)
}

/// Shakes hands, then carries bytes both ways until either side ends.
#[allow(clippy::disallowed_methods, reason = "the far side of a test")]
fn connect(mut client: TcpStream, mut session: ServerConnection, to: &str) {
    while session.is_handshaking() {
        if session.complete_io(&mut client).is_err() {
            return;
        }
    }
    let Ok(server) = TcpStream::connect(to) else { return };
    for stream in [&client, &server] {
        stream.set_nodelay(true).unwrap();
    }
    let session = Arc::new(Mutex::new(session));
    let ends = (client.try_clone().unwrap(), server.try_clone().unwrap());
    let shared = Arc::clone(&session);
    let downward = thread::spawn(move || carry_down(&shared, ends.1, ends.0));
    carry_up(&session, &client, &server);
    for end in [client, server] {
        let _ = end.shutdown(Shutdown::Both);
    }
    let _ = downward.join();
}

/// Carries what the client says.
fn carry_up(session: &Mutex<ServerConnection>, mut from: &TcpStream, mut to: &TcpStream) {
    let mut sealed = [0; 1 << 14];
    // What came with the handshake is there already.
    let mut rest: &[u8] = &[];
    loop {
        let mut held = session.lock().unwrap();
        if !rest.is_empty() && held.read_tls(&mut rest).is_err() {
            return;
        }
        let Ok(state) = held.process_new_packets() else { return };
        let mut plain = vec![0; state.plaintext_bytes_to_read()];
        held.reader().read_exact(&mut plain).unwrap();
        drop(held);
        if to.write_all(&plain).is_err() {
            return;
        }
        if rest.is_empty() {
            let Ok(count @ 1..) = from.read(&mut sealed) else { return };
            rest = &sealed[..count];
        }
    }
}

/// Carries what the server says, and tells the client when it has ended.
fn carry_down(session: &Mutex<ServerConnection>, mut from: TcpStream, mut to: TcpStream) {
    let mut plain = [0; 1 << 14];
    loop {
        let count = from.read(&mut plain).unwrap_or(0);
        let mut held = session.lock().unwrap();
        match count {
            0 => held.send_close_notify(),
            count => held.writer().write_all(&plain[..count]).unwrap(),
        }
        while held.wants_write() {
            if held.write_tls(&mut to).is_err() {
                return;
            }
        }
        drop(held);
        if count == 0 {
            let _ = to.shutdown(Shutdown::Both);
            return;
        }
    }
}
