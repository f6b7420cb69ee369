//! Requests to models, through a real server to a provider that does what the prompt says.

mod aftermath;
mod bad;
mod budgets;
mod bytes;
mod capture;
mod crash;
mod cross;
mod faults;
mod guards;
mod hedges;
mod limits;
mod listed;
mod meters;
mod prices;
mod probes;
mod quotas;
mod routing;
mod scopes;
mod streams;
mod tokens;
mod watched;
pub(crate) mod world;
