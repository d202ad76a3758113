//! Every backend goes through the conformance suite.

mod bench;
mod real;
