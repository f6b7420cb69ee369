//! The queue over HTTP: servers that are killed under load, and workers that come too late.
//!
//! What clients and workers saw is a history, and the referee judges it together with the tables and
//! the log that the servers ended with.

mod checkpoint;
mod clock;
mod crash;
mod crash_database;
mod crash_points;
mod crowd;
mod damage;
mod drain;
mod dump;
mod full_disk;
mod herd;
mod http;
mod late;
mod load;
mod power_cut;
mod process;
mod redis;
mod scene;
mod two_servers;
mod upgrade;
mod worker;
mod zombie;
