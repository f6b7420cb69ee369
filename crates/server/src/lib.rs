//! The front door of Godel: REST, WebSocket, server-sent events and the dashboard.
//!
//! # Invariants
//! - Every route is declared through `routes!`, so the OpenAPI document knows it; clippy refuses
//!   `Router::route` elsewhere and a test compares the two.
//! - Every failure leaves through [`error::ApiError`]; no stack, SQL or secret is ever shown.
//! - Nothing behind the guard runs without a known caller.
//! - A slow client holds its own cursor, never the writer.

mod agents;
mod anchors;
mod attach;
mod boot;
mod config;
mod error;
mod etag;
mod extract;
mod gauges;
mod guard;
mod listen;
mod metrics;
mod observe;
mod openapi;
mod paths;
mod router;
mod routes;
mod state;
mod switchboard;
mod tls;
mod web;
mod ws;

pub use agents::SANDBOX_HELPER;
pub use boot::{LOCK_FILE, Server, StartError};
pub use config::{AgentsConfig, Config, RedisUrl};
pub use godel_safe::Error as SafeError;
pub use godel_safe::{
    MASTER_KEY_FILE, NewMasterKey, OLD_MASTER_KEY_FILE, decode_master_key, encode_master_key,
    find_master_key, is_open_to_others, make_private_dir, read_master_key, settle_master_key,
    write_master_key, write_private,
};
pub use openapi::openapi_json;
pub use router::route_inventory;
pub use tls::{Facts, Tls, inspect as inspect_tls, is_server_name};
pub use web::has_dashboard;
