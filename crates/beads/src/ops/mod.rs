//! What one can do on the shelf: one function each, to be run inside a change.

mod bead;
mod claim;
mod close;
mod convoy;
mod land;
mod link;
mod memory;
mod text;

pub use bead::{Changes, NewBead, comment, create, defer, delete, label, update};
pub(crate) use claim::holds;
pub use claim::{Claim, DEFAULT_LEASE_SECS, assign, claim, claim_next, heartbeat, release};
pub use close::{Close, close, reopen};
pub use convoy::{
    ConvoyChanges, NewConvoy, add_to_convoy, archive_convoy, create_convoy, delete_convoy,
    remove_from_convoy, settle_convoy, settle_convoys, update_convoy,
};
pub use land::{
    Advance, Changed, Landing, Passed, Verdict, advance, finish, record_landing, record_verdict,
    set_worktree,
};
pub use link::{link, unlink};
pub use memory::{forget, remember};
pub use text::{TITLE_MAX_CHARS, check_agent};
