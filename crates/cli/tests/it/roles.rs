//! Roles of a project hold agents: to their tools, and to so many turns.

use serde_json::Value;

use crate::fleet::{PERSON, Yard};

/// What is auto-committed need not be committed by a shell.
const COMMITS: &str = "[project]\nauto-commit = true\n[agents]\nmodel = \"claude-opus-4-8\"\n";

/// Writes a role of the project.
fn role(yard: &Yard, name: &str, more: &str) {
    let folder = yard.repo.path.join(".godel/roles");
    std::fs::create_dir_all(&folder).unwrap();
    let text = format!("name: {name}\nprompt: \"{{title}} {{task}}\"\n{more}\n");
    std::fs::write(folder.join(format!("{name}.yaml")), text).unwrap();
}

fn spawn(yard: &Yard, how: &[&str]) -> String {
    let (options, command) =
        how.split_at(how.iter().position(|word| *word == "--").unwrap_or(how.len()));
    let all = [&["agent", "spawn"], options, &["--json"], command].concat();
    yard.run(&all).expect(0).json()["label"].as_str().unwrap().to_owned()
}

fn log(yard: &Yard, name: &str) -> String {
    yard.run(&["agent", "logs", name, "--full"]).expect(0).stdout
}

#[tokio::test(flavor = "multi_thread")]
async fn the_built_in_agent_has_the_tools_of_its_role_and_no_other() {
    let yard = Yard::open(COMMITS).await;
    role(&yard, "painter", "tools: [read, write]");
    let task = "[[insist shell {\"command\":\"echo no > no.txt\"}]] [[then]] [[call write \
                {\"path\":\"yes.txt\",\"content\":\"painted\"}]] [[then]] [[call done {\"summary\":\"painted\"}]]";
    let name = spawn(&yard, &[task, "--role", "painter"]);
    let agent = yard.until(&name, "completed");
    let told = log(&yard, &name);
    let refusal = "your role does not let you use shell; you have read, write, done";
    assert!(told.contains(refusal), "{told}");
    let branch = format!("bead/{}", agent["bead"].as_str().unwrap());
    let files = yard.repo.git(&["ls-tree", "--name-only", &branch]);
    assert!(files.contains("yes.txt") && !files.contains("no.txt"), "{files}");
    // The model was offered nothing else.
    let offered = |body: &Value| -> Vec<String> {
        let tools = body["tools"].as_array().into_iter().flatten();
        tools.map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
    };
    let asked: Vec<Value> =
        yard.provider.recorded().iter().map(godel_scripted::Recorded::json).collect();
    assert!(!asked.is_empty());
    for body in asked {
        assert_eq!(offered(&body), ["read", "write", "done"]);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_that_cannot_be_held_to_its_role_is_refused_before_anything_is_made() {
    let yard = Yard::open(PERSON).await;
    role(&yard, "painter", "tools: [read, write]");
    role(&yard, "fixer", "tools: [shell, write, edit]");
    let refused = ["the role painter has a list of tools", "--harness native"];
    let command = ["--harness", "command", "--json", "--", "sh", "-c", "true"];
    let spawn_as =
        |role: &'static str| [&["agent", "spawn", "x", "--role", role], &command[..]].concat();
    yard.run(&spawn_as("painter")).refused(2, &refused);
    assert_eq!(yard.json(&["agent", "list"])["items"].as_array().unwrap().len(), 0);
    // One that may do all that a program can do, or is behind walls that let it change nothing, is taken.
    yard.run(&spawn_as("reviewer")).expect(0);
    let fixer = yard.run(&spawn_as("fixer")).expect(0).json();
    let name = fixer["label"].as_str().unwrap();
    // Nor does it begin anew if its role has changed meanwhile.
    role(&yard, "fixer", "tools: [read, write]");
    let refused = ["the role fixer has a list of tools", "--harness native"];
    yard.run(&["agent", "restart", name, "--harness", "command"]).refused(2, &refused);
}

#[tokio::test(flavor = "multi_thread")]
async fn what_an_agent_asks_of_godel_is_what_its_role_lets_it_ask() {
    let yard = Yard::open(PERSON).await;
    role(&yard, "fixer", "tools: [shell, write, edit, todo_write]");
    let script = "cat > /dev/null; godel self ask 'Which?' 2>&1; godel self mail 2>&1; \
                  godel self todo '[x] write it'; echo fixed > a.txt; git add -A; git commit -qm a; \
                  godel self done 'it is fixed'";
    let how = ["fix it", "--role", "fixer", "--harness", "command", "--", "sh", "-c", script];
    let name = spawn(&yard, &how);
    let agent = yard.until(&name, "completed");
    let told = log(&yard, &name);
    for tool in ["ask_human", "mail_read"] {
        assert!(told.contains(&format!("your role fixer does not let you use {tool}")), "{told}");
    }
    assert_eq!(agent["todos"][0]["text"], "write it");
    assert_eq!(yard.json(&["inbox"])["items"].as_array().unwrap().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_that_is_not_done_after_all_its_turns_ends_as_one_that_failed() {
    let yard = Yard::open(PERSON).await;
    role(&yard, "hasty", "max_turns: 3");
    let quick = spawn(&yard, &["[[work b.txt in time]]", "--role", "hasty"]);
    yard.until(&quick, "completed");
    let steps = "[[call shell {\"command\":\"true\"}]] [[then]] ".repeat(5);
    let slow = spawn(&yard, &[&format!("{steps} [[say x]]"), "--role", "hasty"]);
    let agent = yard.until(&slow, "failed");
    let why = agent["note"].as_str().unwrap();
    assert!(why.starts_with("it was not done after 3 turns"), "{agent:#}");
    // It was tried again, as after other troubles, then by one that looks for the cause, and then a person was told.
    assert_eq!(agent["retryCount"], 2, "{agent:#}");
    let notices = yard.json(&["inbox"]);
    assert_eq!(notices["items"][0]["kind"], "stuck", "{notices:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn permissions_of_a_role_let_an_agent_plan_and_nothing_else() {
    let yard = Yard::open(PERSON).await;
    let first = yard.json(&["bead", "create", "Lay the ground"])["id"].as_str().unwrap().to_owned();
    let create = |title: &str| {
        let input = serde_json::json!({ "title": title, "description": "on it", "after": [first] });
        format!("[[call bead_create {input}]]")
    };
    let plan = format!(
        "Plan a house. {} [[then]] [[call bead_list {{}}]] [[then]] [[call convoy_create {{\"name\":\"House\",\
         \"beads\":[\"{first}\"]}}]] [[then]] [[call agent_list {{}}]] [[then]] [[insist event_list {{}}]] [[then]] \
         [[call done {{\"summary\":\"one wall is planned\"}}]]",
        create("Build a wall")
    );
    let name = spawn(&yard, &[&plan, "--role", "coordinator"]);
    let agent = yard.until(&name, "completed");
    let told = log(&yard, &name);
    // What it made waits for what must come first, and says who made it.
    let beads = yard.json(&["bead", "list"]);
    let wall = beads["items"].as_array().unwrap().iter().find(|one| one["title"] == "Build a wall");
    let wall = wall.unwrap_or_else(|| panic!("{beads:#}\n{told}"));
    let wall = yard.json(&["bead", "show", wall["id"].as_str().unwrap()]);
    assert_eq!(wall["links"][0]["target"].as_str(), Some(&*first), "{wall:#}");
    assert_eq!(wall["createdBy"], format!("agent:{name}"), "{wall:#}");
    assert!(
        told.contains("Lay the ground") && told.contains(&format!("{name} coordinator")),
        "{told}"
    );
    let convoys = yard.json(&["convoy", "list"]);
    assert_eq!(convoys["items"][0]["name"], "House", "{convoys:#}");
    // Its role does not let it see events.
    assert!(told.contains("your role does not let you use event_list"), "{told}");
    // It could change no file: what it said closed its bead.
    let own = yard.json(&["bead", "show", agent["bead"].as_str().unwrap()]);
    assert_eq!(own["status"], "done", "{own:#}");
    assert_eq!(own["resolution"]["reason"], "one wall is planned", "{own:#}");
}

#[tokio::test(flavor = "multi_thread")]
async fn whoever_only_looks_does_not_close_the_bead_of_a_person() {
    let yard = Yard::open(PERSON).await;
    let done = "[[call done {\"summary\":\"I have looked at it\"}]]";
    let made = yard.json(&["bead", "create", "Mend it", "--description", done]);
    let bead = made["id"].as_str().unwrap();
    let name = spawn(&yard, &["--bead", bead, "--role", "monitor"]);
    yard.until(&name, "failed");
    assert!(log(&yard, &name).contains("there is no commit with your work"));
    assert_ne!(yard.json(&["bead", "show", bead])["status"], "done");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_program_asks_for_what_its_role_permits_by_command() {
    let yard = Yard::open(PERSON).await;
    role(&yard, "clerk", "permissions: [bead:read:team]");
    // It has the program, and nothing else of the folder that this lies in.
    let folder = std::path::Path::new(env!("CARGO_BIN_EXE_godel")).parent().unwrap().display();
    let script = "cat > /dev/null; command -v godel; godel self tools; godel self use bead_list; \
                  godel self use bead_create '{\"title\":\"x\",\"description\":\"y\"}' 2>&1; \
                  godel self use bead_list '{\"nonsense\":1}' 2>&1; godel self use shell 2>&1; \
                  echo a > a.txt; git add -A; git commit -qm a; godel self done 'it is done'";
    let script = format!("ls {folder} 2>&1; {script}");
    let how = ["look around", "--role", "clerk", "--harness", "command", "--", "sh", "-c", &script];
    let name = spawn(&yard, &how);
    yard.until(&name, "completed");
    let told = log(&yard, &name);
    for said in [
        "No such file or directory",
        "/run/godel/bin/godel",
        "bead_show: Show a bead",
        "look around",
        "your role clerk does not permit bead_create: you have bead_list, bead_show",
        "unknown field `nonsense`",
        "there is no tool shell",
    ] {
        assert!(told.contains(said), "{said}\n{told}");
    }
    assert_eq!(yard.json(&["bead", "list"])["items"].as_array().unwrap().len(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_is_told_once_what_is_remembered_whatever_its_role_says() {
    let yard = Yard::open(COMMITS).await;
    role(&yard, "painter", "tools: [read, write]");
    let task = "[[call write {\"path\":\"a.txt\",\"content\":\"a\"}]] [[then]] [[call done {\"summary\":\"a\"}]]";
    let told_to = |role: &str| {
        let before = yard.provider.recorded().len();
        let name = spawn(&yard, &[task, "--role", role]);
        yard.until(&name, "completed");
        yard.provider.recorded()[before].json()["messages"][0].to_string()
    };
    assert!(!told_to("worker").contains("Remembered"), "there is nothing yet");
    yard.repo.say(&["remember", "Colours are in\nmake paint", "--name", "colours"]);
    // A role that has a place for rules has it there, another one as a part of its own.
    for (role, head) in [("worker", "Remembered"), ("painter", "## Rules\\n\\nRemembered")] {
        let told = told_to(role);
        let line = "about this project:\\n- colours: Colours are in make paint";
        assert_eq!(told.matches(&format!("{head} {line}")).count(), 1, "{role}: {told}");
    }
}
