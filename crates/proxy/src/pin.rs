//! What one provider keeps to itself must not reach another.

use std::sync::Arc;

use http::header::HeaderName;
use memchr::memmem;

use crate::ask::{Asked, header};
use crate::attempt::NAME_MAX_CHARS;
use crate::route::{Route, several};
use crate::running::plain;

/// The headers in which clients name their session.
const SESSION_NAMES: [HeaderName; 4] = [
    HeaderName::from_static("x-claude-code-session-id"),
    HeaderName::from_static("session-id"),
    HeaderName::from_static("session_id"),
    HeaderName::from_static("x-session-id"),
];

impl Asked<'_> {
    /// Leaves one provider if the request carries what only one understands: the one that answered
    /// its session before, or else the first of the settings, even if it fails now.
    pub(crate) fn pin(&self, routes: &mut Vec<Arc<Route>>) {
        if !several(routes) || !self.has_state() {
            return;
        }
        let tenant = self.who.purpose.tenant;
        let session = self.session();
        let known = session.and_then(|session| self.board.sessions.get(tenant, &session));
        let known: Option<Arc<str>> = known.map(Into::into);
        let known = known.filter(|known| routes.iter().any(|route| route.provider == *known));
        let first = || routes.iter().min_by_key(|route| route.place).map(|route| &route.provider);
        if let Some(home) = known.or_else(|| first().cloned()) {
            routes.retain(|route| route.provider == home);
        }
    }

    /// Tells whether the request carries what only one provider understands.
    pub(crate) fn has_state(&self) -> bool {
        let marks: &[&[u8]] = &[
            b"\"encrypted_content\"",
            b"\"signature\"",
            b"\"thoughtSignature\"",
            b"redacted_thinking",
        ];
        self.peek.continues || marks.iter().any(|mark| memmem::find(&self.body, mark).is_some())
    }

    /// Returns by which name the client calls its session.
    pub(crate) fn session(&self) -> Option<String> {
        let headers = &self.parts.headers;
        let named = SESSION_NAMES.iter().find_map(|name| header(headers, name));
        let named = named.or(self.peek.session.as_deref());
        named.map(|name| plain(name, NAME_MAX_CHARS))
    }
}
