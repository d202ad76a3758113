//! Every backend goes through the conformance suite.

mod bench;
mod flawed;
mod flaws;
mod foreign;
mod guide;
mod real;
mod scores;
mod toy;
mod toys;
