//! The queue over HTTP: servers that are killed under load, and workers that come too late.
//!
//! What clients and workers saw is a history, and the referee judges it together with the tables and
//! the log that the servers ended with.

mod crash;
mod dump;
mod http;
mod load;
mod process;
mod worker;
mod zombie;
