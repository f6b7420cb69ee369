//! The promises of the queue, a file for each.
//!
//! Functions are named after when they are asked: `answered` and `handed_out` when a client hears
//! something, `stored` for a row of the tables, `at_event` before an event is followed, `at_end` when
//! all is known.

pub(crate) mod i01_loss;
pub(crate) mod i02_ghost;
pub(crate) mod i03_attempts;
pub(crate) mod i04_lease;
pub(crate) mod i05_fence;
pub(crate) mod i06_final;
pub(crate) mod i07_priority;
pub(crate) mod i08_log;
pub(crate) mod i09_dag;
pub(crate) mod i10_conservation;
pub(crate) mod i11_backoff;
pub(crate) mod i12_durable;
