use super::sha256_hex;

/// The value is that of FIPS 180-2: stored keys and credentials depend on it.
#[test]
fn a_digest_is_written_as_lower_case_hexadecimal_and_cut_at_whole_bytes() {
    let whole = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    assert_eq!(sha256_hex(b"abc", 32), whole);
    assert_eq!(sha256_hex(b"abc", 12), whole[..24]);
    assert_eq!(sha256_hex(b"abc", 0), "");
}
