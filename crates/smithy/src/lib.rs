//! The model forge: a GitHub and a GitLab on this machine, for tests.
//!
//! It is a real HTTP server with one repository, which is a bare git repository on disk. Pull requests are about branches
//! that are really there, and a merge really moves the branch. Everything that is asked, and everything that it answers, is
//! judged by the published OpenAPI description of the forge: `data/github.json` is an extract of npm's `@octokit/openapi`
//! made by `web/scripts/forge-openapi.mjs`; `data/gitlab.json` is written by hand after GitLab's REST documentation, since
//! what GitLab publishes leaves types and required fields out.
//!
//! A test plays the people of the forge by [`Smithy::merge`], [`Smithy::close`] and so on, and its failures by
//! [`Smithy::fail`].
//!
//! # Invariants
//! - It shares no code with the product, so that an error in one is not hidden by the other.
//! - A request or an answer that does not fit the description is kept in [`Smithy::wrong`]; nothing is let through silently.
//! - What it keeps has a limit.

mod description;
mod git;
mod github;
mod gitlab;
mod schema;
mod server;
mod world;

pub use description::Description;
pub use server::{Asked, Fault, Smithy, What};
pub use world::{How, Kind, Standing};
