//! The quota of a subscription: what a provider says of it is kept, and told to the client.

use godel_llm::{is_quota_header, read_quota};
use godel_model::Quota;
use http::HeaderMap;

use crate::ask::Asked;
use crate::route::Route;

impl Asked<'_> {
    /// Notes what a provider says of the quota of the login that it was asked with.
    pub(crate) fn note_quota(&self, route: &Route, headers: &HeaderMap) {
        if !route.own_login {
            return;
        }
        let seen_at = self.board.clock.now();
        let about = headers.iter().filter(|(name, _)| is_quota_header(name.as_str()));
        let about: Vec<(&str, &str)> =
            about.filter_map(|(name, value)| Some((name.as_str(), value.to_str().ok()?))).collect();
        let windows = read_quota(&about, seen_at);
        if windows.is_empty() {
            return;
        }
        let purpose = &self.who.purpose;
        let quotas = windows.into_iter().map(|window| Quota {
            user: purpose.user,
            provider: route.provider.to_string(),
            window,
            seen_at,
        });
        self.board.ledger.note(purpose.tenant, quotas.collect());
    }
}

/// Lets a client see the quota of its own login; that of a key is not its business.
pub(crate) fn tell_quota(route: &Route, from: &HeaderMap, to: &mut HeaderMap) {
    if !route.own_login {
        return;
    }
    for (name, value) in from.iter().filter(|(name, _)| is_quota_header(name.as_str())) {
        to.append(name.clone(), value.clone());
    }
}
