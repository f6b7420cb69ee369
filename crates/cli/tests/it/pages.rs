//! What commands say without a server.

use serde_json::json;

use crate::home::Home;

#[test]
fn help_and_version_are_answers() {
    let home = Home::new();
    let help = home.run(&["--help"]).expect(0);
    assert!(
        help.stdout.starts_with("Plan work in git, run a Godel server and talk to it\n"),
        "{help:?}"
    );
    assert!(help.stdout.contains("\nExamples:\n") && help.stderr.is_empty(), "{help:?}");
    let version = env!("CARGO_PKG_VERSION");
    assert_eq!(home.run(&["--version"]).expect(0).stdout, format!("godel {version}\n"));
    assert_eq!(home.run(&["version"]).expect(0).stdout, format!("godel {version}\n"));
    assert_eq!(home.run(&["version", "--json"]).expect(0).json()["version"], version);
    for command in ["up", "status", "doctor", "events", "config", "db", "completions", "explain"] {
        let help = home.run(&[command, "--help"]).expect(0);
        assert!(help.stdout.contains("Examples:"), "{command}");
        assert!(!help.stdout.contains("reference"), "{command} shows what is hidden");
    }
}

#[test]
fn bare_godel_tells_a_newcomer_what_to_do() {
    let home = Home::new();
    let answer = home.run(&[]).expect(0);
    assert!(answer.stdout.contains("Welcome"), "{answer:?}");
    assert!(answer.stdout.contains("godel up "), "{answer:?}");
    let answer = home.run(&["--json"]).expect(0).json();
    assert_eq!(answer["state"], "new");
    assert_eq!(answer["next"][0]["command"], "godel up");
}

#[test]
fn every_code_is_explained() {
    let home = Home::new();
    let list = home.run(&["explain", "--json"]).expect(0).json();
    let codes = list.as_array().unwrap();
    assert_eq!(codes.len(), godel_model::code::ALL.len());
    let text = home.run(&["explain"]).expect(0).stdout;
    for code in godel_model::code::ALL {
        assert!(text.contains(&format!("\n{code} ")), "{code} is not listed");
    }
    let page = home.run(&["explain", "data_dir_locked"]).expect(0).stdout;
    assert!(page.starts_with("# data_dir_locked: "), "{page}");
    assert!(page.contains("## What to do"), "{page}");
    let page = home.run(&["explain", "data_dir_locked", "--json"]).expect(0).json();
    assert_eq!((&page["kind"], &page["exit"]), (&json!("conflict"), &json!(4)));
}

#[test]
fn every_shell_gets_its_completions() {
    let home = Home::new();
    for (shell, part) in
        [("bash", "complete -F _godel"), ("zsh", "#compdef godel"), ("fish", "complete -c godel")]
    {
        let script = home.run(&["completions", shell]).expect(0);
        assert!(script.stdout.contains(part), "{shell}");
        assert!(script.stdout.contains("idempotency-key"), "{shell}");
    }
}

#[test]
fn settings_are_shown_with_their_origins() {
    let home = Home::new()
        .with("GODEL_LOG_LEVEL", "debug")
        .with("GODEL_DATABASE_URL", "postgres://ann:s3cret@db/godel");
    std::fs::create_dir_all(home.data()).unwrap();
    let file = home.data().join("godel.toml");
    std::fs::write(&file, "[retention]\ndays = 7\n").unwrap();
    let shown = home.run(&["config", "show", "--origin", "--listen", "127.0.0.1:9"]).expect(0);
    assert!(!shown.stdout.contains("s3cret"), "{shown:?}");
    let row = |name: &str| {
        let line = shown.stdout.lines().find(|line| line.starts_with(&format!("{name} ")));
        line.unwrap().split_whitespace().skip(1).map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(row("data"), format!("{} default", home.data().display()));
    assert_eq!(row("listen"), "127.0.0.1:9 flag --listen");
    assert_eq!(row("log.level"), "debug environment GODEL_LOG_LEVEL");
    assert_eq!(row("retention.days"), format!("7 file {}", file.display()));
    assert_eq!(row("database.url"), "postgres://db/godel environment GODEL_DATABASE_URL");
    assert_eq!(row("redis.url"), "- default");
    let json = home.run(&["config", "show", "--origin", "--json"]).expect(0).json();
    assert_eq!(
        json["retention.days"],
        json!({ "value": 7, "origin": format!("file {}", file.display()) })
    );
    assert_eq!(home.run(&["config", "show", "--json"]).expect(0).json()["retention.days"], 7);
}

#[test]
fn the_doctor_finds_a_fresh_home_in_order_and_says_what_is_not() {
    let home = Home::new();
    let answer = home.run(&["doctor", "--listen", "127.0.0.1:0", "--json"]).expect(0).json();
    assert_eq!(answer["ok"], true, "{answer}");
    assert!(!home.data().exists(), "the doctor changes nothing");
    std::fs::create_dir_all(home.data()).unwrap();
    std::fs::write(home.data().join("godel.toml"), "listn = 1\n").unwrap();
    std::fs::write(home.data().join("owner.key"), "x").unwrap();
    let answer = home.run(&["doctor"]).expect(1).stdout;
    for part in ["FAIL  owner key", "hint: chmod 600", "FAIL  settings", "did you mean `listen`?"] {
        assert!(answer.contains(part), "no {part:?} in {answer}");
    }
    std::fs::remove_file(home.data().join("godel.toml")).unwrap();
    std::fs::write(home.data().join("godel.db"), "this is no database ".repeat(100)).unwrap();
    let answer = home.run(&["doctor", "--json"]).expect(1).json();
    let failed: Vec<_> = answer["checks"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|check| check["status"] == "fail")
        .collect();
    assert!(failed.iter().any(|check| check["name"] == "soundness"), "{answer}");
}
