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

/// How much of a disk must be free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskMarks {
    /// With less than this the disk needs attention.
    pub low_bytes: u64,
    /// With less than this writes may fail at any time.
    pub out_bytes: u64,
}

impl Default for DiskMarks {
    /// 1 GiB and 100 MiB: hours, and minutes, of a busy log.
    fn default() -> Self {
        Self { low_bytes: 1024 * 1024 * 1024, out_bytes: 100 * 1024 * 1024 }
    }
}

impl DiskMarks {
    /// Returns how a disk with this much free space is doing; `None` if that is not known.
    pub fn judge(self, free_bytes: Option<u64>) -> Health {
        match free_bytes {
            None => Health::Degraded,
            Some(free) if free < self.out_bytes => Health::Unhealthy,
            Some(free) if free < self.low_bytes => Health::Degraded,
            Some(_) => Health::Healthy,
        }
    }
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

    #[test]
    fn a_disk_gets_worse_as_it_fills() {
        let marks = DiskMarks { low_bytes: 100, out_bytes: 10 };
        for (free, health) in [
            (None, Health::Degraded),
            (Some(9), Health::Unhealthy),
            (Some(10), Health::Degraded),
            (Some(99), Health::Degraded),
            (Some(100), Health::Healthy),
        ] {
            assert_eq!(marks.judge(free), health, "{free:?}");
        }
    }
}
