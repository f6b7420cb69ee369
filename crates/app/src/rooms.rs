//! How many may be at work at once in each project, and who waits for a place, in the order in which they came.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use godel_model::ProjectId;
use tokio::sync::oneshot;

/// The rooms of all projects on this server; cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct Rooms {
    rooms: Arc<Mutex<HashMap<ProjectId, Room>>>,
}

/// The room of one project.
#[derive(Debug, Default)]
struct Room {
    inside: u32,
    /// What the project allows.
    limit: Option<u32>,
    /// What else bounds it, as it was when somebody came last.
    bound: u32,
    waiting: VecDeque<oneshot::Sender<Spot>>,
}

impl Room {
    fn has_place(&self) -> bool {
        self.inside < self.limit.unwrap_or(u32::MAX).min(self.bound).max(1)
    }
}

/// A place in the room of a project, which somebody else gets when it is dropped.
#[derive(Debug)]
pub struct Spot {
    of: Option<(Rooms, ProjectId)>,
}

impl Drop for Spot {
    fn drop(&mut self) {
        if let Some((rooms, project)) = self.of.take() {
            rooms.leave(project);
            rooms.admit(project);
        }
    }
}

impl Rooms {
    fn rooms(&self) -> MutexGuard<'_, HashMap<ProjectId, Room>> {
        self.rooms.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for a place in a project that allows so many, where no more than `bound` can be.
    pub async fn enter(&self, project: ProjectId, limit: Option<u32>, bound: u32) -> Spot {
        let (tell, told) = oneshot::channel();
        {
            let mut rooms = self.rooms();
            let room = rooms.entry(project).or_default();
            (room.limit, room.bound) = (limit, bound);
            room.waiting.push_back(tell);
        }
        self.admit(project);
        // Nobody forgets who waits, so there is an answer.
        told.await.unwrap_or(Spot { of: None })
    }

    /// Takes over how many a project allows: who is in stays, and whoever waits comes in if there is a
    /// place now.
    pub fn allow(&self, project: ProjectId, limit: Option<u32>) {
        if let Some(room) = self.rooms().get_mut(&project) {
            room.limit = limit;
        }
        self.admit(project);
    }

    fn leave(&self, project: ProjectId) {
        let mut rooms = self.rooms();
        if let Some(room) = rooms.get_mut(&project) {
            room.inside = room.inside.saturating_sub(1);
            if room.inside == 0 && room.waiting.is_empty() {
                rooms.remove(&project);
            }
        }
    }

    /// Lets those in who are next, as far as there are places.
    fn admit(&self, project: ProjectId) {
        loop {
            let next = {
                let mut rooms = self.rooms();
                let Some(room) = rooms.get_mut(&project).filter(|room| room.has_place()) else {
                    return;
                };
                let Some(next) = room.waiting.pop_front() else { return };
                room.inside += 1;
                next
            };
            if let Err(mut place) = next.send(Spot { of: Some((self.clone(), project)) }) {
                // Whoever waited has gone; its place is for the next one.
                place.of = None;
                self.leave(project);
            }
        }
    }
}
