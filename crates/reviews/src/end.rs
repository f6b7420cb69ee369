//! What comes of a review: a commit, a patch, a landing, or another round.

use godel_app::{Call, beads};
use godel_fleet::landing::{self, Entry, Stage};
use godel_fleet::spawn::{self, NewAgent};
use godel_fleet::{Agent, March, MarchState, mail, march, paper};
use godel_git::{Applied, Apply, Author, Message, Name, PEOPLE, Takeover, Undecided};
use godel_model::{BeadStatus, ProjectId, Reach};
use serde_json::json;
use tracing::instrument;

use crate::desk::{Desk, refused};
use crate::doc::{Approval, Review};
use crate::message;
use crate::unapply::title;
use crate::{Result, Reviews};

/// How many agents of a bead are looked at.
const AGENTS_MAX: usize = 100;

/// A person's word that work may land.
#[derive(Debug, Clone, Default)]
pub struct Approve {
    /// Why, in a sentence.
    pub note: Option<String>,
    /// Whether it lands at once.
    pub land: bool,
    /// The commit that was looked at, if that matters.
    pub commit: Option<String>,
}

/// What came of an approval.
#[derive(Debug, Clone)]
pub struct Approved {
    /// The approval.
    pub approval: Approval,
    /// How it landed, if it was to.
    pub landing: Option<Entry>,
}

/// A person's wish for another round.
#[derive(Debug, Clone, Default)]
pub struct RequestChanges {
    /// What to say besides the comments.
    pub text: Option<String>,
    /// Whether an agent begins at once.
    pub begin: bool,
}

/// What came of it.
#[derive(Debug, Clone)]
pub struct Requested {
    /// What the agent is told.
    pub message: String,
    /// The round that begins.
    pub round: u32,
    /// The agent that began, if one did.
    pub agent: Option<String>,
}

/// What came of applying decisions.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The new commit of the branch; none if all was accepted as it is.
    pub commit: Option<String>,
    /// The id of the accepted files.
    pub tree: String,
    /// The files in which it conflicts with the target.
    pub conflicts: Vec<String>,
}

/// Says that the work may land as it is now, and lets it land.
///
/// # Errors
/// If the caller may not, or something is in the way; says what.
#[instrument(level = "debug", name = "reviews.approve", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn approve(
    reviews: &Reviews,
    call: &Call,
    which: (Option<ProjectId>, &str),
    wanted: Approve,
) -> Result<Approved> {
    call.may("review", "update", Reach::Own)?;
    let desk = Desk::open(reviews, call, which).await?;
    desk.refuse_if_moved(wanted.commit.as_deref())?;
    let changes = desk.changes().await?;
    let blocked = desk.blocked(Some(&changes));
    if !blocked.is_empty() {
        let why = format!("{} cannot be approved: {}", desk.bead.id, blocked.join("; "));
        let hint = format!("`godel review show {}` tells how it stands", desk.bead.id);
        return Err(refused(why, hint));
    }
    let approval = Approval {
        commit: changes.head.clone(),
        by: call.actor.name.clone(),
        at: reviews.fleet.app().clock.now(),
        note: wanted.note,
    };
    let told = json!({ "bead": desk.bead.id, "commit": approval.commit, "by": approval.by });
    let (kept, seen) = (approval.clone(), desk.review.clone());
    let work = move |review: &mut Review| {
        if review.decisions != seen.decisions || review.rounds != seen.rounds {
            let hint = "look at it again, and then say it again";
            return Err(refused("somebody else decided in this moment".to_owned(), hint));
        }
        review.approval = Some(kept.clone());
        Ok(())
    };
    desk.note("review:approved", told, work).await?;
    let landing = match wanted.land {
        true => {
            let which = (Some(desk.project), desk.bead.id.as_str());
            let seen = (Some(approval.commit.clone()), landing::WAIT_MAX);
            Some(landing::land(&reviews.fleet, call, which, seen).await?)
        }
        false => None,
    };
    Ok(Approved { approval, landing })
}

