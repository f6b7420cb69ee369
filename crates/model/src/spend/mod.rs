//! What models are asked for, what that costs, and how much of it is allowed.

mod allowance;
mod budget;
mod call;
mod kind;
mod quota;
mod usage;

pub use allowance::{Allowance, AllowanceChange};
pub use budget::{Budget, BudgetScope, Crossing, Held, Period, Reserved, Short};
pub use call::{CallEnd, CallStart, Outcome, PaidBy, Purpose};
pub use kind::SpendKind;
pub use quota::{Quota, QuotaWindow};
pub use usage::{QUARTER_MICROS, QUARTERS_PER_DAY, Saved, Tier, Usage, UsageKey, UsageSum};
