//! Handing out: who waits gets what it can do, the most urgent first.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use godel_decide::{Asker, Offer, place};
use godel_model::{Lane, Mood, Placement, PoolName, WorkerId, micros};
use godel_store::{Head, Ready, Result, Spot};
use jiff::SignedDuration;

use super::super::sessions;
use super::super::tell::{Author, More};
use super::{Ask, Batch, Given, Work};

/// How long the task of a session is left to its worker if that may wait at another server.
const LEFT: SignedDuration = SignedDuration::from_millis(500);

impl Work<'_, '_> {
    /// Gives those who wait what they can do, pool by pool.
    pub(super) fn hand_out(&mut self, batch: &Batch) -> Result<()> {
        self.turn.given = batch.asks.iter().map(|_| Vec::new()).collect();
        let pools: BTreeSet<&PoolName> = batch.asks.iter().map(|ask| &ask.pool).collect();
        for pool in pools {
            self.hand_out_pool(pool, batch)?;
        }
        if self.fresh.is_empty() {
            return Ok(());
        }
        let left: Vec<&Spot> = self.fresh.iter().map(|head| &head.spot).collect();
        self.tx.tasks().line_up(&left, self.outside.now)
    }

    fn hand_out_pool(&mut self, pool: &PoolName, batch: &Batch) -> Result<()> {
        let (settings, lanes) = self.tx.tasks().pool(pool)?;
        if settings.paused || lanes.is_empty() {
            return Ok(());
        }
        let waiting: Vec<(usize, &Ask)> = (0..)
            .zip(batch.asks.iter().map(Arc::as_ref))
            .filter(|(_, ask)| ask.pool == *pool)
            .collect();
        let mut askers: Vec<Asker> = waiting.iter().map(|(_, ask)| asker(ask, &lanes)).collect();
        let open: Vec<&Lane> = lanes
            .iter()
            .enumerate()
            .filter(|(number, _)| askers.iter().any(|one| one.open.get(*number) == Some(&true)))
            .map(|(_, lane)| lane)
            .collect();
        let free: u32 = askers.iter().map(|asker| asker.free).sum();
        let mut heads = self.tx.tasks().heads(&open, free as usize)?;
        let in_line = heads.len();
        heads.extend(self.fresh.extract_if(.., |head| open.contains(&&head.spot.lane)));
        if heads.is_empty() {
            return Ok(());
        }
        let sessions = match settings.placement {
            Placement::Affinity => self.sessions(batch)?,
            Placement::LeastLoaded | Placement::RoundRobin => Arc::default(),
        };
        let here: Vec<WorkerId> = waiting.iter().map(|(_, ask)| ask.worker).collect();
        let mut heads = self.leave_to_others(heads, &sessions, &here)?;
        if in_line < heads.len() {
            heads.sort_by_key(|head| (head.spot.priority, head.at, head.spot.task));
        }
        let offers: Vec<Offer<'_>> = heads
            .iter()
            .map(|head| Offer {
                lane: lanes.iter().position(|lane| *lane == head.spot.lane).unwrap_or(usize::MAX),
                session: head.asked.session.as_deref(),
            })
            .collect();
        let last_of = |session: &str| {
            let worker = sessions.get(session)?;
            here.iter().position(|one| one == worker)
        };
        let placed = place(&offers, &mut askers, settings.placement, last_of);
        let mut heads: Vec<Option<Head>> = heads.into_iter().map(Some).collect();
        let (mut given, mut to) = (Vec::with_capacity(placed.len()), Vec::new());
        for (number, asker) in placed {
            let head = heads.get_mut(number).and_then(Option::take);
            if let (Some(head), Some((place, ask))) = (head, waiting.get(asker)) {
                given.push((head, ask.worker));
                to.push(*place);
            }
        }
        let left = heads.into_iter().flatten().filter(|head| head.from == Ready::InHand);
        self.fresh.extend(left);
        if settings.placement == Placement::Affinity {
            self.tell_sessions(&given, &sessions)?;
        }
        self.give(given, &to)
    }

