//! The switchboard: one LLM request from the client to a provider and back.
//!
//! # Invariants
//! - Before a provider is asked, the attempt is on disk and its worst case is held back in every
//!   budget that counts. Whatever happens then, it is settled: by its end, by its drop, or by the next
//!   server that finds it open.
//! - Where client and provider speak the same dialect, bytes go on as they came, but for credentials,
//!   the name of the model, and what is asked for to know the usage.
//! - No credential of a client reaches a provider, and no key of a provider reaches a client or a log.
//! - A stream that breaks off never looks like one that has ended.

mod answer;
mod ask;
mod attempt;
mod board;
mod broke;
mod cache;
mod capture;
mod config;
mod costs;
mod failure;
mod health;
mod hedge;
mod intake;
mod keys;
mod lanes;
mod ledger;
mod limits;
mod link;
pub mod metrics;
mod models;
mod native;
mod needs;
mod pin;
mod policy;
mod probe;
mod quota;
mod rate;
mod relay;
mod route;
mod running;
mod sessions;
mod silence;
mod target;
mod upstream;
mod who;

pub use board::{Refusal, Switchboard};
pub use broke::NoMoney;
pub use config::{BadConfig, CaptureConfig, CaptureRule, Config, Rates};
pub use health::ProviderHealth;
pub use keys::{Key, Keys, provider_of};
pub use lanes::Lanes;
pub use ledger::Ledger;
pub use limits::Seats;
pub use probe::Probe;
pub use relay::{BrokenOff, ProxyBody};
pub use target::is_model_path;
pub use who::Who;
