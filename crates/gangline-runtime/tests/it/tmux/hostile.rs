//! Starts, ends and what is left of both.
