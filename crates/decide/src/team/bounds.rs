//! What a team may spend, and until when.

use jiff::Timestamp;

use super::spec::TeamSpec;

/// From so much of its budget on, a team is said to be near its end.
pub const NEAR_PERCENT: i64 = 80;

/// How a team stands against its budget and deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bounds {
    /// There is enough of both.
    Within,
    /// Little of the budget is left.
    NearBudget {
        /// How much, in millionths of a dollar.
        left_micros: i64,
    },
    /// The budget is spent: nothing new may begin.
    BudgetSpent,
    /// It is too late: all is to end.
    DeadlinePassed,
}

impl Bounds {
    /// Tells whether something new may begin.
    pub const fn may_begin(self) -> bool {
        matches!(self, Self::Within | Self::NearBudget { .. })
    }
}

/// Tells how a team stands that has spent so much, in millionths of a dollar.
pub fn bounds(spec: &TeamSpec, spent_micros: i64, now: Timestamp) -> Bounds {
    if spec.deadline.is_some_and(|deadline| deadline <= now) {
        return Bounds::DeadlinePassed;
    }
    let Some(budget) = spec.budget_micros else { return Bounds::Within };
    let left_micros = budget.saturating_sub(spent_micros);
    if left_micros <= 0 {
        return Bounds::BudgetSpent;
    }
    let near = i128::from(spent_micros) * 100 >= i128::from(budget) * i128::from(NEAR_PERCENT);
    if near { Bounds::NearBudget { left_micros } } else { Bounds::Within }
}
