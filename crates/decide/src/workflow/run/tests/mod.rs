//! The engine by examples, by properties over any workflow and any order of answers, and by cost.

mod cost;
mod examples;
mod properties;
mod stage;
