//! Who should work on a plan: how many, in which roles, in which manner, with which models.

use serde::{Deserialize, Serialize};

use crate::complexity::{Category, Complexity};
use crate::plan::{Plan, Size};

/// How the work of a team is arranged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// All at the same time.
    Parallel,
    /// One after the other.
    Pipeline,
    /// Many at the same time, and one that brings it together.
    MapReduce,
    /// Branches that split and join.
    Tree,
}

impl Strategy {
    /// Returns the word for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Parallel => "parallel",
            Self::Pipeline => "pipeline",
            Self::MapReduce => "map-reduce",
            Self::Tree => "tree",
        }
    }
}

/// A model that can be used, and what it costs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelFact {
    /// Its name.
    pub name: String,
    /// What a million tokens cost, written and read, in micro-dollars; the dearer is taken for the stronger.
    pub price: u64,
}

/// What the caller allows and wants.
#[derive(Debug, Clone, Copy, Default)]
pub struct Bounds<'a> {
    /// The roles that there are.
    pub roles: &'a [String],
    /// The models that may be used.
    pub models: &'a [ModelFact],
    /// The model that was asked for.
    pub model: Option<&'a str>,
    /// How many agents were asked for.
    pub wanted: Option<u32>,
    /// How many agents there may be at most.
    pub most: u32,
}

/// Some members of a team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Member {
    /// Their role.
    pub role: String,
    /// How many.
    pub count: u32,
    /// Their model; none is that of the project.
    pub model: Option<String>,
    /// What they do.
    pub does: String,
}

/// A team.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Team {
    /// How many agents work at the same time.
    pub size: u32,
    /// Its members.
    pub members: Vec<Member>,
    /// How its work is arranged.
    pub strategy: Strategy,
    /// Why it is so.
    pub reason: String,
}

/// Shapes a team for a plan.
pub fn team(plan: &Plan, complexity: &Complexity, bounds: &Bounds<'_>) -> Team {
    let waves = plan.waves();
    let widest = waves.iter().map(Vec::len).max().unwrap_or(1).max(1);
    let useful = u32::try_from(widest).unwrap_or(u32::MAX);
    let most = bounds.most.max(1);
    let size = bounds.wanted.unwrap_or(useful).clamp(1, most).min(useful.max(1));
    let strategy = strategy(plan, &waves);
    let mut members = Vec::new();
    let model = |hard: bool| model(bounds, hard);
    let hard = complexity.category >= Category::Complex;
    let known = |role: &str| bounds.roles.iter().any(|known| known == role);
    let planned: Vec<&str> = plan.beads.iter().map(|bead| bead.role.as_str()).collect();
    if complexity.category == Category::VeryComplex && plan.beads.len() > 6 && known("coordinator")
    {
        members.push(Member {
            role: "coordinator".to_owned(),
            count: 1,
            model: model(true),
            does: "keeps the plan together".to_owned(),
        });
    }
    let mut roles: Vec<&str> = planned.clone();
    roles.sort_unstable();
    roles.dedup();
    for role in roles {
        let wave = |wave: &Vec<String>| {
            wave.iter().filter(|key| plan.bead(key).is_some_and(|bead| bead.role == role)).count()
        };
        let count =
            u32::try_from(waves.iter().map(wave).max().unwrap_or(1)).unwrap_or(1).clamp(1, size);
        let large = plan.beads.iter().any(|bead| bead.role == role && bead.size == Size::Large);
        let does = format!("{} bead(s)", planned.iter().filter(|one| **one == role).count());
        members.push(Member {
            role: role.to_owned(),
            count,
            model: model(hard || large || role == "reviewer"),
            does,
        });
    }
    if complexity.category >= Category::Moderate
        && !planned.contains(&"reviewer")
        && known("reviewer")
    {
        members.push(Member {
            role: "reviewer".to_owned(),
            count: 1,
            model: model(true),
            does: "reads what is finished".to_owned(),
        });
    }
    if size > 1 && known("refinery") {
        members.push(Member {
            role: "refinery".to_owned(),
            count: 1,
            model: model(false),
            does: "solves conflicts when work lands".to_owned(),
        });
    }
    let reason = reason(plan, &waves, (size, most), bounds.wanted);
    Team { size, members, strategy, reason }
}

