//! How much may be spent, and what is held back for calls under way.

use std::fmt;
use std::str::FromStr;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use super::allowance::{Allowance, share};
use crate::{BudgetId, Invalid, ProjectId, TokenId, UserId, code};

const NAME_MAX_CHARS: usize = 100;

/// Whose or what spending a budget limits.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum BudgetScope {
    /// All of the tenant.
    Tenant,
    /// One project.
    Project(ProjectId),
    /// One user.
    User(UserId),
    /// One agent.
    Agent(String),
    /// One bead.
    Bead(String),
    /// One convoy.
    Convoy(String),
    /// One token of an agent.
    Token(TokenId),
}

impl fmt::Display for BudgetScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Tenant => f.write_str("tenant"),
            Self::Project(id) => write!(f, "project:{id}"),
            Self::User(id) => write!(f, "user:{id}"),
            Self::Agent(name) => write!(f, "agent:{name}"),
            Self::Bead(id) => write!(f, "bead:{id}"),
            Self::Convoy(id) => write!(f, "convoy:{id}"),
            Self::Token(id) => write!(f, "token:{id}"),
        }
    }
}

impl FromStr for BudgetScope {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        let name = |name: &str| {
            let fits = !name.is_empty()
                && name.chars().count() <= NAME_MAX_CHARS
                && !name.chars().any(|c| c.is_control() || c.is_whitespace());
            if fits { Ok(name.to_owned()) } else { Err(no_scope()) }
        };
        Ok(match text.split_once(':') {
            None if text == "tenant" => Self::Tenant,
            Some(("project", id)) => Self::Project(id.parse()?),
            Some(("user", id)) => Self::User(id.parse()?),
            Some(("token", id)) => Self::Token(id.parse()?),
            Some(("agent", id)) => Self::Agent(name(id)?),
            Some(("bead", id)) => Self::Bead(name(id)?),
            Some(("convoy", id)) => Self::Convoy(name(id)?),
            _ => return Err(no_scope()),
        })
    }
}

fn no_scope() -> Invalid {
    Invalid::new(code::INVALID_FIELD, "there is no such scope of a budget")
        .with_hint("write tenant, or project:, user:, agent:, bead:, convoy: or token: and an id")
        .with_field("scope")
}

/// After which time a budget begins anew, in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Period {
    /// Never.
    Total,
    /// Each day.
    Daily,
    /// Each month.
    Monthly,
}

impl Period {
    const ALL: [Self; 3] = [Self::Total, Self::Daily, Self::Monthly];

    /// Returns its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Total => "total",
            Self::Daily => "daily",
            Self::Monthly => "monthly",
        }
    }

    fn first_day(self, now: Timestamp) -> Option<Date> {
        let today = now.to_zoned(TimeZone::UTC).date();
        match self {
            Self::Total => None,
            Self::Daily => Some(today),
            Self::Monthly => Some(today.first_of_month()),
        }
    }

    /// Returns when the present period began.
    pub fn starts(self, now: Timestamp) -> Timestamp {
        let first = self.first_day(now).and_then(|day| day.to_zoned(TimeZone::UTC).ok());
        first.map_or(Timestamp::UNIX_EPOCH, |first| first.timestamp())
    }

    /// Returns when the next period begins, if one does.
    pub fn ends(self, now: Timestamp) -> Option<Timestamp> {
        let step = if self == Self::Daily { 1.day() } else { 1.month() };
        let next = self.first_day(now)?.checked_add(step).ok()?;
        next.to_zoned(TimeZone::UTC).ok().map(|next| next.timestamp())
    }
}

impl fmt::Display for Period {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for Period {
    type Err = Invalid;

    fn from_str(text: &str) -> Result<Self, Invalid> {
        Self::ALL.into_iter().find(|period| period.as_str() == text).ok_or_else(|| {
            Invalid::new(code::INVALID_FIELD, "there is no such period of a budget")
                .with_field("period")
                .with_hint("periods are total, daily and monthly")
        })
    }
}

/// A limit of what may be spent, and where it stands. Money is in millionths of a dollar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budget {
    /// The id.
    pub id: BudgetId,
    /// Whose or what spending it limits.
    pub scope: BudgetScope,
    /// When it begins anew.
    pub period: Period,
    /// What it allows.
    pub allows: Allowance,
    /// When the present period began.
    pub starts: Timestamp,
    /// What is spent in it.
    pub spent: i64,
    /// What is held back for calls under way.
    pub held: i64,
    /// When it was made.
    pub created_at: Timestamp,
}

/// What is held back for one call in one budget.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Held {
    /// The budget.
    pub budget: BudgetId,
    /// How much.
    pub amount: i64,
}

/// So many bytes is one amount that is held back: the id of its budget and the amount.
const HELD_BYTES: usize = 24;

