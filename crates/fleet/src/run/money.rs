//! What happens to a run whose agent may spend no more.

use godel_model::LifeMove;
use godel_store::Tx;

use super::{End, Run};
use crate::doc::Agent;
use crate::slips::NoticeKind;
use crate::{Result, inbox};

impl Run {
    /// Lets the agent stand still until there is more in its budget; its work stays.
    pub(super) async fn out_of_money(&self, why: &str) -> Result<End> {
        let (fleet, why, now) = (self.fleet.clone(), why.to_owned(), self.fleet.app().clock.now());
        let work = move |tx: &mut Tx<'_>, agent: &mut Agent| {
            let (tenant, label) = (tx.tenant()?, &agent.label);
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
            let left = agent.purpose(tenant).left(&tx.budgets().list(tenant)?, now);
            // One that is gone already leaves as much as there can be; who has none of ours waits for a person.
            agent.broke = left;
            inbox::raise(&fleet, tx, agent, NoticeKind::Budget, (&text, &[])).map(drop)
        };
        self.change_in("agent:state", work).await?;
        Ok(End::Stopped)
    }
}
