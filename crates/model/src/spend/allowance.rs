//! What a budget allows, and what happens at its marks.

use crate::{Invalid, UserId, code};

/// The largest budget: what JSON can hold exactly in every language.
const CAP_MAX_MICROS: i64 = 1 << 53;
/// How many people are told of one budget at most.
const TOLD_MAX: usize = 20;

/// What a budget allows, and what happens at its marks. Money is in millionths of a dollar.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Allowance {
    /// What may be spent in a period.
    pub cap: i64,
    /// From how many percent on it is warned of.
    pub warn_percent: u32,
    /// Whether requests are refused when it is used up; else somebody is told, and that is all.
    pub stops: bool,
    /// By how many percent it may be passed before requests are refused.
    pub grace_percent: u32,
    /// Who is told of it; nobody named stands for everybody who may know of it.
    pub tell: Vec<UserId>,
}

impl Allowance {
    /// From how many percent on a budget warns unless told otherwise.
    pub const WARN_PERCENT: u32 = 80;

    /// Allows so much and nothing beyond it, and tells everybody.
    pub const fn of(cap: i64) -> Self {
        let warn_percent = Self::WARN_PERCENT;
        Self { cap, warn_percent, stops: true, grace_percent: 0, tell: Vec::new() }
    }

    /// Checks whether it makes sense.
    ///
    /// # Errors
    /// If the limit is not positive, or a mark makes no sense.
    pub fn check(&self) -> Result<(), Invalid> {
        let refuse = |field: &'static str, why: &str| {
            Err(Invalid::new(code::INVALID_FIELD, why).with_field(field))
        };
        if !(1..CAP_MAX_MICROS).contains(&self.cap) {
            let why = "a budget must be more than 0 and less than 9,000,000,000 dollars";
            return refuse("capMicros", why);
        }
        if !(1..=100).contains(&self.warn_percent) {
            return refuse("warnPercent", "a warning must be at 1 to 100 percent");
        }
        if self.grace_percent > 100 {
            return refuse("gracePercent", "a budget can be passed by 0 to 100 percent");
        }
        if self.tell.len() > TOLD_MAX {
            return refuse("tell", "at most 20 people are told of a budget");
        }
        Ok(())
    }

    /// Returns from how much spending on requests are refused; none if they never are.
    pub fn limit(&self) -> Option<i64> {
        self.stops.then(|| share(self.cap, 100 + self.grace_percent))
    }
}

/// What is to be set of a budget; what is not named stays as it is, or is as usual.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AllowanceChange {
    /// What may be spent in a period.
    pub cap: i64,
    /// From how many percent on it is warned of.
    pub warn_percent: Option<u32>,
    /// Whether requests are refused when it is used up.
    pub stops: Option<bool>,
    /// By how many percent it may be passed before.
    pub grace_percent: Option<u32>,
    /// Who is told of it.
    pub tell: Option<Vec<UserId>>,
}

impl AllowanceChange {
    /// Sets the limit alone.
    pub fn cap(cap: i64) -> Self {
        Self { cap, ..Self::default() }
    }

    /// Returns what is allowed after it.
    ///
    /// # Errors
    /// If that makes no sense.
    pub fn applied(self, before: Option<Allowance>) -> Result<Allowance, Invalid> {
        let before = before.unwrap_or_else(|| Allowance::of(self.cap));
        let after = Allowance {
            cap: self.cap,
            warn_percent: self.warn_percent.unwrap_or(before.warn_percent),
            stops: self.stops.unwrap_or(before.stops),
            grace_percent: self.grace_percent.unwrap_or(before.grace_percent),
            tell: self.tell.unwrap_or(before.tell),
        };
        after.check().map(|()| after)
    }
}

/// Returns so many percent of an amount.
pub(super) fn share(amount: i64, percent: u32) -> i64 {
    let share = i128::from(amount) * i128::from(percent) / 100;
    i64::try_from(share).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Mint, Report as _};

    #[test]
    fn an_allowance_that_makes_no_sense_names_its_field() {
        let fine = Allowance::of(5);
        assert!(fine.check().is_ok());
        let many = vec![Mint::system().id(); TOLD_MAX + 1];
        for (bad, name) in [
            (Allowance { cap: 0, ..fine.clone() }, "capMicros"),
            (Allowance { warn_percent: 101, ..fine.clone() }, "warnPercent"),
            (Allowance { grace_percent: 101, ..fine.clone() }, "gracePercent"),
            (Allowance { tell: many, ..fine.clone() }, "tell"),
        ] {
            assert_eq!(bad.check().unwrap_err().field(), Some(name));
        }
    }

    #[test]
    fn what_is_not_named_stays_as_it_is() {
        let usual = AllowanceChange::cap(7).applied(None).unwrap();
        assert_eq!(usual, Allowance::of(7));
        let change = AllowanceChange { stops: Some(false), ..AllowanceChange::cap(9) };
        let tell = vec![Mint::system().id()];
        let before = Allowance { warn_percent: 50, grace_percent: 5, tell, ..usual };
        let after = change.applied(Some(before.clone())).unwrap();
        assert_eq!(after, Allowance { cap: 9, stops: false, ..before });
        assert!(AllowanceChange::cap(0).applied(None).is_err());
    }
}
