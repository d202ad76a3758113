//! How long a link waits for what.

use std::time::Duration;

/// Spans of time. The defaults are for real networks; tests take shorter ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timing {
    /// Connecting must be done within this. Default 15 s.
    pub connect_within: Duration,
    /// The server must have accepted us within this. Default 30 s.
    pub register_within: Duration,
    /// Our own PING after so much silence. Default 60 s.
    pub ping_every: Duration,
    /// The link is dead if nothing comes for so long after that PING. Default 60 s.
    pub ping_timeout: Duration,
    /// A line without confirmation is asked for after this, a JOIN twice as late. Default 30 s.
    pub confirm_within: Duration,
    /// A page of history must be complete within this. Default 30 s.
    pub history_within: Duration,
    /// The wait before the first rejoin after a KICK; doubled each time, at most 60 s. Default 5 s.
    pub rejoin_after: Duration,
    /// How often the wanted nick is asked for while another has it. Default 30 s.
    pub regain_every: Duration,
    /// The unit of the reconnect wait (1, 2, 4 … 60 of it). Default 1 s.
    pub backoff_unit: Duration,
    /// A connection of this age lets the reconnect wait begin anew. Default 60 s.
    pub healthy_after: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        let seconds = Duration::from_secs;
        Self {
            connect_within: seconds(15),
            register_within: seconds(30),
            ping_every: seconds(60),
            ping_timeout: seconds(60),
            confirm_within: seconds(30),
            history_within: seconds(30),
            rejoin_after: seconds(5),
            regain_every: seconds(30),
            backoff_unit: seconds(1),
            healthy_after: seconds(60),
        }
    }
}
