//! The queue: what is to be done, and who does it.
//!
//! Everything that happens to tasks of a tenant goes over its [`desk`]: what arrived while the last
//! transaction was on its way to the disk is one transaction, in which workers report, tasks are
//! added, and those who wait for work get it.
//!
//! # Invariants
//! - What was answered is on disk.
//! - Delivery is at least once; each change of a task's state happens once, fenced by its attempt.
//! - At the moment of handing out, no more urgent task of the pool that somebody who waits could do
//!   is left behind. Nothing is handed out in advance.

mod alerts;
pub mod attic;
mod census;
pub mod dead;
mod desk;
mod error;
mod heal;
mod holders;
pub(crate) mod lanes;
pub mod pools;
pub mod schedules;
mod sessions;
pub mod tally;
pub mod tasks;
mod tell;
mod turn;
mod upkeep;
pub mod wake;
pub mod workers;

pub use census::{Counter, Counts};
pub use desk::{Desk, Desks};
pub use error::QueueError;
pub(crate) use heal::STUCK;
pub use holders::{HELD_MAX_SECONDS, HoldWatch};
pub(crate) use tasks::call_off;
pub use tell::Author;
pub(crate) use tell::Teller;
pub use turn::{Add, Added, Ask, Batch, Given, Outside, Said, Say, Turn, TurnError};
pub(crate) use upkeep::outside;
pub use upkeep::{Keeper, Steady, start};
