//! What one provider keeps to itself must not reach another.

use std::sync::Arc;

use http::header::HeaderName;

use crate::ask::{Asked, header};
use crate::attempt::NAME_MAX_CHARS;
use crate::route::{Route, several};
use crate::running::plain;

/// The headers in which clients name their session.
const SESSION_NAMES: [HeaderName; 5] = [
    HeaderName::from_static("x-claude-code-session-id"),
    HeaderName::from_static("session-id"),
    HeaderName::from_static("session_id"),
    HeaderName::from_static("x-session-id"),
    HeaderName::from_static("x-session-affinity"),
];
impl Asked<'_> {
    /// Leaves one provider if the request carries what only one understands, and one key if it lies with the
    /// account of one: who answered its session before, or else the first of the settings, even if it fails
    /// now.
    pub(crate) fn pin(&self, routes: &mut Vec<Arc<Route>>) {
        if !several(routes) || !self.has_state() {
            return;
        }
        let tenant = self.who.purpose.tenant;
        let known = self.session().and_then(|session| self.board.sessions.get(tenant, &session));
        let of_session = |route: &&Arc<Route>| {
            known.as_ref().is_some_and(|(provider, _)| route.provider == *provider)
        };
        let is_its_key =
            |route: &Arc<Route>| known.as_ref().is_some_and(|(_, key)| route.key_id() == *key);
        let first = || routes.iter().min_by_key(|route| route.place);
        let home = routes.iter().filter(of_session);
        let home = home.min_by_key(|route| (!is_its_key(route), route.place));
        let Some(home) = home.or_else(first).cloned() else { return };
        let with_account = self.peek.continues || self.peek.beyond.account_state;
        routes.retain(|route| {
            route.provider == home.provider && (!with_account || route.key_id() == home.key_id())
        });
    }

    /// Tells whether the request carries what only one provider understands.
    pub(crate) fn has_state(&self) -> bool {
        let beyond = self.peek.beyond;
        self.peek.continues || beyond.state || beyond.account_state
    }

    /// Returns by which name the client calls its session.
    pub(crate) fn session(&self) -> Option<String> {
        let headers = &self.parts.headers;
        let named = SESSION_NAMES.iter().find_map(|name| header(headers, name));
        let named = named.or(self.peek.session.as_deref());
        named.map(|name| plain(name, NAME_MAX_CHARS))
    }
}
