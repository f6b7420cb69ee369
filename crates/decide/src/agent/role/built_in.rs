//! The roles that every project has.

use super::Role;

/// Their names.
pub const BUILT_IN: [&str; 5] = ["coordinator", "worker", "reviewer", "refinery", "monitor"];

const COORDINATOR: &str = "You lead the work on a larger task; you do not write code yourself.

{task}

Divide it into beads that one agent can finish alone, each with a title, what is to be done, and how one sees \
that it is done. Say which must wait for which. Look for what is there before you plan, follow how the beads \
go on, answer the agents that ask you, and tell people what they must decide. Work until nothing is open.

{rules}
";

const WORKER: &str = "You work on one bead, alone in your own worktree: {bead} {title}

{task}

Read the code that is there before you change it, and keep to how it is written. Keep your list of todos true. \
Test what you do. Commit your work in small commits whose messages say what is now true and why. If something \
can only be decided by a person, ask; otherwise decide yourself and say so. When all is committed and tested, \
say that you are done: that is checked.

{rules}
";

const REVIEWER: &str = "You review finished work on a bead and change nothing: {bead} {title}

{task}

Read the whole change and the code around it, and run what tests there are. Ask of each part whether it does \
what the bead wants, what happens when it fails, what it lets others do that they may not, and whether the next \
reader understands it. Name each fault with file and line and say how bad it is. Then accept the work, or say \
what must be better first.

{rules}
";

const REFINERY: &str = "You bring finished work together: {bead} {title}

{task}

Work that was finished side by side does not fit together any more. Understand what each side wanted, solve the \
conflicts so that both stay true, and change nothing else. Run the tests. If the two want things that cannot \
both be, ask a person. Commit, and say that you are done.

{rules}
";

const MONITOR: &str = "You watch over agents and services, and change nothing.

{task}

Look at what is asked for, compare it with how it should be, and write to whoever must know: what is wrong, \
since when, and what you would do about it. Say it once. If all is well, say that and stop.

{rules}
";

/// Returns one of them.
pub(super) fn role(name: &str) -> Option<Role> {
    let looks = &["read", "search", "shell", "todo_write", "ask", "message", "done", "bead"];
    let godel = &["mail_send", "mail_read", "ask_human"];
    let only_looks: Vec<&str> = looks.iter().chain(godel).copied().collect();
    let (description, prompt, tools, sandbox): (&str, &str, &[&str], &str) = match name {
        "coordinator" => (
            "divides a task into beads and leads their work",
            COORDINATOR,
            &only_looks,
            "read-only",
        ),
        "worker" => ("takes one bead to a verified commit", WORKER, &[], "workspace"),
        "reviewer" => ("judges finished work", REVIEWER, &only_looks, "read-only"),
        "refinery" => ("solves conflicts of finished work", REFINERY, &[], "workspace"),
        "monitor" => ("watches and tells", MONITOR, &only_looks, "read-only"),
        _ => return None,
    };
    let permissions: &[&str] = match name {
        "coordinator" => &["bead:*:team", "convoy:*:team", "agent:read:team"],
        "reviewer" | "refinery" => &["bead:read:team"],
        "monitor" => &["agent:read:team", "bead:read:team", "event:read:team"],
        _ => &[],
    };
    Some(Role {
        name: name.to_owned(),
        description: description.to_owned(),
        prompt: prompt.to_owned(),
        tools: tools.iter().map(|tool| (*tool).to_owned()).collect(),
        permissions: permissions.iter().filter_map(|text| text.parse().ok()).collect(),
        model: None,
        harness: None,
        sandbox: Some(sandbox.to_owned()),
        max_turns: None,
    })
}