    /// Leaves tasks of sessions alone for a moment whose worker may wait at another server, which hears
    /// of them meanwhile; returns the others.
    fn leave_to_others(
        &mut self,
        heads: Vec<Head>,
        sessions: &HashMap<String, WorkerId>,
        here: &[WorkerId],
    ) -> Result<Vec<Head>> {
        if sessions.is_empty() || !self.tx.is_shared() {
            return Ok(heads);
        }
        let mut kept = Vec::with_capacity(heads.len());
        let mut could: HashMap<WorkerId, bool> = HashMap::new();
        for head in heads {
            let last = head.asked.session.as_ref().and_then(|session| sessions.get(session));
            let elsewhere = last.filter(|worker| !here.contains(worker));
            let is_new = self.outside.now.duration_since(head.at) < LEFT;
            let Some(worker) = elsewhere.filter(|_| is_new) else {
                kept.push(head);
                continue;
            };
            let could = match could.get(worker) {
                Some(could) => *could,
                None => *could.entry(*worker).or_insert(self.could_take_more(*worker)?),
            };
            if !could {
                kept.push(head);
            } else if head.from == Ready::InHand {
                self.fresh.push(head);
            }
        }
        Ok(kept)
    }

    /// Tells whether a worker is there and has not as much as it can have.
    fn could_take_more(&mut self, worker: WorkerId) -> Result<bool> {
        let Some(found) = self.tx.workers().by_id(worker)? else { return Ok(false) };
        let lives = found.expires_at > self.outside.now && found.mood == Mood::Active;
        Ok(lives && self.tx.tasks().held_by(worker)?.len() < found.capacity as usize)
    }

    /// Returns who had the last task of each session; after a start it is in the log.
    fn sessions(&mut self, batch: &Batch) -> Result<Arc<HashMap<String, WorkerId>>> {
        if let Some(known) = batch.sessions.as_ref().or(self.turn.recalled.as_ref()) {
            return Ok(Arc::clone(known));
        }
        let recalled = Arc::new(sessions::recall(self.tx)?);
        self.turn.recalled = Some(Arc::clone(&recalled));
        Ok(recalled)
    }

    /// Tells of sessions that go to another worker than before.
    fn tell_sessions(
        &mut self,
        given: &[(Head, WorkerId)],
        known: &HashMap<String, WorkerId>,
    ) -> Result<()> {
        let author = Author::default();
        let teller = self.teller(&author);
        for (head, worker) in given {
            let Some(session) = head.asked.session.as_deref() else { continue };
            if known.get(session) != Some(worker) {
                sessions::tell(self.tx, teller, (session, *worker))?;
            }
        }
        Ok(())
    }

    fn give(&mut self, given: Vec<(Head, WorkerId)>, to: &[usize]) -> Result<()> {
        let leases = self.tx.tasks().hand_out(&given, self.outside.now)?;
        let author = Author::default();
        let teller = self.teller(&author);
        let mut leases = leases.into_iter().peekable();
        for ((head, worker), place) in given.into_iter().zip(to) {
            // Leases come in the order of the heads; one is missing if its worker is gone or has enough.
            let Some(lease) = leases.next_if(|lease| lease.spot.task == head.spot.task) else {
                self.turn.gone.push(worker);
                self.fresh.extend(Some(head).filter(|head| head.from == Ready::InHand));
                continue;
            };
            let waited = micros(lease.started_at) - micros(head.at);
            let (worker, waited_us) = (Some(lease.worker), Some(waited.max(0)));
            let more = More { worker, waited_us, ..More::default() };
            teller.tell(self.tx, "task:started", &lease.spot, &more)?;
            if let Some(slot) = self.turn.given.get_mut(*place) {
                slot.push(Given { lease, asked: head.asked, created_at: head.created_at });
            }
        }
        Ok(())
    }
}

fn asker(ask: &Ask, lanes: &[Lane]) -> Asker {
    let own = Lane::of_worker(&ask.pool, ask.worker);
    let is_open = |lane: &Lane| lane.is_open_to(&ask.able) && !lane.bars(ask.worker);
    let open = lanes.iter().map(|lane| *lane == own || is_open(lane)).collect();
    Asker { open, free: ask.free, capacity: ask.capacity }
}
