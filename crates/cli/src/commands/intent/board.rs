//! A convoy as a picture in a terminal: a bar for each bead, what it costs, and what needs a person.

use godel_api::{Agent, BeadRow, ConvoyRun};
use godel_console::measure::money;
use godel_console::output::{GOOD, STRONG, WARN, cut, plain, styled};

/// How many characters a bar has.
const BAR: usize = 10;
/// How far a bead is that somebody has begun, and one that waits for review; what lies between is told by the list of
/// things to do.
const BEGUN: f64 = 0.1;
const REVIEW: f64 = 0.8;
/// Lines that are not of beads: the head, and the one that says how many are not shown.
const OTHERS: usize = 2;

/// A bead as it is drawn.
pub(super) struct Lane<'a> {
    bead: &'a BeadRow,
    who: Option<&'a str>,
    share: f64,
    cost: i64,
}

impl<'a> Lane<'a> {
    /// Looks at a bead and its agents, the newest first.
    pub(super) fn of(bead: &'a BeadRow, agents: &[&'a Agent]) -> Self {
        let newest = agents.first();
        let share = match bead.status.as_str() {
            "done" => 1.0,
            "review" => REVIEW,
            "in-progress" => BEGUN + (REVIEW - BEGUN) * newest.map_or(0.0, |one| listed(one)),
            _ => 0.0,
        };
        let who = newest.map(|agent| agent.label.as_str());
        let cost = agents.iter().filter_map(|agent| agent.spent_micros).sum();
        Self { bead, who, share, cost }
    }

    fn state(&self) -> &str {
        if self.bead.blocked { "waits" } else { &self.bead.status }
    }

    /// Says the same in a line without a bar.
    pub(super) fn words(&self) -> String {
        let who = plain(self.who.unwrap_or("-"));
        let (id, cost) = (&self.bead.id, money(self.cost));
        let title = plain(&self.bead.title);
        format!("{id}  {:<11}  {who:<10}  {cost:>8}  {title}", self.state())
    }

    fn line(&self, width: usize) -> String {
        let full = (self.share * BAR as f64).floor() as usize;
        let style = match self.bead.status.as_str() {
            "done" => GOOD,
            "review" => WARN,
            _ => STRONG,
        };
        let bar = styled(style, "█".repeat(full)) + &"░".repeat(BAR - full);
        let who = cut(&plain(self.who.unwrap_or("-")), 12);
        let rest = format!(
            " {:<11} {who:<12} {:>8}  {}  {}",
            self.state(),
            money(self.cost),
            self.bead.id,
            plain(&self.bead.title)
        );
        bar + &cut(&rest, width.saturating_sub(BAR + 1))
    }
}

/// How much of its list of things to do an agent has done, from 0 to 1.
fn listed(agent: &Agent) -> f64 {
    let done = agent.todos.iter().filter(|todo| todo.state == "completed").count();
    if agent.todos.is_empty() { 0.0 } else { done as f64 / agent.todos.len() as f64 }
}

/// Draws a convoy so that it fits: what is over makes room for what is not.
pub(super) fn picture(
    run: &ConvoyRun,
    lanes: &[Lane<'_>],
    needs: &[String],
    (width, height): (usize, usize),
) -> Vec<String> {
    let done = lanes.iter().filter(|lane| lane.bead.status == "done").count();
    let spent = money(lanes.iter().map(|lane| lane.cost).sum());
    let most = run.budget_micros.map_or(String::new(), |budget| format!(" of {}", money(budget)));
    let head = format!(
        "{} is {}: {done} of {} beads done, {} of {} agents at work, {spent}{most}",
        run.convoy,
        run.state,
        lanes.len(),
        run.running,
        run.agents
    );
    let mut lines = vec![styled(STRONG, cut(&head, width.saturating_sub(1)))];
    let needs: Vec<String> =
        needs.iter().take(height / 3).map(|line| cut(line, width.saturating_sub(1))).collect();
    let room = height.saturating_sub(OTHERS + needs.len() + 1).max(1);
    let mut shown: Vec<&Lane<'_>> = lanes.iter().collect();
    if shown.len() > room {
        shown.sort_by_key(|lane| (lane.bead.status == "done", lane.share == 0.0));
        shown.truncate(room);
    }
    lines.extend(shown.iter().map(|lane| lane.line(width)));
    if shown.len() < lanes.len() {
        lines.push(format!("and {} more", lanes.len() - shown.len()));
    }
    lines.extend(needs.iter().map(|line| styled(WARN, line)));
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn bead(id: &str, status: &str) -> BeadRow {
        serde_json::from_value(json!({
            "id": id, "projectId": uuid::Uuid::nil(), "type": "task", "title": format!("Do {id}"),
            "status": status, "priority": "medium", "blocked": false,
            "createdAt": "2026-11-15T00:00:00Z",
        }))
        .unwrap()
    }

    fn run() -> ConvoyRun {
        ConvoyRun {
            runtime: None,
            whole: None,
            convoy: "convoy-1".to_owned(),
            state: "running".to_owned(),
            agents: 3,
            running: 2,
            budget_micros: Some(5_000_000),
            note: None,
        }
    }

    fn drawn(beads: &[BeadRow], needs: &[String], size: (usize, usize)) -> Vec<String> {
        let lanes: Vec<Lane<'_>> = beads.iter().map(|bead| Lane::of(bead, &[])).collect();
        let lines = picture(&run(), &lanes, needs, size);
        lines.iter().map(|line| anstream::adapter::strip_str(line).to_string()).collect()
    }

    #[test]
    fn each_bead_has_a_bar_and_the_head_counts() {
        let beads = [bead("a1", "done"), bead("b2", "review"), bead("c3", "open")];
        let lines = drawn(&beads, &["needs you: look".to_owned()], (100, 24));
        assert_eq!(
            lines,
            [
                "convoy-1 is running: 1 of 3 beads done, 2 of 3 agents at work, $0 of $5",
                "██████████ done        -                  $0  a1  Do a1",
                "████████░░ review      -                  $0  b2  Do b2",
                "░░░░░░░░░░ open        -                  $0  c3  Do c3",
                "needs you: look",
            ]
        );
    }

    #[test]
    fn it_fits_whatever_the_terminal_and_shows_first_what_is_under_way() {
        let mut beads: Vec<BeadRow> = (0..40).map(|n| bead(&format!("d{n}"), "done")).collect();
        beads.push(bead("busy", "in-progress"));
        let needs = vec!["needs you: x".to_owned(); 30];
        for size in [(20, 2), (30, 6), (80, 24), (200, 60)] {
            let lines = drawn(&beads, &needs, size);
            assert!(lines.len() < size.1.max(4), "{size:?}: {lines:#?}");
            assert!(lines.iter().all(|line| line.chars().count() < size.0), "{size:?}: {lines:#?}");
            assert!(lines.iter().any(|line| line.starts_with('█')), "{size:?}: {lines:#?}");
        }
        assert!(drawn(&beads, &[], (80, 10))[1].contains("busy"));
        assert!(drawn(&beads, &[], (80, 10)).last().unwrap().starts_with("and 3"));
    }
}
