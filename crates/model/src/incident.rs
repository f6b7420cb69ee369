//! What needs a person and is no agent's: a gate that asks, a budget that runs out, dead letters that pile up.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{Allowance, Budget, BudgetId, BudgetScope, Period, PoolName, RunId, micros};

/// One thing that a person is told of, once.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Incident {
    /// Its id; a later one has a larger id.
    pub id: Uuid,
    /// Since when.
    pub raised_at: Timestamp,
    /// What became of it, if that was told.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub answer: Option<String>,
    /// What it is about.
    pub trouble: Trouble,
}

/// What an incident is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case", rename_all_fields = "camelCase")]
pub enum Trouble {
    /// A step of a workflow waits until a person says yes or no.
    Approval {
        /// The run.
        run: RunId,
        /// The name of the workflow.
        workflow: String,
        /// The step that asks.
        step: String,
        /// How often the step was begun.
        round: u32,
        /// Who may answer; nobody named means everybody.
        by: Vec<String>,
        /// What is asked.
        message: Option<String>,
    },
    /// A budget is used up, or nearly so.
    Budget {
        /// The budget.
        budget: BudgetId,
        /// Whose or what spending it limits.
        scope: String,
        /// When it begins anew.
        period: Period,
        /// When the period began.
        starts: Timestamp,
        /// What may be spent in it.
        cap: i64,
        /// Whether it is used up, and not only nearly so.
        #[serde(default)]
        used_up: bool,
    },
    /// A pool has more dead letters than its setting allows.
    DeadLetters {
        /// The pool.
        pool: PoolName,
    },
}

impl Trouble {
    /// Makes the trouble of a budget that is used up, or nearly so. An agent asks by itself when it has
    /// spent what it may.
    pub fn of_budget(budget: &Budget, used_up: bool) -> Option<Self> {
        let &Budget {
            id: budget, ref scope, period, starts, allows: Allowance { cap, .. }, ..
        } = budget;
        let own = matches!(scope, BudgetScope::Agent(_));
        let scope = scope.to_string();
        (!own).then_some(Self::Budget { budget, scope, period, starts, cap, used_up })
    }

    /// Returns what the trouble is with: of its incidents only the latest can be open.
    pub fn owner(&self) -> String {
        match self {
            Self::Approval { run, step, .. } => format!("run:{run}/{step}"),
            Self::Budget { budget, .. } => format!("budget:{budget}"),
            Self::DeadLetters { pool } => format!("pool:{pool}"),
        }
    }

    /// Returns the name that no other incident has; none where whoever raises it does so once.
    pub fn name(&self) -> Option<String> {
        let own = self.owner();
        match self {
            Self::Approval { round, .. } => Some(format!("{own}/{round}")),
            // Another limit is another promise; to pass it is news, and so is to have used it up for
            // who put aside that it was nearly so.
            Self::Budget { starts, cap, used_up, .. } => {
                let mark = if *used_up { "used-up" } else { "low" };
                Some(format!("{own}/{}/{cap}/{mark}", micros(*starts)))
            }
            Self::DeadLetters { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Mint;

    fn budget(scope: BudgetScope) -> Budget {
        let epoch = Timestamp::UNIX_EPOCH;
        Budget {
            id: Mint::system().id(),
            scope,
            period: Period::Daily,
            allows: Allowance::of(10),
            starts: epoch,
            spent: 9,
            held: 0,
            created_at: epoch,
        }
    }

    #[test]
    fn a_budget_has_one_incident_for_each_period_limit_and_mark() {
        let first = budget(BudgetScope::Tenant);
        let name = |budget: &Budget| Trouble::of_budget(budget, false).unwrap().name();
        let later = Budget { starts: "2026-01-02T00:00:00Z".parse().unwrap(), ..first.clone() };
        let raised = Budget { allows: Allowance::of(20), ..first.clone() };
        let spent = Budget { spent: 10, held: 3, ..first.clone() };
        assert_eq!(name(&first), name(&spent));
        assert_ne!(name(&first), name(&later));
        assert_ne!(name(&first), name(&raised));
        assert_ne!(name(&first), Trouble::of_budget(&first, true).unwrap().name());
        assert_eq!(Trouble::of_budget(&budget(BudgetScope::Agent("a".to_owned())), true), None);
    }

    #[test]
    fn an_incident_survives_being_written_and_read() {
        let mint = Mint::system();
        let (workflow, step) = ("release".to_owned(), "gate".to_owned());
        let asks = Trouble::Approval {
            run: mint.id(),
            workflow,
            step,
            round: 1,
            by: vec!["role:admin".to_owned()],
            message: Some("Ship?".to_owned()),
        };
        let dead = Trouble::DeadLetters { pool: "ci".parse().unwrap() };
        let low = Trouble::of_budget(&budget(BudgetScope::Tenant), false).unwrap();
        for trouble in [asks, dead, low] {
            let id = mint.id::<crate::EventId>().uuid();
            let raised_at = Timestamp::UNIX_EPOCH;
            let incident = Incident { id, raised_at, answer: None, trouble };
            let text = serde_json::to_string(&incident).unwrap();
            assert_eq!(serde_json::from_str::<Incident>(&text).unwrap(), incident);
        }
    }
}