impl Held {
    /// Writes what is held back for a call as bytes, to be stored.
    pub fn pack(held: &[Self]) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(held.len() * HELD_BYTES);
        for one in held {
            bytes.extend_from_slice(one.budget.uuid().as_bytes());
            bytes.extend_from_slice(&one.amount.to_be_bytes());
        }
        bytes
    }

    /// Reads what was packed.
    pub fn unpack(bytes: &[u8]) -> Vec<Self> {
        let one = |bytes: &[u8; HELD_BYTES]| {
            let (id, amount) = bytes.split_at(16);
            let budget = BudgetId::from_uuid(Uuid::from_slice(id).unwrap_or_default());
            Self { budget, amount: i64::from_be_bytes(amount.try_into().unwrap_or_default()) }
        };
        bytes.as_chunks::<HELD_BYTES>().0.iter().map(one).collect()
    }
}

/// Whether a budget lets a call through.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reserved {
    /// Yes; this much is held back.
    Held(i64),
    /// Not now: calls under way hold what is left.
    Wait,
    /// No: it is used up.
    Exhausted,
}

/// A budget that was too small for a request, and what was left in it then.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Short {
    /// The budget.
    pub budget: BudgetId,
    /// What was left; less than nothing if too much was spent.
    pub left: i64,
}

impl Short {
    /// Returns what is left in it now: as much as there can be if it limits nothing any more.
    pub fn left_now(&self, budgets: &[Budget], now: Timestamp) -> i64 {
        let budget = budgets.iter().find(|budget| budget.id == self.budget);
        budget.and_then(|budget| budget.left(now)).unwrap_or(i64::MAX)
    }
}

/// A mark that spending has just passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crossing {
    /// Its owner is to be warned.
    Warning,
    /// It is used up.
    Exceeded,
}

impl Budget {
    /// Begins a new period if the present one is over. What is held back stays so.
    pub fn roll(&mut self, now: Timestamp) {
        let starts = self.period.starts(now);
        if starts > self.starts {
            (self.starts, self.spent) = (starts, 0);
        }
    }

    /// Holds the worst case of a call back, if at least its estimate is left. A worst case that does
    /// not fit leaves less than nothing, so that no other call comes beside it until it ends or fits:
    /// at most one call can go beyond the limit.
    pub fn reserve(&mut self, worst: i64, estimate: i64) -> Reserved {
        if let Some(limit) = self.allows.limit() {
            let unspent = limit.saturating_sub(self.spent);
            let left = unspent.saturating_sub(self.held);
            // A call whose price is not known holds nothing, but needs something to be left.
            let needed = estimate.max(1);
            if unspent < needed {
                return Reserved::Exhausted;
            }
            if left < needed {
                return Reserved::Wait;
            }
        }
        let amount = worst.max(0);
        self.held = self.held.saturating_add(amount);
        Reserved::Held(amount)
    }

    /// Returns how much more may be spent, if that is limited; less than nothing if too much was.
    pub fn left(&self, now: Timestamp) -> Option<i64> {
        let is_over = self.period.starts(now) > self.starts;
        let spent = if is_over { 0 } else { self.spent };
        self.allows.limit().map(|limit| limit.saturating_sub(spent))
    }

    fn mark(&self) -> i64 {
        share(self.allows.cap, self.allows.warn_percent)
    }

    /// Tells whether so much is spent that its owner was warned.
    pub fn is_low(&self) -> bool {
        self.spent >= self.mark()
    }

