//! Views: an address of the dashboard with a name, for oneself or for everybody.

use godel_app::{App, Call};
use godel_fleet::paper::{self, Filed};
use godel_model::{Invalid, Reach, UserId, code};
use godel_store::Tx;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use tracing::instrument;
use uuid::Uuid;

use crate::{Error, Result};

/// How many views a person may keep.
pub const VIEWS_MAX: usize = 100;
/// How many views a tenant may have: so many are listed at most.
const ALL_MAX: usize = 2_000;
const NAME_MAX_CHARS: usize = 80;
const PAGE_MAX_BYTES: usize = 40;
const QUERY_MAX_BYTES: usize = 4_000;

/// A view that somebody keeps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct View {
    /// Its id.
    pub id: Uuid,
    /// Who keeps it.
    pub owner: UserId,
    /// What it is a view of.
    pub wanted: NewView,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was last changed.
    pub updated_at: Timestamp,
}

/// What somebody wants to keep.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct NewView {
    /// The page of the dashboard, such as `beads`.
    pub page: String,
    /// What it is called.
    pub name: String,
    /// The part of the address behind the `?`.
    pub query: String,
    /// Whether everybody has it.
    pub shared: bool,
}

impl Filed for View {
    const KIND: &'static str = "view";

    fn uuid(&self) -> Uuid {
        self.id
    }

    fn owner(&self) -> String {
        self.owner.to_string()
    }

    fn state(&self) -> &'static str {
        if self.wanted.shared { "shared" } else { "own" }
    }

    fn missing(what: String) -> Error {
        Error::NoView(what)
    }
}

impl NewView {
    /// Checks what came from outside, and leaves out blanks around the name.
    fn checked(mut self) -> Result<Self> {
        let refuse = |field: &'static str, why: String| {
            Err(Invalid::new(code::INVALID_FIELD, why).with_field(field).into())
        };
        self.name = self.name.trim().to_owned();
        let length = self.name.chars().count();
        if length == 0 || length > NAME_MAX_CHARS || self.name.chars().any(char::is_control) {
            let why = format!("the name of a view must have 1 to {NAME_MAX_CHARS} characters");
            return refuse("name", why);
        }
        let word = |letter: u8| letter.is_ascii_lowercase() || letter == b'-';
        if self.page.is_empty() || self.page.len() > PAGE_MAX_BYTES || !self.page.bytes().all(word)
        {
            return refuse("page", "the page of a view is a word such as beads".to_owned());
        }
        let plain = self.query.bytes().all(|letter| letter.is_ascii_graphic() && letter != b'#');
        if self.query.len() > QUERY_MAX_BYTES || !plain {
            let why = format!(
                "the query of a view must be what an address has behind its ?, of at most {QUERY_MAX_BYTES} bytes"
            );
            return refuse("query", why);
        }
        Ok(self)
    }
}

/// Whoever shares with everybody must be somebody who works here.
fn may_share(call: &Call, wanted: &NewView) -> Result<()> {
    if wanted.shared { Ok(call.may("bead", "create", Reach::Own)?) } else { Ok(()) }
}

/// Lists the caller's views and those that everybody has, by page and name.
///
/// # Errors
/// If the caller may not look at anything.
#[instrument(level = "debug", name = "board.views.list", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn list(app: &App, call: &Call) -> Result<Vec<View>> {
    call.may("bead", "read", Reach::Team)?;
    let own = call.actor.user;
    let work = move |tx: &mut Tx<'_>| {
        let mut found = paper::of::<View>(tx, &own.to_string(), None, VIEWS_MAX)?;
        let shared = paper::in_state::<View>(tx, "shared", None, ALL_MAX)?;
        found.extend(shared.into_iter().filter(|view| view.owner != own));
        Ok(found)
    };
    let mut found = paper::look(app, call.actor.tenant, work).await?;
    found.sort_by_cached_key(|view: &View| {
        (view.wanted.page.clone(), view.wanted.name.to_lowercase(), view.id)
    });
    Ok(found)
}

