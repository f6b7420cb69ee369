//! How little was left for whom.

use std::collections::HashMap;

use godel_fleet::Agent;
use godel_model::AgentId;

/// The least that was left for each agent since it was stopped.
#[derive(Debug, Default)]
pub(crate) struct Least {
    of: HashMap<AgentId, (u32, i64)>,
}

impl Least {
    /// Returns those for whom more is left than at some time since they were stopped.
    pub(crate) fn richer<'a>(&mut self, broke: &'a [(Agent, i64)]) -> Vec<&'a Agent> {
        let richer = |(agent, left): &&(Agent, i64)| {
            agent.broke.is_some_and(|at| self.has_more(agent.id, (agent.run, at.left), *left))
        };
        broke.iter().filter(richer).map(|(agent, _)| agent).collect()
    }

    /// Tells whether more is left for an agent than at some time since it was stopped in a run of it with so much
    /// left.
    fn has_more(&mut self, agent: AgentId, (run, at): (u32, i64), left: i64) -> bool {
        let known = self.of.entry(agent).or_insert((run, at));
        if known.0 != run {
            *known = (run, at);
        }
        known.1 = known.1.min(left);
        left > known.1
    }

    /// Forgets all but some.
    pub(crate) fn keep(&mut self, seen: &[AgentId]) {
        self.of.retain(|agent, _| seen.contains(agent));
    }
}

#[cfg(test)]
mod tests {
    use godel_model::Mint;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn who_was_stopped_goes_on_when_there_is_more_and_not_before() {
        let (mut least, id) = (Least::default(), Mint::system().id());
        assert!(!least.has_more(id, (1, 40), 40), "nothing was raised");
        assert!(!least.has_more(id, (1, 40), 10), "others spent more");
        assert!(!least.has_more(id, (1, 40), 10));
        assert!(least.has_more(id, (1, 40), 11), "it was raised, though not to what it was");
        assert!(!least.has_more(id, (2, 11), 11), "it was stopped again");
        assert!(least.has_more(id, (2, 11), i64::MAX), "nothing limits it any more");
        least.keep(&[]);
        assert!(least.of.is_empty());
    }

    proptest! {
        #[test]
        fn it_is_so_exactly_if_it_ever_grew(at in -50_i64..50, seen in prop::collection::vec(-50_i64..50, 1..20)) {
            let (mut least, id) = (Least::default(), Mint::system().id());
            for (place, left) in seen.iter().enumerate() {
                let before = seen[..place].iter().copied().chain([at]).min().unwrap();
                prop_assert_eq!(least.has_more(id, (1, at), *left), *left > before);
            }
        }
    }
}