    /// Gives back what was held, and counts what the call cost; tells the highest mark that was passed.
    pub fn settle(&mut self, held: i64, cost: i64) -> Option<Crossing> {
        let before = self.spent;
        self.held = self.held.saturating_sub(held).max(0);
        self.spent = self.spent.saturating_add(cost);
        let mark = self.mark();
        let passed = |mark: i64| before < mark && self.spent >= mark;
        if passed(self.allows.cap) {
            return Some(Crossing::Exceeded);
        }
        passed(mark).then_some(Crossing::Warning)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Mint;

    fn budget(cap: i64, period: Period) -> Budget {
        let epoch = Timestamp::UNIX_EPOCH;
        Budget {
            id: Mint::system().id(),
            scope: BudgetScope::Tenant,
            period,
            allows: Allowance::of(cap),
            starts: epoch,
            spent: 0,
            held: 0,
            created_at: epoch,
        }
    }

    #[test]
    fn a_scope_survives_being_written_and_read() {
        let mint = Mint::system();
        for scope in [
            BudgetScope::Tenant,
            BudgetScope::Project(mint.id()),
            BudgetScope::User(mint.id()),
            BudgetScope::Agent("worker-3".to_owned()),
            BudgetScope::Bead("godel-abcde".to_owned()),
            BudgetScope::Convoy("convoy-20261115-abc".to_owned()),
            BudgetScope::Token(mint.id()),
        ] {
            assert_eq!(scope.to_string().parse::<BudgetScope>().unwrap(), scope);
        }
        for bad in ["", "tenant:", "project:x", "agent:", "agent:a b", "bead", "moon:1"] {
            assert!(bad.parse::<BudgetScope>().is_err(), "{bad}");
        }
    }

    #[test]
    fn a_call_that_might_not_fit_is_let_through_alone() {
        let mut budget = budget(100, Period::Total);
        assert_eq!(budget.reserve(60, 10), Reserved::Held(60));
        assert_eq!(budget.reserve(60, 10), Reserved::Held(60), "40 are left, and 10 are likely");
        assert_eq!(budget.reserve(60, 10), Reserved::Wait);
        assert_eq!(budget.settle(60, 20), None);
        assert_eq!(budget.reserve(60, 30), Reserved::Wait, "20 are left beside the worst case");
        assert_eq!(budget.settle(60, 55), None, "75 of 100");
        assert_eq!(budget.reserve(60, 10), Reserved::Held(60));
        assert_eq!(budget.settle(60, 60), Some(Crossing::Exceeded));
        assert_eq!((budget.spent, budget.held), (135, 0));
        assert_eq!(budget.reserve(1, 1), Reserved::Exhausted);
    }

    #[test]
    fn grace_lets_calls_through_until_it_is_used_up_too() {
        let mut budget = budget(100, Period::Total);
        budget.allows.grace_percent = 10;
        assert_eq!(budget.settle(0, 100), Some(Crossing::Exceeded), "told at the limit itself");
        assert_eq!(budget.reserve(5, 5), Reserved::Held(5));
        assert_eq!(budget.settle(5, 10), None);
        assert_eq!(budget.reserve(1, 1), Reserved::Exhausted);
    }

    #[test]
    fn what_is_left_in_a_budget_is_all_there_can_be_once_it_limits_nothing() {
        let (mut daily, now) = (budget(100, Period::Daily), Timestamp::UNIX_EPOCH);
        daily.settle(0, 97);
        let short = Short { budget: daily.id, left: 3 };
        assert_eq!(short.left_now(&[budget(9, Period::Total), daily.clone()], now), 3);
        let tomorrow = "1970-01-02T00:00:00Z".parse().unwrap();
        assert_eq!(short.left_now(&[daily.clone()], tomorrow), 100);
        daily.allows.stops = false;
        assert_eq!(short.left_now(&[daily], now), i64::MAX);
        assert_eq!(short.left_now(&[], now), i64::MAX);
    }

    #[test]
    fn a_budget_that_only_tells_refuses_nothing() {
        let mut budget = budget(100, Period::Total);
        budget.allows.stops = false;
        assert_eq!(budget.settle(0, 79), None);
        assert_eq!(budget.settle(0, 1), Some(Crossing::Warning));
        assert_eq!(budget.settle(0, 1_000), Some(Crossing::Exceeded));
        for _ in 0..2 {
            assert_eq!(budget.reserve(i64::MAX, 500), Reserved::Held(i64::MAX));
        }
    }

    #[test]
    fn a_mark_is_told_once() {
        let mut budget = budget(100, Period::Total);
        assert_eq!(budget.settle(0, 79), None);
        assert_eq!(budget.settle(0, 1), Some(Crossing::Warning));
        assert_eq!(budget.settle(0, 5), None);
        assert_eq!(budget.settle(0, 15), Some(Crossing::Exceeded));
        assert_eq!(budget.settle(0, 15), None);
    }

    #[test]
    fn a_period_begins_anew_at_midnight_in_utc() {
        let at = |text: &str| text.parse::<Timestamp>().unwrap();
        let mut daily = budget(100, Period::Daily);
        daily.roll(at("2026-11-30T23:59:59Z"));
        daily.settle(0, 90);
        daily.roll(at("2026-11-30T23:59:59.9Z"));
        assert_eq!(daily.spent, 90);
        daily.roll(at("2026-12-01T00:00:00Z"));
        assert_eq!((daily.spent, daily.starts), (0, at("2026-12-01T00:00:00Z")));
        assert_eq!(Period::Monthly.starts(at("2026-11-30T23:59:59Z")), at("2026-11-01T00:00:00Z"));
        assert_eq!(
            Period::Monthly.ends(at("2026-12-05T00:00:00Z")),
            Some(at("2027-01-01T00:00:00Z"))
        );
        assert_eq!(Period::Total.ends(at("2026-12-05T00:00:00Z")), None);
    }

    proptest! {
        /// Calls cost between their estimate and their worst case, and end in any order.
        #[test]
        fn no_number_of_calls_passes_the_limit_by_more_than_one_call(
            cap in 1_i64..2_000,
            calls in proptest::collection::vec((1_i64..50, 0_i64..200, any::<bool>(), 0_i64..200), 1..80),
        ) {
            let mut budget = budget(cap, Period::Total);
            let (mut open, mut largest) = (Vec::new(), 0);
            for (estimate, more, end_first, extra) in calls {
                let worst = estimate + more;
                if end_first && !open.is_empty() {
                    let (held, cost) = open.remove(extra as usize % open.len());
                    budget.settle(held, cost);
                }
                if let Reserved::Held(held) = budget.reserve(worst, estimate) {
                    largest = largest.max(worst);
                    open.push((held, estimate + extra.min(more)));
                }
            }
            for (held, cost) in open {
                budget.settle(held, cost);
            }
            prop_assert_eq!(budget.held, 0);
            prop_assert!(budget.spent <= cap + largest, "{} of {}", budget.spent, cap);
        }
    }
}
