//! The program as its users have it: real processes, real sockets, real files.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "only tests, which measure real time and tell what they saw"
)]

mod acp;
mod alerts;
mod ask;
mod attention;
mod back;
mod bad_input;
mod causes;
mod channel;
mod claude;
mod claude_fire;
mod claude_per_turn;
mod claude_swap;
mod clients;
mod codex;
mod config;
mod container;
mod demo;
mod descent;
mod doctor;
mod environment;
mod every_tool;
mod fire;
mod fleet;
mod folders;
mod foreign;
mod found;
mod harness;
mod help;
mod hooks;
mod http;
mod hub_http;
mod import;
mod impostor;
mod inbox;
mod init;
mod ipc;
mod json;
mod long;
mod manager;
mod mcp;
mod model;
mod paths;
mod private;
mod ps;
mod reading;
mod relay;
mod rights;
mod runtime;
mod sdk;
mod skills;
mod standin;
mod state;
mod system_prompt;
mod tmux;
mod together;
mod token;
mod tools;
mod trust;
mod wake;
mod watchdog;
mod watermark;
