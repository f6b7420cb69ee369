//! Chance from a seed.

/// Throws the same numbers for the same seed.
#[derive(Debug, Clone)]
pub(super) struct Dice(u64);

impl Dice {
    pub(super) fn of(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) ^ 0x5851_F42D_4C95_7F2D)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number below another; 0 below 0.
    pub(super) fn below(&mut self, end: usize) -> usize {
        let end = u64::try_from(end.max(1)).unwrap();
        usize::try_from(self.next() % end).unwrap()
    }

    /// A number between two, both included.
    pub(super) fn between(&mut self, first: i64, last: i64) -> i64 {
        first + i64::try_from(self.below(usize::try_from(last - first + 1).unwrap())).unwrap()
    }

    /// True so many times of a hundred.
    pub(super) fn percent(&mut self, often: usize) -> bool {
        self.below(100) < often
    }

    /// One of them.
    pub(super) fn pick<T: Clone>(&mut self, of: &[T]) -> Option<T> {
        let place = self.below(of.len());
        of.get(place).cloned()
    }
}
