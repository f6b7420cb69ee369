//! The front door, as clients see it: real servers on both engines, over real sockets.
#![cfg(test)]
#![expect(clippy::disallowed_methods, reason = "a test owns the tasks it spawns")]

mod accounts;
mod auth;
mod backup;
mod bad_input;
mod beads;
mod board;
mod conventions;
mod emitted;
mod gauges;
mod harness;
mod health;
mod inbox;
mod intents;
mod models;
mod openapi;
mod otlp;
mod portable;
mod projects;
mod queue;
mod redis;
mod repositories;
mod reviews;
mod roles;
mod shutdown;
mod sse;
mod tasks;
mod teams;
mod tenancy;
mod tls;
mod tokens;
mod workflows;
mod ws;
