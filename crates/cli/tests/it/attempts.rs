//! One bead, tried several ways by real agents: compared, picked, landed, archived, over kills and refusals.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::fleet::{PATIENCE, PERSON, Yard};
use crate::people::developer;

const OPUS: &str = "claude-opus-4-8";
const SONNET: &str = "claude-sonnet-5";
const HAIKU: &str = "claude-haiku-5-5";
/// What the file of the bead may not say.
const GATE: &str = "[gates]\nno-todo = \"! grep -r FORBIDDEN . --include=*.txt\"\n";

/// Makes a bead and returns its id.
fn bead(yard: &Yard, title: &str) -> String {
    yard.json(&["bead", "create", title])["id"].as_str().unwrap().to_owned()
}

fn show(yard: &Yard, bead: &str) -> Value {
    yard.json(&["attempt", "show", bead])
}

/// Waits until attempts are as they should be, and returns them.
fn until(yard: &Yard, bead: &str, is_so: impl Fn(&Value) -> bool) -> Value {
    let started = Instant::now();
    loop {
        let found = show(yard, bead);
        if is_so(&found) {
            return found;
        }
        assert!(started.elapsed() < PATIENCE, "{found:#}\n{}", yard.repo.home.log());
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Returns a field of each attempt.
fn each<'a>(found: &'a Value, field: &str) -> Vec<&'a Value> {
    found["attempts"].as_array().unwrap().iter().map(|one| &one[field]).collect()
}

fn needs_choice(found: &Value) -> bool {
    found["needsChoice"] == true
}

fn status(yard: &Yard, bead: &str) -> Value {
    yard.json(&["bead", "show", bead])["status"].clone()
}

/// Lists what git keeps of attempts at a bead.
fn kept(yard: &Yard, bead: &str) -> Vec<String> {
    let below = format!("refs/godel/attempts/{bead}/");
    let listed = yard.repo.git(&["for-each-ref", "--format=%(refname)", &below]);
    listed.lines().map(str::to_owned).collect()
}

/// Starts as many attempts as there are models.
fn start(yard: &Yard, bead: &str, models: &[&str]) -> Value {
    yard.json(&["attempt", "start", bead, "--models", &models.join(",")])
}

/// What a model does that is told so: the provider writes a file that names the model which was asked.
fn own_way(model: &str, text: &str) -> String {
    format!("[[when {model} work out.txt {text}]]")
}
