//! The script: what the models of the show answer, decided from the conversation alone.
//!
//! It knows the one repository of the show and the one plan for it. Each answer follows from what was said and how
//! often the agent has acted, so that a server which is killed and goes on gets the same answers again.

use serde_json::{Value, json};

/// What is wanted of the fleet in the show.
pub(crate) const INTENT: &str = "Teach the greeter German and French, let it shout, let it say goodbye, and describe all of that in the README";

/// What planners are told first, by which they are known.
const PLANNER: &str = "You split work on a git repository into beads";
/// What an agent is told of a tool that was at work when its server was killed.
const INTERRUPTED: &str = "interrupted and gave no result";
/// What those who repair are told, by which they are known.
const REPAIR: &str = "The files in conflict:";

/// An answer: words, and tools that are used.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Turn {
    pub(crate) text: String,
    pub(crate) calls: Vec<(&'static str, Value)>,
}

/// One bead of the show.
struct Part {
    key: &'static str,
    title: &'static str,
    description: &'static str,
    needs: &'static [&'static str],
    steps: fn() -> Vec<Turn>,
}

const PARTS: [Part; 5] = [
    Part {
        key: "german",
        title: "Greet in German with --lang de",
        description: "`sh greet.sh --lang de Ada` says `Hallo, Ada!`. A test shows it.",
        needs: &[],
        steps: || language(("de", "Hallo"), "German"),
    },
    Part {
        key: "french",
        title: "Greet in French with --lang fr",
        description: "`sh greet.sh --lang fr Ada` says `Bonjour, Ada!`. A test shows it.",
        needs: &[],
        steps: || language(("fr", "Bonjour"), "French"),
    },
    Part {
        key: "shout",
        title: "Shout with --loud",
        description: "`sh greet.sh --loud Ada` says it in capitals. Without --loud all is as before.",
        needs: &[],
        steps: shout,
    },
    Part {
        key: "goodbye",
        title: "Say goodbye with bye.sh",
        description: "`sh bye.sh Ada` says `Goodbye, Ada!`. A test shows it.",
        needs: &[],
        steps: goodbye,
    },
    Part {
        key: "readme",
        title: "Describe the greeter in the README",
        description: "The README names the languages, --loud and bye.sh, each with an example.",
        needs: &["german", "french", "shout", "goodbye"],
        steps: readme,
    },
];

/// Answers a request in the dialect of Anthropic.
pub(crate) fn answer(request: &Value) -> Turn {
    let system = words(&request["system"]);
    if system.contains(PLANNER) {
        return Turn { text: plan().to_string(), calls: Vec::new() };
    }
    let none = Vec::new();
    let messages = request["messages"].as_array().unwrap_or(&none);
    let told: Vec<String> = messages
        .iter()
        .filter(|message| message["role"] == "user")
        .map(|message| words(&message["content"]))
        .collect();
    let all = format!("{system}\n{}", told.join("\n"));
    // What a crash cut off is done again: nobody knows how far it came.
    let again = told.iter().filter(|words| words.contains(INTERRUPTED)).count();
    let acted = messages.iter().filter(|message| message["role"] == "assistant").count();
    let acted = acted.saturating_sub(again);
    let steps = if all.contains(REPAIR) {
        repair(&all)
    } else {
        let first = |part: &&Part| all.find(part.title);
        let part = PARTS.iter().filter(|part| first(part).is_some()).min_by_key(first);
        part.map_or_else(unknown, |part| (part.steps)())
    };
    steps.into_iter().nth(acted).unwrap_or_else(|| done("All of it is there."))
}

/// Gathers the words of a message, whatever they are in.
fn words(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(all) => all.iter().map(words).collect::<Vec<_>>().join("\n"),
        Value::Object(block) => ["text", "content"]
            .iter()
            .filter_map(|name| block.get(*name))
            .map(words)
            .collect::<Vec<_>>()
            .join("\n"),
        _ => String::new(),
    }
}

