//! What money is spent on.

/// What money is spent on. Sums have machines and storage as names of providers, which no provider may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum SpendKind {
    /// Models: each request by itself.
    Models,
    /// Machines: agents at work, by the time that they take.
    Runtime,
    /// Storage: snapshots, by the room that they take.
    Storage,
}

impl SpendKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Models, Self::Runtime, Self::Storage];

    /// Returns its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Models => "models",
            Self::Runtime => "runtime",
            Self::Storage => "storage",
        }
    }

    /// Tells on what money was spent that the sums have under the name of a provider.
    pub fn of(provider: &str) -> Self {
        let own = [Self::Runtime, Self::Storage];
        own.into_iter().find(|kind| kind.as_str() == provider).unwrap_or(Self::Models)
    }
}
