//! When people are told that something is too much: once, and not again before it was better.

/// What becomes of an alert.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Alarm {
    /// People are told.
    Raise,
    /// It is over, and may come again.
    Calm,
}

/// Decides what becomes of an alert when there are so many of something. It comes at the threshold
/// and is over when less than half of that is left, so that one more or less tells nobody anything.
pub fn alarm(raised: bool, count: u64, threshold: u32) -> Option<Alarm> {
    let threshold = u64::from(threshold);
    match raised {
        false if threshold > 0 && count >= threshold => Some(Alarm::Raise),
        true if threshold == 0 || count.saturating_mul(2) < threshold => Some(Alarm::Calm),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_comes_once_and_again_only_after_it_was_over() {
        let (mut raised, mut told) = (false, Vec::new());
        for count in [0, 9, 10, 11, 10, 9, 10, 5, 10, 4, 9, 10, 0] {
            let Some(alarm) = alarm(raised, count, 10) else { continue };
            raised = alarm == Alarm::Raise;
            told.push((count, alarm));
        }
        let expected = [(10, Alarm::Raise), (4, Alarm::Calm), (10, Alarm::Raise), (0, Alarm::Calm)];
        assert_eq!(told, expected);
    }

    #[test]
    fn nobody_is_told_of_nothing() {
        assert_eq!(alarm(false, u64::MAX, 0), None);
        assert_eq!(alarm(true, u64::MAX, 0), Some(Alarm::Calm), "who wants no alert has none");
        assert_eq!(alarm(false, 1, 1), Some(Alarm::Raise));
        assert_eq!(alarm(true, 1, 1), None);
        assert_eq!(alarm(true, 0, 1), Some(Alarm::Calm));
    }
}
