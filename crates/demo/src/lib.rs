//! The show: `godel demo` makes a throw-away repository and lets Godel do its main job there, from a sentence to
//! changes in the branch.
//!
//! # Invariants
//! - All that is shown happens: a real server, real agents behind real walls, real git. Only the models are played,
//!   by a provider that has a script and says so in each of its answers.
//! - The provider answers only to the key that its own show made; nobody can use it for anything else.
//! - Nothing of the user's is read or changed: data, settings and the repository are in a folder of their own.

mod actor;
mod child;
mod play;
mod provider;
mod repository;
mod summary;
mod wire;

use godel_args::local::Demo;
use godel_console::{Context, Exit, Result};

/// Plays the show.
///
/// # Errors
/// If a step of it fails; says which.
pub async fn run(context: &Context, asked: &Demo) -> Result<Exit> {
    play::run(context.output, asked).await
}

/// Plays the models of a show until its input ends.
///
/// # Errors
/// If no port is free, or the key is missing.
pub async fn provide(context: &Context) -> Result<Exit> {
    provider::serve(context).await
}
