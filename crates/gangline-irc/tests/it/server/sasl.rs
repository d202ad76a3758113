//! Logging in by SASL: which mechanisms, and SCRAM-SHA-256 from a client's side.

use std::sync::Arc;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use gangline_irc::{
    server::{access::Access, config::ServerConfig, trust::Origin},
    wire::sasl,
};
use sha2::{Digest, Sha256};

use super::support::{Peer, Room, Standing};

/// HMAC, for keys that are shorter than a block.
fn hmac(key: &[u8], text: &[u8]) -> [u8; 32] {
    let pad = |with: u8| -> Vec<u8> {
        let byte = |at: usize| key.get(at).copied().unwrap_or(0) ^ with;
        (0..64).map(byte).collect()
    };
    let inner = Sha256::digest([&pad(0x36)[..], text].concat());
    Sha256::digest([&pad(0x5c)[..], &inner[..]].concat()).into()
}

/// What a client answers to a challenge, and how the server must prove itself then.
fn answer(password: &str, bare: &str, challenge: &str) -> (String, String) {
    let field = |name: &str| {
        let found = challenge.split(',').find_map(|field| field.strip_prefix(name));
        found.unwrap_or_else(|| panic!("{name} in {challenge}")).to_owned()
    };
    let (nonce, salt) = (field("r="), STANDARD.decode(field("s=")).unwrap());
    let rounds: u32 = field("i=").parse().unwrap();
    let mut round = hmac(password.as_bytes(), &[&salt[..], &[0, 0, 0, 1]].concat());
    let mut salted = round;
    for _ in 1..rounds {
        round = hmac(password.as_bytes(), &round);
        salted.iter_mut().zip(round).for_each(|(sum, byte)| *sum ^= byte);
    }
    let client = hmac(&salted, b"Client Key");
    let stored: [u8; 32] = Sha256::digest(client).into();
    let before = format!("c=biws,r={nonce}");
    let all = format!("{bare},{challenge},{before}");
    let mut proof = hmac(&stored, all.as_bytes());
    proof.iter_mut().zip(client).for_each(|(byte, key)| *byte ^= key);
    let server = hmac(&hmac(&salted, b"Server Key"), all.as_bytes());
    let proof = STANDARD.encode(proof);
    (format!("{before},p={proof}"), format!("v={}", STANDARD.encode(server)))
}

async fn says(peer: &mut Peer, message: &str) {
    for chunk in sasl::chunks(message.as_bytes()) {
        peer.send(&format!("AUTHENTICATE {chunk}")).await;
    }
}

/// The server's next message, or the numeric that it says instead.
async fn hears(peer: &mut Peer) -> Result<String, (String, String)> {
    let mut whole = sasl::Answer::default();
    loop {
        let line = peer.line().await.expect("closed during SASL");
        match &*line.command {
            "AUTHENTICATE" => {
                if let Some(bytes) = whole.push(&line.params[0]).unwrap() {
                    return Ok(String::from_utf8(bytes).unwrap());
                }
            }
            "903" | "904" | "905" | "906" => {
                return Err((line.command, line.params.last().cloned().unwrap_or_default()));
            }
            _ => {}
        }
    }
}

/// The whole exchange; returns the numeric that ends it, and its text.
async fn scram(
    peer: &mut Peer,
    (account, password): (&str, &str),
    nonce: &str,
) -> (String, String) {
    peer.send("AUTHENTICATE SCRAM-SHA-256").await;
    assert_eq!(hears(peer).await.as_deref(), Ok(""));
    let bare = format!("n={account},r={nonce}");
    says(peer, &format!("n,,{bare}")).await;
    let challenge = match hears(peer).await {
        Ok(challenge) => challenge,
        Err(end) => return end,
    };
    let begins = format!("r={nonce}");
    assert!(challenge.starts_with(&begins), "{challenge} {:?}", peer.seen);
    let (message, signature) = answer(password, &bare, &challenge);
    says(peer, &message).await;
    match hears(peer).await {
        Ok(proven) => assert_eq!(proven, signature, "the server knows the password, too"),
        Err(end) => return end,
    }
    peer.send("AUTHENTICATE +").await;
    hears(peer).await.unwrap_err()
}

