//! `godel demo`: the main job, as somebody sees it who has just got the program.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

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

#[test]
fn a_live_show_asks_the_provider_whose_key_and_address_are_in_the_environment() {
    let (key, path) = ("k".repeat(40), path());
    let stand_in = Home::new();
    let mut command = stand_in.command(&["demo-provider"]);
    command.env("GODEL_DEMO_KEY", &key).stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut provider = command.spawn().unwrap();
    let mut address = String::new();
    BufReader::new(provider.stdout.take().unwrap()).read_line(&mut address).unwrap();
    let home = Home::new()
        .with("PATH", path.to_str().unwrap())
        .with("ANTHROPIC_API_KEY", &key)
        .with("ANTHROPIC_BASE_URL", &format!("http://{}", address.trim()));
    let shown = home.run(&["demo", "--json", "--live"]).expect(0);
    assert!(shown.stderr.contains("Live: claude-sonnet-5 does the work"), "{}", shown.stderr);
    let told = shown.json();
    assert_eq!(told["scripted"], false, "{told:#}");
    let landings = told["landings"].as_array().unwrap();
    assert_eq!(landings.len(), 5, "{told:#}");
    assert!(landings.iter().all(|one| one["stage"] == "landed"), "{told:#}");
    assert!(told["costMicros"].as_i64().unwrap() > 0, "{told:#}");
    drop(provider.stdin.take());
    provider.wait().unwrap();
}
