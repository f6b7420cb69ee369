//! The store on real engines: every test runs on SQLite and on PostgreSQL.

mod append;
mod crash;
mod fleet;
mod migrations;
mod pages;
mod projects;
mod schema;
mod tail;
mod tenancy;