/// Keeps a view.
///
/// # Errors
/// If the caller may not, the name is taken, or there are too many.
#[instrument(level = "debug", name = "board.views.keep", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn keep(app: &App, call: &Call, wanted: NewView) -> Result<View> {
    call.may("bead", "read", Reach::Team)?;
    may_share(call, &wanted)?;
    let (now, owner) = (app.clock.now(), call.actor.user);
    let wanted = wanted.checked()?;
    let view = View { id: app.mint.id(), owner, wanted, created_at: now, updated_at: now };
    let (app_, call_) = (app.clone(), call.clone());
    let work = move |tx: &mut Tx<'_>| {
        name_is_free(tx, &view)?;
        let counts = tx.papers(View::KIND).count()?;
        if counts.iter().map(|(_, count)| count).sum::<i64>() >= ALL_MAX as i64 {
            return Err(full("a tenant", ALL_MAX));
        }
        paper::insert(tx, &view)?;
        tell(&app_, &call_, tx, ("view:keep", &view))?;
        Ok(view.clone())
    };
    paper::write(app, call.actor.tenant, work).await
}

/// Changes a view that the caller keeps.
///
/// # Errors
/// If there is none, or the name is taken.
#[instrument(level = "debug", name = "board.views.change", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn change(app: &App, call: &Call, id: Uuid, wanted: NewView) -> Result<View> {
    call.may("bead", "read", Reach::Team)?;
    may_share(call, &wanted)?;
    let wanted = wanted.checked()?;
    let (app_, call_, now) = (app.clone(), call.clone(), app.clock.now());
    let work = move |tx: &mut Tx<'_>| {
        let found = own(&call_, tx, id)?;
        name_is_free(tx, &View { wanted: wanted.clone(), ..found })?;
        let (view, ()) = paper::change_in(tx, id, |_, view: &mut View| {
            view.wanted.clone_from(&wanted);
            view.updated_at = now;
            Ok(())
        })?;
        tell(&app_, &call_, tx, ("view:keep", &view))?;
        Ok(view)
    };
    paper::write(app, call.actor.tenant, work).await
}

/// Forgets a view: one's own, or as an admin one that everybody has.
///
/// # Errors
/// If there is none.
#[instrument(level = "debug", name = "board.views.forget", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn forget(app: &App, call: &Call, id: Uuid) -> Result<()> {
    call.may("bead", "read", Reach::Team)?;
    let (app_, call_) = (app.clone(), call.clone());
    let work = move |tx: &mut Tx<'_>| {
        let leads = call_.may("user", "update", Reach::Team).is_ok();
        let shared = |view: &View| view.wanted.shared && leads;
        let found = match paper::by_id::<View>(tx, id)?.filter(shared) {
            Some(found) => found,
            None => own(&call_, tx, id)?,
        };
        tx.papers(View::KIND).delete(id)?;
        tell(&app_, &call_, tx, ("view:forget", &found))
    };
    paper::write(app, call.actor.tenant, work).await
}

/// Finds a view of the caller's.
fn own(call: &Call, tx: &mut Tx<'_>, id: Uuid) -> Result<View> {
    let found = paper::by_id::<View>(tx, id)?.filter(|view| view.owner == call.actor.user);
    found.ok_or_else(|| View::missing(id.to_string()))
}

/// A person has no two views of one name on a page, and not too many.
fn name_is_free(tx: &mut Tx<'_>, view: &View) -> Result<()> {
    let all = paper::of::<View>(tx, &view.owner.to_string(), None, VIEWS_MAX)?;
    let others: Vec<&View> = all.iter().filter(|other| other.id != view.id).collect();
    let name = |view: &View| (view.wanted.page.clone(), view.wanted.name.to_lowercase());
    if others.iter().any(|other| name(other) == name(view)) {
        let why = format!("you have a view \"{}\" of this page already", view.wanted.name);
        return Err(Invalid::new(code::INVALID_FIELD, why)
            .with_hint("choose another name, or change that view")
            .into());
    }
    if others.len() >= VIEWS_MAX { Err(full("a person", VIEWS_MAX)) } else { Ok(()) }
}

fn full(who: &str, most: usize) -> Error {
    let why = format!("{who} may keep at most {most} views");
    Invalid::new(code::INVALID_FIELD, why).with_hint("forget one that nobody needs").into()
}

/// Tells that a view changed; what it looks at is nobody's business but its owner's.
fn tell(
    app: &App,
    call: &Call,
    tx: &mut Tx<'_>,
    (kind, view): (&'static str, &View),
) -> Result<()> {
    #[derive(Serialize)]
    struct Told<'a> {
        page: &'a str,
    }
    let told = Told { page: &view.wanted.page };
    let event = call.event(app, kind, &told, ("viewId", view.id));
    Ok(call.tell(app, tx, event)?)
}