#[tokio::test]
async fn scram_is_offered_first_and_logs_the_owner_in() {
    let room = Room::open().await;
    // The second nonce makes messages of several lines in both directions.
    for nonce in ["abcdef", &"x".repeat(700)] {
        let mut boss = room.dial().await;
        boss.send("CAP LS 302").await;
        let offered = boss.until("CAP").await;
        assert!(offered.params.last().unwrap().contains("sasl=SCRAM-SHA-256,PLAIN"));
        boss.send("CAP REQ :sasl\r\nAUTHENTICATE NOTHING").await;
        assert_eq!(boss.until("908").await.at(1), Some("SCRAM-SHA-256,PLAIN"));
        boss.until("904").await;
        assert_eq!(scram(&mut boss, ("owner", "pw-owner"), nonce).await.0, "903");
        boss.send("NICK boss\r\nUSER boss 0 * :Boss\r\nCAP END").await;
        boss.until("001").await;
        boss.send("WHOIS boss").await;
        assert_eq!(boss.until("330").await.at(2), Some("owner"));
        boss.send("QUIT").await;
        boss.until_closed().await;
    }
    room.shut().await;
}

#[tokio::test]
async fn a_wrong_password_by_scram_counts_as_one() {
    let room = Room::open().await;
    let mut eve = room.dial().await;
    eve.send("CAP REQ :sasl").await;
    for _ in 0..3 {
        let (number, why) = scram(&mut eve, ("owner", "wrong"), "n").await;
        assert_eq!(number, "904");
        assert!(why.contains("Password incorrect"), "{why}");
    }
    assert!(eve.until_closed().await.contains("Too many wrong credentials"));
    let mut again = room.dial().await;
    again.send("CAP REQ :sasl").await;
    assert_eq!(scram(&mut again, ("owner", "wrong"), "n").await.0, "904");
    let (number, why) = scram(&mut again, ("owner", "pw-owner"), "n").await;
    assert_eq!(number, "904");
    assert!(why.contains("try again in"), "{why}");
    again.send("NICK again\r\nUSER a 0 * :A\r\nCAP END").await;
    again.until_closed().await;
    assert!(!again.seen.iter().any(|line| line.contains(" 001 ")), "{:?}", again.seen);
    room.shut().await;
}

/// Challenges that were asked for in time are no way around a pause.
#[tokio::test]
async fn a_proof_is_not_looked_at_during_a_pause() {
    let still = |config: &mut ServerConfig| config.clock = Arc::new(Standing);
    let room = Room::configured(Access::default(), Origin::Own, still).await;
    let mut early = room.dial().await;
    early.send("CAP REQ :sasl\r\nAUTHENTICATE SCRAM-SHA-256").await;
    assert_eq!(hears(&mut early).await.as_deref(), Ok(""));
    says(&mut early, "n,,n=owner,r=n").await;
    let challenge = hears(&mut early).await.unwrap();
    for _ in 0..2 {
        let mut eve = room.dial().await;
        eve.send("CAP REQ :sasl").await;
        for _ in 0..2 {
            assert_eq!(scram(&mut eve, ("owner", "wrong"), "n").await.0, "904");
        }
    }
    let (message, _) = answer("pw-owner", "n=owner,r=n", &challenge);
    says(&mut early, &message).await;
    let (number, why) = hears(&mut early).await.unwrap_err();
    assert_eq!(number, "904");
    assert!(why.contains("try again in"), "{why}");
    room.shut().await;
}

#[tokio::test]
async fn accounts_without_scram_and_broken_exchanges_are_told_and_may_use_plain() {
    let room = Room::open().await;
    for account in ["spark-ada", "nobody"] {
        let mut peer = room.dial().await;
        peer.send("CAP REQ :sasl").await;
        let (number, why) = scram(&mut peer, (account, "pw-spark-ada"), "n").await;
        assert_eq!(number, "904");
        assert!(why.contains("only log in by PLAIN"), "{why}");
        let plain = peer.authenticate("spark-ada", "pw-spark-ada").await;
        assert_eq!(plain, "903");
    }
    let mut odd = room.dial().await;
    odd.send("CAP REQ :sasl").await;
    for (message, number) in [
        ("AUTHENTICATE *", "906"),
        ("AUTHENTICATE bm90IGEgbWVzc2FnZQ==", "904"),
        ("AUTHENTICATE !", "904"),
        ("AUTHENTICATE +", "904"),
    ] {
        odd.send("AUTHENTICATE scram-sha-256").await;
        assert_eq!(hears(&mut odd).await.as_deref(), Ok(""));
        odd.send(message).await;
        assert_eq!(hears(&mut odd).await.unwrap_err().0, number, "{message}");
    }
    assert_eq!(odd.authenticate("owner", "pw-owner").await, "903");
    room.shut().await;
}
