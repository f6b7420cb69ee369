//! `godel demo`: the main job, as somebody sees it who has just got the program.

use serde_json::{Value, json};

use crate::fleet::path;
use crate::home::Home;

fn play(arguments: &[&str]) -> Value {
    let path = path();
    let home = Home::new().with("PATH", path.to_str().unwrap());
    let shown = home.run(&[&["demo", "--json"], arguments].concat()).expect(0);
    assert!(shown.stderr.contains("a scripted provider plays the models"), "{}", shown.stderr);
    shown.json()
}

fn is_whole(told: &Value) {
    let landings = told["landings"].as_array().unwrap();
    assert_eq!(landings.len(), 5, "{told:#}");
    assert!(landings.iter().all(|one| one["stage"] == "landed"), "{told:#}");
    assert_eq!((&told["repaired"], &told["gateCaught"]), (&json!(1), &json!(1)), "{told:#}");
    assert_eq!(told["scripted"], true);
    assert!(told["costMicros"].as_i64().unwrap() > 0, "{told:#}");
}

#[test]
fn a_sentence_becomes_five_beads_in_the_branch() {
    is_whole(&play(&[]));
}

#[test]
fn nothing_is_lost_when_the_server_is_killed_half_way() {
    is_whole(&play(&["--crash"]));
}

#[test]
fn the_scripted_provider_plays_for_nobody_else() {
    let home = Home::new();
    home.run(&["demo-provider"]).refused(2, &["only in a show", "godel demo"]);
    home.run(&["demo", "--live"]).refused(2, &["--live needs the key", "ANTHROPIC_API_KEY"]);
}
