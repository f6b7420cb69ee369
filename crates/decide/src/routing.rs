//! Routing: who is asked first, and who next.

/// What counts in the choice between providers that could answer.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Prefer {
    /// The order in which they are named.
    #[default]
    Order,
    /// What the request is likely to cost.
    Cost,
    /// How fast they began to answer lately.
    Latency,
}

impl Prefer {
    /// Returns the word for it in settings.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Order => "order",
            Self::Cost => "cost",
            Self::Latency => "latency",
        }
    }
}

/// One that could answer.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Candidate {
    /// Whether it can do what the request needs, as far as is known.
    pub capable: bool,
    /// Whether it has worked lately.
    pub healthy: bool,
    /// What the request is likely to cost, if that is known.
    pub cost: Option<i64>,
    /// How long the first byte took lately, in milliseconds, if that is known.
    pub latency: Option<f64>,
}

/// Returns in which order candidates are asked, by their places. Who cannot do what is needed is
/// asked only if nobody can; who has not worked lately comes last.
pub fn order(candidates: &[Candidate], prefer: Prefer) -> Vec<usize> {
    let any = candidates.iter().any(|candidate| candidate.capable);
    let mut places: Vec<usize> =
        (0..candidates.len()).filter(|at| candidates[*at].capable || !any).collect();
    places.sort_by(|a, b| {
        let (a, b) = (&candidates[*a], &candidates[*b]);
        // What is not known comes behind what is.
        let wish = match prefer {
            Prefer::Order => std::cmp::Ordering::Equal,
            Prefer::Cost => a.cost.unwrap_or(i64::MAX).cmp(&b.cost.unwrap_or(i64::MAX)),
            Prefer::Latency => {
                let of = |candidate: &Candidate| candidate.latency.unwrap_or(f64::MAX);
                of(a).total_cmp(&of(b))
            }
        };
        b.healthy.cmp(&a.healthy).then(wish)
    });
    places
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> [Candidate; 4] {
        let fit = Candidate { capable: true, healthy: true, ..Candidate::default() };
        [
            Candidate { cost: Some(9), latency: Some(10.0), ..fit },
            Candidate { cost: Some(1), latency: None, ..fit },
            Candidate { cost: None, latency: Some(5.0), ..fit },
            Candidate { cost: Some(0), latency: Some(1.0), capable: false, healthy: true },
        ]
    }

    #[test]
    fn each_wish_gives_its_order_and_who_cannot_is_not_asked() {
        assert_eq!(order(&all(), Prefer::Order), [0, 1, 2]);
        assert_eq!(order(&all(), Prefer::Cost), [1, 0, 2]);
        assert_eq!(order(&all(), Prefer::Latency), [2, 0, 1]);
    }

    #[test]
    fn who_does_not_work_comes_last_and_is_still_asked() {
        let mut all = all();
        all[0].healthy = false;
        assert_eq!(order(&all, Prefer::Order), [1, 2, 0]);
        let unfit = [Candidate::default(); 2];
        assert_eq!(order(&unfit, Prefer::Order), [0, 1], "better tried than refused");
    }
}
