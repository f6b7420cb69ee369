//! What a run is told while it converses: mail, answers, snapshots, and that it is to stop.

use std::time::Duration;

use godel_agents::Answer;
use godel_decide::agent::Seen;
use godel_model::{Life, LifeMove};
use tokio::sync::oneshot;
use tokio::time::Instant;
use uuid::Uuid;

use super::converse::{Course, Stopping, Talked, stop};
use super::session::Session;
use super::{Order, Run};
use crate::check::Missing;
use crate::slips::Notice;
use crate::{Result, inbox};

/// How often it is looked whether another server heard an answer.
const ANSWERS_EVERY: Duration = Duration::from_secs(1);

impl Run {
    /// Does what the run is told.
    pub(super) async fn hear_order(
        &mut self,
        course: &mut Course<'_>,
        session: &mut Session,
        order: Order,
    ) -> Result<Option<Talked>> {
        match order {
            Order::Stop => stop(course, session, Stopping::Asked).await,
            Order::Todos(todos) => self.note_todos(todos).await?,
            Order::Snapshot(_) if !course.place.ready.initialized() => course.for_place.push(order),
            Order::Snapshot(reply) => {
                // Who asked may have gone away.
                drop(reply.send(self.snapshot(course.place, session, course.talk).await));
            }
            Order::Asked(notice) => self.hear_asked(course, notice).await?,
            Order::Done(summary, reply) => return self.hear_done(course, summary, reply).await,
            Order::Answered(notice) => self.hear_answer(course, session, notice).await?,
            // Whoever is stopped is told when it goes on.
            Order::Mail if course.stopping.is_some() => {}
            Order::Mail => {
                // An agent that takes nothing in the middle of a turn is told at its end.
                if let Some(told) = self.letters(course, session).await?
                    && session.prompt(told.words()).await.is_ok()
                {
                    course.told.push(told);
                }
            }
        }
        Ok(None)
    }

    /// Lets the agent wait: it has asked a person by a tool that waits for the answer by itself.
    async fn hear_asked(&self, course: &mut Course<'_>, notice: Uuid) -> Result<()> {
        let question = notice.to_string();
        course.watch.saw(&Seen::Asked { question: &question }, self.fleet.app().clock.now());
        course.asked.push((None, notice));
        if self.agent().await?.life == Life::Executing {
            self.step(LifeMove::AwaitInput, "asks a person").await?;
        }
        Ok(())
    }

    /// Looks now and then whether another server heard the answer to a question.
    pub(super) async fn look_for_answers(
        &self,
        course: &mut Course<'_>,
        session: &mut Session,
    ) -> Result<()> {
        if course.asked.is_empty() || course.answers_at.elapsed() < ANSWERS_EVERY {
            return Ok(());
        }
        course.answers_at = Instant::now();
        for (_, id) in course.asked.clone() {
            let notice = inbox::get(&self.fleet, self.tenant, id).await?;
            if !notice.open {
                self.hear_answer(course, session, notice).await?;
            }
        }
        Ok(())
    }

    /// Tells an agent that waits in its own tool what is missing.
    async fn hear_done(
        &mut self,
        course: &mut Course<'_>,
        summary: String,
        reply: oneshot::Sender<Missing>,
    ) -> Result<Option<Talked>> {
        let agent = self.agent().await?;
        let missing = match self.verify(course, (&agent, &summary)).await? {
            Ok(missing) => missing,
            Err(ended) => return Ok(Some(ended)),
        };
        if missing.is_empty() {
            // It counts at the end of the turn, when nothing can change any more.
            course.done = Some(summary);
        }
        // An agent that was stopped meanwhile hears nothing.
        drop(reply.send(missing));
        Ok(None)
    }

    async fn hear_answer(
        &self,
        course: &mut Course<'_>,
        session: &mut Session,
        notice: Notice,
    ) -> Result<()> {
        let agent = self.agent().await?;
        let more = course.asked.iter().any(|(_, id)| *id != notice.id);
        if agent.life == Life::Waiting && !more {
            self.step(LifeMove::InputReceived, "goes on with an answer").await?;
        }
        let own = course.asked.iter().position(|(_, id)| *id == notice.id);
        let Some((question, id)) = own.map(|at| course.asked.remove(at)) else { return Ok(()) };
        let named = question.clone().unwrap_or_else(|| id.to_string());
        course.watch.saw(&Seen::Answered { question: &named }, self.fleet.app().clock.now());
        if let Some(question) = question {
            let answer = notice.answer.map_or(Answer::Declined, Answer::Text);
            session.answer(&question, answer).await?;
        }
        Ok(())
    }
}
