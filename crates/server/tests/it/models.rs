//! Requests to models, through a real server to a provider that does what the prompt says.

mod bad;
mod budgets;
mod bytes;
mod crash;
mod cross;
mod faults;
mod guards;
mod limits;
mod meters;
mod streams;
mod tokens;
mod world;
