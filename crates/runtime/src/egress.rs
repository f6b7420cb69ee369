//! The one way out of a sandbox: a proxy that knows names, and refuses what is not on the list.

mod address;
mod gate;
mod head;
mod rules;

pub(crate) use gate::{Denial, Gate};
pub(crate) use rules::{Endpoint, Rules};
