//! Health: what several probes add up to.

/// How a part or the whole is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Health {
    /// All is well.
    Healthy,
    /// Works, but not as it should.
    Degraded,
    /// Cannot do its work.
    Unhealthy,
}

/// What one probe found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verdict {
    /// How the part is doing.
    pub health: Health,
    /// Whether the server can work without the part.
    pub essential: bool,
}

/// Returns the health of the whole: an essential part counts in full, another one at most degrades.
pub fn overall(verdicts: impl IntoIterator<Item = Verdict>) -> Health {
    verdicts
        .into_iter()
        .map(
            |verdict| {
                if verdict.essential {
                    verdict.health
                } else {
                    verdict.health.min(Health::Degraded)
                }
            },
        )
        .max()
        .unwrap_or(Health::Healthy)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_essential_part_can_make_the_whole_unhealthy() {
        use Health::{Degraded, Healthy, Unhealthy};
        let part = |health, essential| Verdict { health, essential };
        for (parts, expected) in [
            (vec![], Healthy),
            (vec![part(Healthy, true), part(Healthy, false)], Healthy),
            (vec![part(Healthy, true), part(Unhealthy, false)], Degraded),
            (vec![part(Degraded, true), part(Healthy, false)], Degraded),
            (vec![part(Unhealthy, true), part(Healthy, false)], Unhealthy),
        ] {
            assert_eq!(overall(parts), expected);
        }
    }
}
