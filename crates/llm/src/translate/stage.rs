//! What happens to the events of a reply on their way: names and ids become the client's, wrapped
//! inputs are unwrapped, and what must be given back later is kept.

use std::sync::Arc;

use super::back::Back;
use super::input::unwrap_custom;
use super::ir::{Call, Event, Stop};
use super::keep::Keepsake;
use super::names::{Ids, Names};
use super::settle::Kept;
use super::stops::Stops;
use crate::{Dialect, Usage};

/// The way of one reply.
#[derive(Debug)]
pub(crate) struct Stage {
    names: Arc<Names>,
    stops: Stops,
    seed: String,
    client: Dialect,
    /// Whether the first call of a reply is kept even without thoughts, so that it is known that
    /// there were none.
    keep_first: bool,
    ids: Ids,
    calls: usize,
    open: Option<Open>,
    thoughts: Kept,
    /// Whether there was text since the last call.
    said: bool,
    begun: bool,
    end: Option<(Stop, Option<Usage>)>,
    keepsakes: Vec<Keepsake>,
}

/// The call that is being told; the input of a wrapped tool is held until it is whole.
#[derive(Debug)]
struct Open {
    held: Option<String>,
}

impl Stage {
    /// Begins a reply.
    pub(crate) fn new(back: &Back) -> Self {
        Self {
            names: Arc::clone(&back.names),
            stops: Stops::new(back.stop.clone()),
            seed: back.head.seed.clone(),
            client: back.from,
            keep_first: back.thinking,
            ids: Ids::new(back.from),
            calls: 0,
            open: None,
            thoughts: Kept::default(),
            said: false,
            begun: false,
            end: None,
            keepsakes: Vec::new(),
        }
    }

    /// Takes the next event of the upstream and hands over what the client is told.
    pub(crate) fn pass(&mut self, event: Event, each: &mut dyn FnMut(Event)) {
        let over = self.end.is_some() || self.stops.hit().is_some();
        if over && !(matches!(event, Event::End { .. }) && self.end.is_none()) {
            return;
        }
        if !matches!(event, Event::Input(_) | Event::Begin) {
            self.close_call(each);
        }
        if !matches!(event, Event::Text(_) | Event::Begin) {
            tell_text(self.stops.flush(), each);
        }
        match event {
            Event::Begin => {
                if !std::mem::replace(&mut self.begun, true) {
                    each(Event::Begin);
                }
            }
            Event::Text(text) => {
                self.said = true;
                tell_text(self.stops.pass(text), each);
            }
            Event::Refusal(_) => {
                self.said = true;
                each(event);
            }
            Event::Thought(_) => each(event),
            Event::ThoughtEnd(own) => {
                let list =
                    if self.said { &mut self.thoughts.late } else { &mut self.thoughts.early };
                list.extend(own);
                each(Event::ThoughtEnd(None));
            }
            Event::Call(call) => {
                let call = self.call(call);
                each(Event::Call(call));
            }
            Event::Input(more) => match &mut self.open {
                Some(Open { held: Some(held) }) => held.push_str(&more),
                Some(_) => each(Event::Input(more)),
                None => {}
            },
            Event::CallEnd => {}
            Event::End { stop, usage } => {
                let stop = self.reason(stop);
                self.end = Some((stop.clone(), usage));
                each(Event::End { stop, usage });
            }
        }
    }

    /// Clients rely on it that the reason to stop fits what was said.
    fn reason(&self, stop: Stop) -> Stop {
        match (stop, self.stops.hit()) {
            (_, Some(sequence)) => Stop::Sequence(Some(sequence.clone())),
            (Stop::Calls, None) if self.calls == 0 => Stop::End,
            (Stop::End, None) if self.calls > 0 => Stop::Calls,
            (stop, None) => stop,
        }
    }

    /// Returns how the reply ended, if it did.
    pub(crate) const fn end(&self) -> Option<&(Stop, Option<Usage>)> {
        self.end.as_ref()
    }

    /// Takes what is to be kept.
    pub(crate) fn keepsakes(&mut self) -> Vec<Keepsake> {
        std::mem::take(&mut self.keepsakes)
    }

    fn call(&mut self, mut call: Call) -> Call {
        let upstream_is_custom = call.tool.custom;
        let tool = self.names.client(&call.tool.name);
        let wrapped = tool.custom && !upstream_is_custom;
        self.open = Some(Open { held: wrapped.then(String::new) });
        call.tool = tool;
        if call.id.is_empty() {
            let prefix = if self.client == Dialect::Anthropic { "toolu" } else { "call" };
            call.id = format!("{prefix}_{}_{}", self.seed, self.calls);
        }
        call.id = self.ids.call(&call.id);
        let first = self.calls == 0;
        self.calls += 1;
        self.said = false;
        let mut kept = std::mem::take(&mut self.thoughts);
        kept.call = call.own.take();
        if !kept.is_empty() || (first && self.keep_first) {
            let state = kept.to_text().into();
            self.keepsakes.push(Keepsake { call: call.id.clone(), state });
        }
        call
    }

    fn close_call(&mut self, each: &mut dyn FnMut(Event)) {
        let Some(open) = self.open.take() else { return };
        if let Some(held) = open.held {
            each(Event::Input(unwrap_custom(&held)));
        }
        each(Event::CallEnd);
    }
}

fn tell_text(text: String, each: &mut dyn FnMut(Event)) {
    if !text.is_empty() {
        each(Event::Text(text));
    }
}