fn reason(
    plan: &Plan,
    waves: &[Vec<String>],
    (size, most): (u32, u32),
    wanted: Option<u32>,
) -> String {
    let widest = waves.iter().map(Vec::len).max().unwrap_or(1);
    let (beads, count) = (plan.beads.len(), waves.len());
    let reason = format!("{beads} bead(s) in {count} wave(s), at most {widest} at the same time");
    match wanted {
        Some(wanted) if wanted > size && size < most => {
            format!("{reason}; more than {size} would have nothing to do")
        }
        Some(wanted) if wanted > size => format!("{reason}; at most {most} agents are allowed"),
        _ => reason,
    }
}

fn strategy(plan: &Plan, waves: &[Vec<String>]) -> Strategy {
    let widths: Vec<usize> = waves.iter().map(Vec::len).collect();
    let joins = |at: usize| {
        let wide = waves.get(at).map(Vec::as_slice).unwrap_or_default();
        let one = waves.get(at + 1).map(Vec::as_slice).unwrap_or_default();
        match one {
            [key] => {
                wide.len() > 1
                    && plan
                        .bead(key)
                        .is_some_and(|bead| wide.iter().all(|part| bead.needs.contains(part)))
            }
            _ => false,
        }
    };
    let wide = widths.iter().filter(|width| **width > 1).count();
    match wide {
        0 => Strategy::Pipeline,
        _ if widths.len() == 1 => Strategy::Parallel,
        1 if (0..widths.len()).any(joins) => Strategy::MapReduce,
        _ => Strategy::Tree,
    }
}

/// Chooses a model: the one that was asked for, else a cheap one for simple work and the strongest for hard.
fn model(bounds: &Bounds<'_>, hard: bool) -> Option<String> {
    if let Some(asked) = bounds.model {
        return Some(asked.to_owned());
    }
    let mut models: Vec<&ModelFact> = bounds.models.iter().collect();
    models.sort_by(|a, b| a.price.cmp(&b.price).then_with(|| a.name.cmp(&b.name)));
    let chosen = if hard { models.last() } else { models.first() };
    chosen.map(|model| model.name.clone())
}

#[cfg(test)]
mod tests {
    use godel_model::{BeadKind, Priority, Survey};

    use super::*;
    use crate::complexity::complexity;
    use crate::plan::PlannedBead;

    fn plan(needs: &[&[&str]]) -> Plan {
        let bead = |(at, needs): (usize, &&[&str])| PlannedBead {
            key: format!("b{}", at + 1),
            title: format!("Do {at}"),
            description: String::new(),
            kind: BeadKind::Task,
            priority: Priority::Medium,
            needs: needs.iter().map(|need| (*need).to_owned()).collect(),
            role: "worker".to_owned(),
            size: Size::Medium,
            files: Vec::new(),
        };
        Plan { title: String::new(), beads: needs.iter().enumerate().map(bead).collect() }
    }

    fn shaped(plan: &Plan, wanted: Option<u32>, most: u32) -> Team {
        let roles = ["worker", "reviewer", "refinery"].map(str::to_owned);
        let models = [("cheap", 1), ("strong", 9)]
            .map(|(name, price)| ModelFact { name: name.to_owned(), price });
        let judged = complexity("Fix the typo in the readme", &Survey::default());
        team(plan, &judged, &Bounds { roles: &roles, models: &models, model: None, wanted, most })
    }

    #[test]
    fn the_strategy_follows_from_the_needs() {
        assert_eq!(shaped(&plan(&[&[], &["b1"]]), None, 9).strategy, Strategy::Pipeline);
        assert_eq!(shaped(&plan(&[&[], &[]]), None, 9).strategy, Strategy::Parallel);
        assert_eq!(
            shaped(&plan(&[&[], &[], &["b1", "b2"]]), None, 9).strategy,
            Strategy::MapReduce
        );
        assert_eq!(
            shaped(&plan(&[&[], &["b1"], &["b1"], &["b2"], &["b3"]]), None, 9).strategy,
            Strategy::Tree
        );
    }

    #[test]
    fn there_are_never_more_agents_than_are_allowed_or_have_work() {
        let wide = plan(&[&[], &[], &[], &[]]);
        assert_eq!(shaped(&wide, None, 9).size, 4);
        assert_eq!(shaped(&wide, None, 2).size, 2);
        assert_eq!(shaped(&wide, Some(50), 9).size, 4);
        assert_eq!(shaped(&wide, Some(3), 9).size, 3);
        assert_eq!(shaped(&wide, Some(0), 0).size, 1);
        let team = shaped(&wide, None, 9);
        assert_eq!(team.members[0].model.as_deref(), Some("cheap"));
    }
}
