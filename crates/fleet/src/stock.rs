//! Worktrees that are ready before an agent asks for one.

use std::path::PathBuf;
use std::time::Duration;

use crate::fleet::lock;
use crate::{Fleet, Result, wishes};

/// How long nothing is made ready after an agent has begun: it would be slowed down.
const AFTER: Duration = Duration::from_secs(1);

impl Fleet {
    /// Makes worktrees of a repository ready again, in the background; one at a time is at it.
    pub(crate) fn restock(&self, folder: PathBuf) {
        let Some(again) = self.begin_stocking(&folder) else { return };
        let fleet = self.clone();
        self.own.crew.spawn(async move {
            // Whoever has just begun gets to its model first.
            if tokio::time::timeout(AFTER, again.cancelled()).await.is_ok() {
                fleet.take_wish(&folder);
                return;
            }
            loop {
                if let Err(error) = fleet.stock(folder.clone()).await {
                    tracing::info!(folder = %folder.display(), %error, "no worktrees are ready");
                }
                // What was taken meanwhile is replaced, too.
                if !fleet.take_wish(&folder) || again.is_cancelled() {
                    return;
                }
            }
        });
    }

    /// Begins to make worktrees ready; none if somebody is at it, who is told to do it again.
    fn begin_stocking(
        &self,
        folder: &std::path::Path,
    ) -> Option<tokio_util::sync::CancellationToken> {
        let mut stocking = lock(&self.own.stocking);
        if let Some(wished) = stocking.get_mut(folder) {
            *wished = true;
            return None;
        }
        stocking.insert(folder.to_owned(), false);
        Some(self.own.crew.stopping())
    }

    /// Tells whether it is to be done again; if not, nobody is at it any more.
    fn take_wish(&self, folder: &std::path::Path) -> bool {
        let mut stocking = lock(&self.own.stocking);
        if stocking.get_mut(folder).is_some_and(std::mem::take) {
            return true;
        }
        stocking.remove(folder);
        false
    }

    async fn stock(&self, folder: PathBuf) -> Result<()> {
        let wanted = wishes::read(self, folder.clone()).await?;
        let base = wishes::target(self, folder.clone(), &wanted).await?;
        let count = wanted.agents.ready as usize;
        self.at_bench(folder, move |bench| bench.stock(count, base.as_deref())).await?;
        Ok(())
    }
}
