//! The exchange of RFC 7677, and what is not one.

use super::*;

const FIRST: &str = "n,,n=user,r=rOprNGfwEbeRWgbNEkqO";
const OURS: &str = "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0";
const CHALLENGE: &str =
    "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096";
const FINAL: &str = "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,\
                     p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=";
const LAST: &str = "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4=";

fn challenge(first: &str, password: &str) -> Challenge {
    let salt = STANDARD.decode("W22ZaJ0SNY7soEsUEjb6gQ==").unwrap();
    let keys = Keys::derive(password, &salt, ITERATIONS);
    First::read(first.as_bytes()).unwrap().challenge(keys, OURS)
}

#[test]
fn the_exchange_of_the_standard_comes_out_as_it_is_printed() {
    let challenge = challenge(FIRST, "pencil");
    assert_eq!(challenge.message(), CHALLENGE);
    assert_eq!(challenge.check(FINAL.as_bytes()).as_deref(), Ok(LAST));
}

/// RFC 4231, cases 1, 2 and 6: a key shorter than a block and one longer.
#[test]
fn hmac_is_that_of_the_standard() {
    for (key, text, expected) in [
        (vec![0x0b; 20], "Hi There", "b0344c61d8db3853"),
        (b"Jefe".to_vec(), "what do ya want for nothing?", "5bdcc146bf60754e"),
        (
            vec![0xaa; 131],
            "Test Using Larger Than Block-Size Key - Hash Key First",
            "60e431591ee0b67f",
        ),
    ] {
        let found = hmac(&key, text.as_bytes());
        let hex: String = found[..8].iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, expected, "{text}");
    }
}

#[test]
fn another_password_or_a_changed_message_is_wrong() {
    let proof = |text: &str| challenge(FIRST, "pencil").check(text.as_bytes());
    assert_eq!(challenge(FIRST, "pencils").check(FINAL.as_bytes()), Err(ScramError::Wrong));
    let zero = format!("{},p={}", FINAL.split_once(",p=").unwrap().0, STANDARD.encode([0; 32]));
    assert_eq!(proof(&zero), Err(ScramError::Wrong));
    // What the client believed to be its first message is part of the proof.
    let changed = challenge("n,,n=user,r=rOprNGfwEbeRWgbNEkqO,x=1", "pencil");
    assert_eq!(changed.check(FINAL.as_bytes()), Err(ScramError::Wrong));
    for text in [
        "",
        "c=biws",
        &FINAL.replace("c=biws", "c=eSws"),
        &FINAL.replace("k0,p", "k1,p"),
        &FINAL.replace("r=rOpr", "x=rOpr"),
        &FINAL.replace("p=dHzb", "p=dHz"),
        &FINAL.replace("p=dHzb", "p=AAAAdHzb"),
        &FINAL.replace(",p=", ",q="),
        "\u{0}",
    ] {
        assert_eq!(proof(text), Err(ScramError::Malformed), "{text}");
    }
    assert_eq!(challenge(FIRST, "pencil").check(b"\xff"), Err(ScramError::Malformed));
}

#[test]
fn first_messages_are_read_strictly() {
    for (text, account) in [
        (FIRST, "user"),
        ("y,,n=user,r=abc", "user"),
        ("n,a=user,n=user,r=abc", "user"),
        ("n,,n=a=2Cb=3Dc,r=abc", "a,b=c"),
        ("n,,n=user,r=abc,x=extension", "user"),
    ] {
        assert_eq!(First::read(text.as_bytes()).unwrap().account(), account, "{text}");
    }
    for text in [
        "",
        "n,,",
        "n,,n=user",
        "n,,n=,r=abc",
        "n,,n=user,r=",
        "n,,r=abc,n=user",
        "n,,m=must,n=user,r=abc",
        "p=tls-unique,,n=user,r=abc",
        "n,a=owner,n=user,r=abc",
        "n,owner,n=user,r=abc",
        "n,,n=us=er,r=abc",
        "n,,n=us=2cer,r=abc",
        "n,,n=user,r=a c",
        "n,,n=user,r=ä",
    ] {
        assert_eq!(First::read(text.as_bytes()).unwrap_err(), ScramError::Malformed, "{text}");
    }
    assert_eq!(First::read(b"n,,n=\xff,r=a").unwrap_err(), ScramError::Malformed);
}

#[test]
fn keys_are_never_printed() {
    assert_eq!(format!("{:?}", Keys::derive("pencil", b"salt", 1)), "***");
}
