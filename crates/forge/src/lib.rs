//! The messenger: pull requests on GitHub and GitLab behind one interface.
//!
//! A [`Remote`] is where a repository is pushed to; a [`Place`] is the same repository as the forge knows it, and the
//! address of the forge's API. [`connect`] gives the [`Forge`] that speaks to it.
//!
//! # Invariants
//! - A token goes into one header of requests to the API's own host, and nowhere else: not into addresses, not into
//!   errors, and not along with a redirect to another host.
//! - Without TLS only this very machine is spoken to.
//! - Every answer has a limit, and every request ends.
//! - Only questions are asked again by themselves. Whatever opens, merges or writes is done at most once for each call:
//!   whether it was done is found out by a question.

mod client;
mod error;
mod forge;
mod github;
mod gitlab;
pub mod marked;
mod place;
mod remote;
mod wait;

use std::sync::Arc;

use secrecy::SecretString;

pub use error::{Error, Result};
pub use forge::{Checks, Forge, Head, Look, Mergeable, Merging, NewPull, Pull, Standing, Verdict};
pub use place::{Kind, Place, Wish};
pub use remote::{NotARemote, Remote};

/// Speaks to the forge of a place with a token.
///
/// # Errors
/// If no connections can be made at all.
pub fn connect(place: Place, token: SecretString) -> Result<Arc<dyn Forge>> {
    let client = client::Client::new(place, token)?;
    Ok(match client.place().kind {
        Kind::GitHub => Arc::new(github::GitHub::new(client)),
        Kind::GitLab => Arc::new(gitlab::GitLab::new(client)),
    })
}
