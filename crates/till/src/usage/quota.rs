//! The quotas of subscriptions, under a report and beside providers.

use godel_api::{Client, QuotaState, QuotaStates};
use godel_console::output::{STRONG, styled};
use godel_console::{Context, Result};
use godel_model::{Clock as _, SystemClock};
use jiff::Timestamp;

use crate::names::Names;

/// Prints the quotas of the subscriptions by which providers were asked, if there are any.
pub(crate) async fn print(context: &Context, client: &Client) -> Result<()> {
    let found: QuotaStates = client.get("/proxy/v1/quotas", &[]).await?;
    if found.items.is_empty() {
        return Ok(());
    }
    let names = Names::load(context, client, false, true).await?;
    let now = SystemClock.now();
    context.output.line("")?;
    context.output.line(styled(STRONG, "Quotas of subscriptions"))?;
    context.output.line("")?;
    let rows = found.items.into_iter().map(|quota| {
        let user = names.of(&quota.user_id.to_string());
        [quota.provider.clone(), user, window(&quota), used(&quota), resets(&quota, now)]
    });
    let header = ["PROVIDER", "USER", "WINDOW", "USED", "BEGINS ANEW"];
    context.output.listing(header, rows.collect())
}

/// Names a window by its length, which says more than what its provider calls it.
pub(crate) fn window(quota: &QuotaState) -> String {
    let length = quota.window_minutes.filter(|minutes| *minutes > 0).map(|minutes| match minutes {
        minutes if minutes.is_multiple_of(1_440) => format!("{}d", minutes / 1_440),
        minutes if minutes.is_multiple_of(60) => format!("{}h", minutes / 60),
        minutes => format!("{minutes}m"),
    });
    match length {
        Some(length) if quota.window.starts_with(&length) => quota.window.clone(),
        Some(length) => format!("{length} ({})", quota.window),
        None => quota.window.clone(),
    }
}

/// Tells how much is used.
pub(crate) fn used(quota: &QuotaState) -> String {
    let used = quota.used_percent.map_or_else(|| "-".to_owned(), |used| format!("{used:.0}%"));
    match quota.state.as_deref() {
        None | Some("allowed") => used,
        Some(state) => format!("{used} ({state})"),
    }
}

fn resets(quota: &QuotaState, now: Timestamp) -> String {
    match quota.resets_at {
        Some(at) if at <= now => "since it was told".to_owned(),
        Some(at) => format!("{at:.0}"),
        None => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn quota(window: &str, minutes: Option<u32>) -> QuotaState {
        let at = "1970-01-01T00:00:00Z";
        let told = serde_json::json!({
            "userId": "00000000-0000-0000-0000-000000000000", "provider": "p", "window": window,
            "windowMinutes": minutes, "usedPercent": 42.4, "resetsAt": at, "seenAt": at,
        });
        serde_json::from_value(told).unwrap()
    }

    #[test]
    fn a_window_is_named_by_its_length() {
        for (name, minutes, shown) in [
            ("5h", Some(300), "5h"),
            ("7d_sonnet", Some(10_080), "7d_sonnet"),
            ("primary", Some(300), "5h (primary)"),
            ("primary", Some(90), "90m (primary)"),
            ("overage", None, "overage"),
            ("odd", Some(0), "odd"),
        ] {
            assert_eq!(window(&quota(name, minutes)), shown);
        }
    }

    #[test]
    fn what_is_used_is_told_with_what_the_provider_says_of_it() {
        let told = |state: Option<&str>| {
            used(&QuotaState { state: state.map(ToOwned::to_owned), ..quota("5h", None) })
        };
        assert_eq!(told(Some("allowed")), "42%");
        assert_eq!(told(Some("rejected")), "42% (rejected)");
        let now = Timestamp::UNIX_EPOCH;
        assert_eq!(resets(&quota("5h", None), now), "since it was told");
    }
}
