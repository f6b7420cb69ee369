//! Tests of the shelf with real git.

mod life;
mod support;
