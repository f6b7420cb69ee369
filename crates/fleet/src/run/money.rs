//! What happens to a run whose agent may spend no more.

use godel_model::LifeMove;
use godel_proxy::NoMoney;
use godel_store::Tx;

use super::{End, Run};
use crate::doc::Agent;
use crate::slips::NoticeKind;
use crate::{Result, inbox};

impl Run {
    /// Lets the agent stand still until there is more in its budget; its work stays.
    pub(super) async fn out_of_money(&self, refused: NoMoney) -> Result<End> {
        let NoMoney { why, short } = refused;
        let (fleet, now) = (self.fleet.clone(), self.fleet.app().clock.now());
        let work = move |tx: &mut Tx<'_>, agent: &mut Agent| {
            let label = &agent.label;
            // People know names, and budgets ids.
            let project =
                tx.projects().by_id(agent.project)?.map(|project| project.name.to_string());
            let why = why.replace(&agent.id.to_string(), label);
            let why = why.replace(&agent.project.to_string(), project.as_deref().unwrap_or("it"));
            let text = format!(
                "{label} stands still because its budget is spent ({why}). Its work is kept, and it goes on when \
                 the budget is raised or begins anew; to have it try now: godel agent resume {label}"
            );
            agent.step(LifeMove::Pause, &format!("its budget is spent: {why}"), now)?;
            // It may have been raised since then: what counts is what was left when the request was refused.
            agent.broke = short;
            inbox::raise(&fleet, tx, agent, NoticeKind::Budget, (&text, &[])).map(drop)
        };
        self.change_in("agent:state", work).await?;
        Ok(End::Stopped)
    }
}
