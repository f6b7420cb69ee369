//! The settings: what each means, where its value comes from, and how a server runs with them.
//!
//! # Invariants
//! - Default < file < environment < flag, and every value in effect knows which of them it comes from.
//! - A name that is no setting is refused, and so is a value that cannot be served, before anything starts.
//! - A password is neither in what `Loaded::shown` returns nor in a `Debug` of the settings.

mod environment;
mod error;
mod nearest;
mod origin;
mod serving;
mod settings;

pub use environment::Environment;
pub use error::{Error, Result};
pub use nearest::nearest;
pub use origin::{Loaded, Origin, Sources};
pub use settings::{Key, Settings};
