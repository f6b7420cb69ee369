//! What models are asked for, what that costs, and how much of it is allowed.

mod budget;
mod call;
mod usage;

pub use budget::{Budget, BudgetScope, Crossing, Held, Period, Reserved};
pub use call::{CallEnd, CallStart, Outcome, Purpose};
pub use usage::{Usage, UsageKey, UsageSum};