/// The plan, as the planner of Godel wants it.
fn plan() -> Value {
    let bead = |part: &Part| {
        json!({
            "key": part.key, "title": part.title, "description": part.description,
            "type": "feature", "needs": part.needs, "role": "worker", "size": "small",
        })
    };
    let beads: Vec<Value> = PARTS.iter().map(bead).collect();
    json!({ "title": "A greeter that knows more", "beads": beads })
}

fn call(text: &str, calls: Vec<(&'static str, Value)>) -> Turn {
    Turn { text: text.to_owned(), calls }
}

fn commit(message: &str) -> Turn {
    let command = format!("sh test.sh; git add -A && git commit -qm '{message}'");
    call("I run the tests and commit.", vec![("shell", json!({ "command": command }))])
}

fn done(summary: &str) -> Turn {
    call("", vec![("done", json!({ "summary": summary }))])
}

fn write(path: &str, content: &str) -> (&'static str, Value) {
    ("write", json!({ "path": path, "content": content }))
}

fn edit(old: &str, new: &str) -> (&'static str, Value) {
    ("edit", json!({ "path": "greet.sh", "old": old, "new": new }))
}

fn test(name: &str, command: &str, expected: &str) -> (&'static str, Value) {
    let text = format!(
        "said=$({command})\n[ \"$said\" = \"{expected}\" ] || {{ echo \"{command}: $said\"; exit 1; }}\n"
    );
    write(&format!("tests/{name}.sh"), &text)
}

/// Both languages go into the same place, so the second that lands is in conflict with the first.
fn language((code, word): (&str, &str), name: &str) -> Vec<Turn> {
    let (old, expected) = ("  en) word=Hello ;;\n", format!("{word}, Ada!"));
    let new = format!("{old}  {code}) word={word} ;;\n");
    vec![
        call(
            &format!("The languages are in greet.sh; I add {name} and a test."),
            vec![edit(old, &new), test(code, &format!("sh greet.sh --lang {code} Ada"), &expected)],
        ),
        commit(&format!("Greet in {name}")),
        done(&format!("greet.sh speaks {name}, and a test shows it.")),
    ]
}

const SAYS: &str = "echo \"$word, $name!\"\n";

/// The first try breaks what was there, which the gate notices.
fn shout() -> Vec<Turn> {
    let flag = edit("    *) name=$1 ;;\n", "    --loud) loud=yes ;;\n    *) name=$1 ;;\n");
    let careless = "echo \"$word, $name!\" | tr a-z A-Z\n";
    let careful = "if [ -n \"$loud\" ]; then\n  echo \"$word, $name!\" | tr a-z A-Z\nelse\n  echo \"$word, $name!\"\nfi\n";
    let save = "git add -A && git commit -qm 'Shout with --loud'";
    vec![
        call(
            "I add the option and let it shout.",
            vec![flag, edit(SAYS, careless), test("loud", "sh greet.sh --loud Ada", "HELLO, ADA!")],
        ),
        call("I commit.", vec![("shell", json!({ "command": save }))]),
        done("greet.sh shouts."),
        call(
            "The gate is right: it shouts always. It must do so only with --loud.",
            vec![edit(careless, careful)],
        ),
        commit("Shout only when asked"),
        done("greet.sh shouts with --loud and only then; a test shows it."),
    ]
}

fn goodbye() -> Vec<Turn> {
    let program =
        "#!/bin/sh\n# Says goodbye to whoever is named.\necho \"Goodbye, ${1:-World}!\"\n";
    vec![
        call(
            "A program of its own, and a test.",
            vec![write("bye.sh", program), test("bye", "sh bye.sh Ada", "Goodbye, Ada!")],
        ),
        commit("Say goodbye"),
        done("bye.sh says goodbye, and a test shows it."),
    ]
}

fn readme() -> Vec<Turn> {
    let text = "# Greeter\n\nGreets whoever is named.\n\n    sh greet.sh Ada              Hello, Ada!\n    sh greet.sh --lang de Ada    \
                Hallo, Ada!\n    sh greet.sh --lang fr Ada    Bonjour, Ada!\n    sh greet.sh --loud Ada       HELLO, ADA!\n    \
                sh bye.sh Ada                Goodbye, Ada!\n";
    vec![
        call("All of it is in the branch now; I describe it.", vec![write("README.md", text)]),
        commit("Describe the greeter"),
        done("The README has an example of each."),
    ]
}

/// Keeps what both sides have added.
fn repair(told: &str) -> Vec<Turn> {
    let after = told.split("`git merge ").nth(1).unwrap_or_default();
    let commit_id: String = after.chars().take_while(char::is_ascii_hexdigit).collect();
    let merge = format!(
        "git merge -q {commit_id}; grep -v -e '^<<<<<<<' -e '^=======$' -e '^>>>>>>>' greet.sh > .both && cat .both > greet.sh \
         && rm .both; sh test.sh && git add -A && git commit -qm 'Keep both languages'"
    );
    vec![
        call(
            "Both sides add a language in the same place: I keep both.",
            vec![("shell", json!({ "command": merge }))],
        ),
        done("Both languages are there, and the tests of both pass."),
    ]
}

fn unknown() -> Vec<Turn> {
    let text =
        "This is the scripted provider of `godel demo`. It plays one show and knows nothing else.";
    vec![Turn { text: text.to_owned(), calls: Vec::new() }]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(system: &str, messages: Value) -> Value {
        json!({ "system": system, "messages": messages })
    }

    #[test]
    fn a_planner_gets_the_plan() {
        let turn = answer(&asked(&format!("{PLANNER}: pieces"), json!([])));
        let plan: Value = serde_json::from_str(&turn.text).unwrap();
        assert_eq!(plan["beads"].as_array().unwrap().len(), PARTS.len());
    }

    #[test]
    fn the_same_conversation_gets_the_same_answer_and_ends() {
        for part in &PARTS {
            let mut messages = vec![json!({ "role": "user", "content": part.title })];
            let mut ends = 0;
            for _ in 0..10 {
                let request = asked("", json!(messages));
                let turn = answer(&request);
                assert_eq!(turn, answer(&request));
                assert!(!turn.calls.is_empty(), "{}", part.key);
                ends += usize::from(turn.calls.iter().any(|(name, _)| *name == "done"));
                messages.push(json!({ "role": "assistant", "content": turn.text }));
            }
            assert!(ends > 0, "{}", part.key);
        }
    }

    #[test]
    fn what_was_cut_off_is_done_again_and_then_it_goes_on() {
        let part = &PARTS[3];
        let said = |role: &str, words: &str| json!({ "role": role, "content": words });
        let mut messages = vec![said("user", part.title), said("assistant", "written")];
        messages.push(said("user", "wrote 80 bytes"));
        let commit = answer(&asked("", json!(messages)));
        assert_eq!(commit.calls[0].0, "shell");
        messages.push(said("assistant", &commit.text));
        messages.push(said("user", &format!("The tool call was {INTERRUPTED}.")));
        assert_eq!(answer(&asked("", json!(messages))), commit);
        messages.push(said("assistant", &commit.text));
        messages.push(said("user", "no output"));
        assert_eq!(answer(&asked("", json!(messages))).calls[0].0, "done");
    }

    #[test]
    fn who_repairs_merges_the_commit_that_it_is_told() {
        let told = "Greet in French with --lang fr\nThe files in conflict: greet.sh. `git merge 12ab34` in";
        let turn = answer(&asked("", json!([{ "role": "user", "content": [{ "text": told }] }])));
        assert!(turn.calls[0].1["command"].as_str().unwrap().starts_with("git merge -q 12ab34;"));
    }

    #[test]
    fn nobody_else_gets_anything_done() {
        let turn = answer(&asked("", json!([{ "role": "user", "content": "Write a poem" }])));
        assert!(turn.calls.is_empty() && turn.text.contains("scripted"));
    }
}