/// Sends all that was said and rejected to the agent as one message; the bead is open again.
///
/// Repeated after a failure, it says the same once.
///
/// # Errors
/// If the caller may not, or there is nothing to say.
#[instrument(level = "debug", name = "reviews.request_changes", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn request_changes(
    reviews: &Reviews,
    call: &Call,
    which: (Option<ProjectId>, &str),
    wanted: RequestChanges,
) -> Result<Requested> {
    call.may("review", "update", Reach::Own)?;
    let desk = Desk::open(reviews, call, which).await?;
    let bead = &desk.bead;
    if matches!(bead.status, BeadStatus::Done) {
        let why = format!("bead {} is done", bead.id);
        return Err(refused(why, format!("open it again: godel bead reopen {}", bead.id)));
    }
    let changes = desk.changes().await?;
    let said = message::write(&desk.review, &changes, wanted.text.as_deref());
    let said = said.ok_or_else(|| {
        let hint = "comment on a line, reject a hunk, or say what you want in a sentence";
        refused("there is nothing to ask the agent for".to_owned(), hint)
    })?;
    // The bead carries the message to whoever goes on; only then it counts as said.
    let last = bead.comments.last().and_then(|one| one.get("text")?.as_str());
    if last != Some(said.text.as_str()) {
        let project = Some(desk.project);
        beads::comment(reviews.fleet.app(), call, project, &bead.id, said.text.clone()).await?;
    }
    // What is on its way into the branch stops first; what is being moved right now is refused.
    let entry = landing::find(&reviews.fleet, call.actor.tenant, (desk.project, &bead.id)).await?;
    let open = |stage: Stage| !stage.is_over() && stage != Stage::Pushing;
    if entry.is_some_and(|entry| open(entry.stage)) {
        landing::take_out(&reviews.fleet, call, (Some(desk.project), &bead.id)).await?;
    }
    if bead.status == BeadStatus::Review {
        let why = "a person asks for changes";
        landing::send_back(&reviews.fleet, call, (desk.project, &bead.id), why).await?;
    }
    let round = desk.review.rounds + 1;
    let told = json!({ "bead": bead.id, "round": round, "commit": changes.head });
    let message::Message { text: said, told: heard } = said;
    let work = move |review: &mut Review| {
        review.rounds = review.rounds.max(round);
        review.approval = None;
        let waiting = review.comments.iter_mut().filter(|one| one.sent.is_none());
        // What somebody said in the meantime waits for the next message.
        for comment in waiting.filter(|one| heard.contains(&one.id)) {
            comment.sent = Some(round);
        }
        Ok(())
    };
    desk.note("review:changes-requested", told, work).await?;
    // The bead carries the message; who hears it at once is a matter of luck.
    let agent = match wanted.begin {
        true => desk.begin(&said).await.unwrap_or_else(|error| {
            tracing::info!(bead = %bead.id, %error, "nobody goes on with what was asked for yet");
            None
        }),
        false => None,
    };
    reviews.fleet.has_moved();
    Ok(Requested { message: said, round, agent })
}

/// Commits what was accepted on the branch of the bead, as the person who decided.
///
/// # Errors
/// If the caller may not, something is not decided yet, or a person's changes are in the way.
#[instrument(level = "debug", name = "reviews.apply", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn apply(
    reviews: &Reviews,
    call: &Call,
    which: (Option<ProjectId>, &str),
    (undecided, commit): (Option<Undecided>, Option<String>),
) -> Result<Outcome> {
    call.may("review", "update", Reach::Own)?;
    let desk = Desk::open(reviews, call, which).await?;
    desk.refuse_if_moved(commit.as_deref())?;
    let changes = desk.changes().await?;
    let decisions = desk.review.decided();
    let open = changes.open(&decisions);
    let undecided = match undecided {
        Some(undecided) => undecided,
        None if open == 0 => Undecided::LeaveOut,
        None => {
            return Err(refused(
                format!("{open} parts of {} are not decided", desk.bead.id),
                "decide them, or say --undecided keep or --undecided leave-out",
            ));
        }
    };
    let (name, target) = (desk.bead.id.parse::<Name>()?, desk.target.clone());
    let message = desk.commit_message(name.clone());
    let applied = desk.at_bench(move |reviewing| {
        let branch = name.branch();
        let apply = Apply {
            branch: &branch,
            target: &target,
            decisions: &decisions,
            undecided,
            message: &message,
        };
        reviewing.apply(&changes, &apply)
    });
    let outcome = match applied.await? {
        Applied::Unchanged { tree } => Outcome { commit: None, tree, conflicts: Vec::new() },
        Applied::Done { commit, tree, conflicts } => {
            Outcome { commit: Some(commit), tree, conflicts }
        }
        Applied::Moved { now } => {
            let why = format!("the branch of {} has moved to {now} meanwhile", desk.bead.id);
            return Err(refused(why, "look at the change again, and repeat"));
        }
        Applied::Blocked { why } => return Err(refused(why, "then apply again")),
    };
    if let Some(commit) = outcome.commit.clone() {
        let told = json!({ "bead": desk.bead.id, "applied": commit, "by": call.actor.name });
        desk.note("review:decided", told, |_| Ok(())).await?;
    }
    Ok(outcome)
}

