//! Medians and percentiles.

/// Returns the middle of some numbers; 0 if there are none.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => 0.0,
        odd if odd % 2 == 1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

/// Samples of which percentiles are wanted.
#[derive(Debug, Default)]
pub(crate) struct Samples {
    sorted: Vec<u64>,
}

impl Samples {
    /// Takes the samples, in any order.
    pub(crate) fn new(mut samples: Vec<u64>) -> Self {
        samples.sort_unstable();
        Self { sorted: samples }
    }

    /// Returns the smallest sample that is not exceeded by `percent` of all; 0 if there are none.
    pub(crate) fn percentile(&self, percent: f64) -> u64 {
        let rank = (percent / 100.0 * self.sorted.len() as f64).ceil() as usize;
        let at = rank.clamp(1, self.sorted.len().max(1)) - 1;
        self.sorted.get(at).copied().unwrap_or_default()
    }

    /// Returns a percentile of nanoseconds as milliseconds.
    pub(crate) fn millis(&self, percent: f64) -> f64 {
        self.percentile(percent) as f64 / 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_median_stands_in_the_middle() {
        assert_eq!(median([]), 0.0);
        assert_eq!(median([3.0]), 3.0);
        assert_eq!(median([5.0, 1.0, 3.0]), 3.0);
        assert_eq!(median([4.0, 1.0, 3.0, 2.0]), 2.5);
    }

    #[test]
    fn a_percentile_is_one_of_the_samples() {
        let samples = Samples::new((1..=100).rev().collect());
        for (percent, wanted) in [(0.0, 1), (1.0, 1), (50.0, 50), (99.0, 99), (100.0, 100)] {
            assert_eq!(samples.percentile(percent), wanted, "{percent}");
        }
        assert_eq!(Samples::new(vec![]).percentile(99.0), 0);
        assert_eq!(Samples::new(vec![7]).percentile(50.0), 7);
        assert_eq!(Samples::new(vec![2_000_000]).millis(99.0), 2.0);
    }
}
