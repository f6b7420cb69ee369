//! Queues that are wrong in one way, and the rule that each must be caught by.

use godel_referee::Rule;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mutant {
    DropEnqueue,
    DuplicateUnknown,
    TwoPlaces,
    Ghost,
    GhostDone,
    ReuseAttempt,
    SkipAttempt,
    BeyondMax,
    TwoLeases,
    SkipFence,
    UnfencedSpawn,
    Revived,
    UnaskedReplay,
    LowerTierFirst,
    LowerTierFirstInDrain,
    NewestFirst,
    EventGap,
    EventTwice,
    EventOrder,
    Sequence,
    SubscriberSkips,
    EventDisagrees,
    SilentCancel,
    ChildBeforeParent,
    LostEdge,
    NeverPromoted,
    PromotedTwice,
    CancelMissesDescendants,
    FailureMissesDescendants,
    DepthOff,
    EarlyRetry,
    LateRetry,
    ShortBackoff,
    LostAtCut,
    AckLost,
}

impl Mutant {
    pub(crate) const ALL: [(Self, Rule); 35] = [
        (Self::DropEnqueue, Rule::I1),
        (Self::DuplicateUnknown, Rule::I1),
        (Self::TwoPlaces, Rule::I1),
        (Self::Ghost, Rule::I2),
        (Self::GhostDone, Rule::I2),
        (Self::ReuseAttempt, Rule::I3),
        (Self::SkipAttempt, Rule::I3),
        (Self::BeyondMax, Rule::I3),
        (Self::TwoLeases, Rule::I4),
        (Self::SkipFence, Rule::I5),
        (Self::UnfencedSpawn, Rule::I5),
        (Self::Revived, Rule::I6),
        (Self::UnaskedReplay, Rule::I6),
        (Self::LowerTierFirst, Rule::I7),
        (Self::LowerTierFirstInDrain, Rule::I7),
        (Self::NewestFirst, Rule::I7),
        (Self::EventGap, Rule::I8),
        (Self::EventTwice, Rule::I8),
        (Self::EventOrder, Rule::I8),
        (Self::Sequence, Rule::I8),
        (Self::SubscriberSkips, Rule::I8),
        (Self::EventDisagrees, Rule::I8),
        (Self::SilentCancel, Rule::I8),
        (Self::ChildBeforeParent, Rule::I9),
        (Self::LostEdge, Rule::I9),
        (Self::NeverPromoted, Rule::I9),
        (Self::PromotedTwice, Rule::I9),
        (Self::CancelMissesDescendants, Rule::I9),
        (Self::FailureMissesDescendants, Rule::I9),
        (Self::DepthOff, Rule::I10),
        (Self::EarlyRetry, Rule::I11),
        (Self::LateRetry, Rule::I11),
        (Self::ShortBackoff, Rule::I11),
        (Self::LostAtCut, Rule::I12),
        (Self::AckLost, Rule::I12),
    ];
}

/// A mutant and how often it did wrong.
#[derive(Clone)]
pub(crate) struct Teeth {
    pub(crate) mutant: Option<Mutant>,
    pub(crate) bites: u32,
}

impl Teeth {
    pub(crate) fn is(&self, mutant: Mutant) -> bool {
        self.mutant == Some(mutant)
    }

    /// Counts a bite if it is this mutant's turn.
    pub(crate) fn bite(&mut self, mutant: Mutant) -> bool {
        let bites = self.is(mutant);
        self.bites += u32::from(bites);
        bites
    }
}
