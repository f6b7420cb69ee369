//! Redis, the real one.
#![cfg(test)]

mod tls;
