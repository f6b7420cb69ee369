//! Incidents: one open incident of each owner, whatever the clocks of the servers that raise them say.

use godel_model::{Clock as _, Incident, Trouble};
use godel_store::{Error, INCIDENT, Scope};
use godel_testkit::worlds;
use uuid::Uuid;

#[tokio::test]
async fn an_incident_is_closed_by_its_owner_though_an_earlier_one_has_a_later_id() {
    for world in worlds().await {
        let (now, tenant) = (world.clock.now(), world.tenant);
        let incident = |id: u128| Incident {
            id: Uuid::from_u128(id),
            raised_at: now,
            answer: None,
            trouble: Trouble::DeadLetters { pool: "ci".parse().unwrap() },
        };
        let (fast, slow) = (incident(9), incident(4));
        let owner = slow.trouble.owner();
        let states = world
            .store
            .write(Scope::Tenant(tenant), move |tx| {
                assert!(tx.incidents().raise(tenant, &fast)?);
                assert!(tx.incidents().raise(tenant, &slow)?, "its clock is behind");
                assert!(tx.incidents().close(&owner, Some("few again"))?);
                assert!(!tx.incidents().close(&owner, None)?, "nothing is open any more");
                assert!(!tx.incidents().put_aside(slow.id)?);
                let mut left = Vec::new();
                for id in [fast.id, slow.id] {
                    let paper = tx.papers(INCIDENT).by_id(id)?.unwrap();
                    let said: Incident = serde_json::from_str(&paper.doc).unwrap();
                    left.push((paper.state, said.answer));
                }
                Ok(left)
            })
            .await
            .map_err(|error: Error| error)
            .unwrap();
        let closed = |answer: Option<&str>| ("closed".to_owned(), answer.map(ToOwned::to_owned));
        assert_eq!(states.value, [closed(None), closed(Some("few again"))], "{}", world.engine);
    }
}
