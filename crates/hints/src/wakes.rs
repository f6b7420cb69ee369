//! Servers wake each other: there may be something to do for a tenant.

use std::time::Duration;

use futures_util::StreamExt as _;
use godel_model::TenantId;

use crate::error::unreachable;
use crate::{CONNECT_TIMEOUT, Hints, Result};

const CHANNEL: &str = "godel:wake";
/// How long nothing is heard before it is asked whether anybody is there.
const SILENCE: Duration = Duration::from_secs(60);

impl Hints {
    /// Tells other servers that there may be something to do for these tenants.
    ///
    /// # Errors
    /// If Redis does not answer; others find out by looking.
    pub async fn ring(&self, own: &str, tenants: &[TenantId]) -> Result<()> {
        let mut connection = self.connection.clone();
        let mut text = own.to_owned();
        for tenant in tenants {
            text.push_str(&format!(" {tenant}"));
        }
        let told: redis::RedisResult<i64> =
            redis::cmd("PUBLISH").arg(CHANNEL).arg(text).query_async(&mut connection).await;
        told.map(drop).map_err(unreachable)
    }

    /// Hears other servers until the connection breaks, or nothing was heard for a while.
    ///
    /// # Errors
    /// If Redis is not there.
    pub async fn heed(&self, own: &str, mut heard: impl FnMut(TenantId)) -> Result<()> {
        let open = tokio::time::timeout(CONNECT_TIMEOUT, self.client.get_async_pubsub());
        let mut ears = open.await.map_err(unreachable)?.map_err(unreachable)?;
        ears.subscribe(CHANNEL).await.map_err(unreachable)?;
        let mut messages = ears.into_on_message();
        while let Ok(Some(message)) = tokio::time::timeout(SILENCE, messages.next()).await {
            let text: String = message.get_payload().map_err(unreachable)?;
            let mut words = text.split(' ');
            if words.next() == Some(own) {
                continue;
            }
            words.filter_map(|word| word.parse().ok()).for_each(&mut heard);
        }
        Ok(())
    }
}
