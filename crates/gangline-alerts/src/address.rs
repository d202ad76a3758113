//! Which addresses may be posted to: public ones, and those of hosts that the operator has named.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Returns whether an address is one of the public network: not of this machine, a private network, a
/// link, or a group.
#[must_use]
pub fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(it) => is_public_v4(it),
        IpAddr::V6(it) => is_public_v6(it),
    }
}

/// Returns whether the name alone shows that a host is not public: a private address, or `localhost`.
/// Nothing is looked up.
#[must_use]
pub fn is_private_by_name(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.');
    match bare.parse::<IpAddr>() {
        Ok(address) => !is_public(address),
        Err(_) => bare == "localhost" || bare.ends_with(".localhost"),
    }
}

/// Returns whether `allow_hosts` names a host (without brackets).
#[must_use]
pub fn is_allowed(host: &str, allow_hosts: &[String]) -> bool {
    allow_hosts.iter().any(|it| it.trim_start_matches('[').trim_end_matches(']') == host)
}

fn is_public_v4(it: Ipv4Addr) -> bool {
    let [a, b, c, _] = it.octets();
    let shared = a == 100 && (64..128).contains(&b);
    let protocols = a == 192 && b == 0 && (c == 0 || c == 2);
    let tests = (a, b, c) == (198, 51, 100) || (a, b, c) == (203, 0, 113);
    let bench = a == 198 && (b == 18 || b == 19);
    !(a == 0
        || a >= 240
        || it.is_loopback()
        || it.is_private()
        || it.is_link_local()
        || it.is_multicast()
        || shared
        || protocols
        || tests
        || bench)
}

fn is_public_v6(it: Ipv6Addr) -> bool {
    let parts = it.segments();
    if let Some(inner) = embedded(it) {
        return is_public_v4(inner);
    }
    let documentation = parts[0] == 0x2001 && parts[1] == 0x0db8;
    // All that is given out is in 2000::/3: that leaves out loopback, links, groups, private nets.
    parts[0] & 0xe000 == 0x2000 && !documentation
}

/// Returns the IPv4 address that an IPv6 one leads to: mapped, compatible, by NAT64 or 6to4.
fn embedded(it: Ipv6Addr) -> Option<Ipv4Addr> {
    let parts = it.segments();
    let two = |high: u16, low: u16| {
        let ([a, b], [c, d]) = (high.to_be_bytes(), low.to_be_bytes());
        Ipv4Addr::new(a, b, c, d)
    };
    match parts {
        [0, 0, 0, 0, 0, 0xffff | 0, high, low] => Some(two(high, low)),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => Some(two(high, low)),
        [0x2002, high, low, ..] => Some(two(high, low)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