/// Writes what was accepted as a patch on the commit where the work began.
///
/// # Errors
/// If the caller may not, or there is no work.
#[instrument(level = "debug", name = "reviews.patch", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn patch(
    reviews: &Reviews,
    call: &Call,
    which: (Option<ProjectId>, &str),
    undecided: Undecided,
) -> Result<Vec<u8>> {
    call.may("review", "read", Reach::Team)?;
    let desk = Desk::open(reviews, call, which).await?;
    let (changes, decisions) = (desk.changes().await?, desk.review.decided());
    let write = move |reviewing: godel_git::Reviewing<'_>| {
        let tree = reviewing.build(&changes, &decisions, undecided)?;
        reviewing.export(&changes.base, &tree)
    };
    desk.at_bench(write).await
}

impl Desk<'_> {
    fn commit_message(&self, bead: Name) -> Message {
        let title = title(bead.as_str());
        self.message(bead, title, "")
    }

    /// What a commit says that takes back what was applied.
    pub(crate) fn message_of_return(&self, bead: Name, done: &Takeover) -> Message {
        let title = format!("Undo what was taken over of {bead}");
        self.message(bead, title, &format!("This reverts commit {}.\n\n", done.commit))
    }

    fn message(&self, bead: Name, title: String, said: &str) -> Message {
        let name = &self.call.actor.name;
        let name = name.strip_prefix("user:").unwrap_or(name);
        let good = |c: &char| c.is_alphanumeric() || " ._-".contains(*c);
        let mut name: String = name.chars().filter(good).take(100).collect();
        if !name.chars().any(char::is_alphanumeric) {
            "a person".clone_into(&mut name);
        }
        let email = format!("{}{PEOPLE}", name.replace(' ', "."));
        Message {
            title,
            body: format!("{said}Reviewed by {name}.\n\nBead: {bead}"),
            author: Author { name, email },
            bead,
        }
    }

    /// Lets an agent like the last one go on, unless a convoy will; one that is still there is told.
    async fn begin(&self, said: &str) -> Result<Option<String>> {
        let owner = Agent::owner_of(self.project, &self.bead.id);
        let (tenant, project) = (self.call.actor.tenant, self.project);
        let found = paper::look(self.fleet.app(), tenant, move |tx| {
            let agents = paper::of::<Agent>(tx, &owner, None, AGENTS_MAX)?;
            let Some(last) = agents.into_iter().find(Agent::did_the_work) else {
                return Ok(None);
            };
            let marches = match &last.convoy {
                Some(convoy) => paper::of::<March>(tx, &Agent::owner_of(project, convoy), None, 1)?,
                None => Vec::new(),
            };
            let marching = marches.iter().any(|march| march.state == MarchState::Running);
            Ok(Some((last, marching)))
        });
        let Some((last, marching)) = found.await? else { return Ok(None) };
        if !last.life.is_over() {
            mail::send(self.fleet, self.call, &last.label, said.to_owned()).await?;
            return Ok(Some(last.label));
        }
        if marching {
            return Ok(None);
        }
        let app = self.fleet.app();
        let bead = beads::get(app, self.call, Some(project), &self.bead.id).await?.value.0;
        let new = NewAgent {
            task: march::said_about(&bead),
            bead: Some(bead.id),
            project: Some(project),
            role: Some(last.role.clone()),
            sandbox: Some(last.sandbox.as_str().to_owned()),
            convoy: last.convoy.clone(),
            ..NewAgent::like(&last)
        };
        Ok(Some(spawn::spawn(self.fleet, self.call, new).await?.label))
    }
}
