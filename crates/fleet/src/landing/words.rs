//! What a pull request says. People may write around it: only what stands between two marks is Godel's.

use super::entry::Entry;

const BEGIN: &str = "<!-- godel: begin -->";
const END: &str = "<!-- godel: end -->";

/// The title of a pull request.
pub(super) fn title(entry: &Entry) -> String {
    let title: String = entry.title.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!("{} ({})", title.trim(), entry.bead)
}

/// What Godel says in it.
pub(super) fn block(entry: &Entry, target: &str) -> String {
    let short = |commit: &str| commit.get(..10).unwrap_or(commit).to_owned();
    let base = entry.pull.as_ref().and_then(|pull| pull.judged_on.as_deref()).map(short);
    let (bead, source) = (&entry.bead, short(&entry.source));
    let mut text = format!("{BEGIN}\nThe work of the bead `{bead}`: `godel bead show {bead}`\n\n");
    if !entry.verdicts.is_empty() {
        let on = base.map(|base| format!(" at {base}")).unwrap_or_default();
        text.push_str(&format!("Gates on {source} merged with `{target}`{on}:\n\n"));
        for verdict in &entry.verdicts {
            let said = if verdict.passed { "passed" } else { "failed, and need not pass" };
            text.push_str(&format!("- {}: {said}\n", verdict.gate));
        }
        text.push('\n');
    }
    text.push_str(&format!("Bead: {bead}\n{END}"));
    text
}

/// The text of a pull request with what Godel says now; nothing if it says that already, or people took it out.
pub(super) fn renewed(body: &str, block: &str) -> Option<String> {
    let begin = body.find(BEGIN)?;
    let end = begin + body[begin..].find(END)? + END.len();
    let new = format!("{}{block}{}", &body[..begin], &body[end..]);
    (new != body).then_some(new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_wrote_around_it_stays() {
        let (old, new) = (format!("{BEGIN}\nold\n{END}"), format!("{BEGIN}\nnew\n{END}"));
        let body = format!("Please look.\n\n{old}\n\nThanks!");
        assert_eq!(renewed(&body, &new).unwrap(), format!("Please look.\n\n{new}\n\nThanks!"));
        assert_eq!(renewed(&body, &old), None, "it says so already");
        assert_eq!(renewed("Rewritten by a person.", &new), None);
        assert_eq!(renewed(&format!("{END} {BEGIN}"), &new), None);
    }
}
