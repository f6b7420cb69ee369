//! How programs are started: what they are told, and what they are not.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use godel_agents::discover::resolve;
use godel_agents::launch::{Allowed, Plan, Resume, TOKEN_VARIABLE, Tools};
use godel_agents::{Error, Harness};
use godel_llm::Dialect;
use proptest::prelude::*;
use proptest::sample::select;

fn plan(harness: Harness) -> Plan {
    Plan {
        harness,
        program: vec!["the-program".to_owned()],
        base_url: "http://127.0.0.1:9/proxy/".to_owned(),
        model: "a-model".to_owned(),
        dialect: Dialect::Anthropic,
        home: "/home/agent".to_owned(),
        folder: "/workspace".to_owned(),
        system: Some("Be kind.".to_owned()),
        tools: Some(Tools {
            name: "godel".to_owned(),
            command: "/bin/godel".to_owned(),
            args: vec!["mcp".to_owned()],
        }),
        allowed: Allowed::default(),
    }
}

const PROGRAMS: [Harness; 7] = [
    Harness::Claude,
    Harness::Codex,
    Harness::Gemini,
    Harness::Opencode,
    Harness::Pi,
    Harness::Acp,
    Harness::Command,
];

#[test]
fn every_program_gets_its_own_home_the_proxy_and_the_name_of_the_token() {
    for harness in PROGRAMS {
        let launch = plan(harness).launch("do it", None).unwrap();
        let line: Vec<&String> = std::iter::once(&launch.program).chain(&launch.args).collect();
        assert!(line.iter().any(|word| *word == "the-program"), "{harness}");
        assert_eq!(launch.env["HOME"], "/home/agent", "{harness}");
        assert!(launch.token_env.contains(&TOKEN_VARIABLE), "{harness}");
        let told: Vec<&String> = launch.env.values().chain(launch.files.values()).collect();
        assert!(told.iter().any(|text| text.contains("http://127.0.0.1:9/proxy")), "{harness}");
        assert!(!told.iter().any(|text| text.contains("proxy//")), "{harness}");
        // What it is told goes over its input, or over its protocol.
        assert!(!launch.args.iter().any(|arg| arg.contains("do it")), "{harness}");
        let input = if harness.is_long_lived() { None } else { Some("do it") };
        assert_eq!(launch.input.as_deref(), input, "{harness}");
        assert!(launch.files.keys().all(|path| !path.starts_with('/') && !path.contains("..")));
        // Those that know of tools know Godel's; the protocol of ACP tells them itself.
        let knows = told.iter().any(|text| text.contains("/bin/godel"));
        let has = !matches!(harness, Harness::Pi | Harness::Acp | Harness::Command);
        assert_eq!(knows, has, "{harness}");
        assert!(launch.mend.is_empty(), "{harness}");
    }
}

#[test]
fn a_session_is_resumed_by_its_id() {
    for harness in
        [Harness::Claude, Harness::Codex, Harness::Gemini, Harness::Opencode, Harness::Pi]
    {
        let launch = plan(harness).launch("x", Some(&Resume::same("ses-1"))).unwrap();
        assert!(launch.args.iter().any(|arg| arg == "ses-1"), "{harness}: {:?}", launch.args);
        let copy = Resume { id: "ses-1".to_owned(), copied: true };
        let launch = plan(harness).launch("x", Some(&copy)).unwrap();
        let carried = launch.args.iter().any(|arg| arg == "ses-1");
        assert_eq!(carried, harness.carries_copies(), "{harness}: {:?}", launch.args);
        for bad in ["--help", "a b", "a\nb"] {
            assert!(matches!(
                plan(harness).launch("x", Some(&Resume::same(bad))),
                Err(Error::Setting(_))
            ));
        }
    }
}

#[test]
fn a_program_is_told_which_tools_its_role_has() {
    let tools = ["read", "search", "shell", "mail_read"].map(str::to_owned);
    let told = |harness| {
        let plan = Plan { allowed: Allowed::only(&tools), ..plan(harness) };
        let launch = plan.launch("x", None).unwrap();
        format!("{:?} {:?}", launch.args, launch.files).replace('\\', "")
    };
    assert!(told(Harness::Claude).contains(r#""--tools", "Bash,Glob,Grep,Read""#));
    assert!(told(Harness::Pi).contains(r#""--tools", "bash,find,grep,ls,read""#));
    let gemini = told(Harness::Gemini);
    assert!(gemini.contains(r#""core""#) && gemini.contains("run_shell_command"), "{gemini}");
    assert!(
        gemini.contains("mcp_godel_done") && gemini.contains("mcp_godel_mail_read"),
        "{gemini}"
    );
    assert!(!gemini.contains("mcp_godel_mail_send"), "{gemini}");
    assert!(!gemini.contains("write_file") && !gemini.contains(r#""replace""#), "{gemini}");
    let opencode = told(Harness::Opencode);
    for part in
        [r#""*": "deny""#, r#""edit": "deny""#, r#""bash": "allow""#, r#""godel_*": "allow""#]
    {
        assert!(opencode.contains(part), "no {part} in {opencode}");
    }
    // Who is not restricted is not told anything.
    for harness in PROGRAMS {
        let launch = plan(harness).launch("x", None).unwrap();
        assert!(!launch.args.contains(&"--tools".to_owned()), "{harness}");
    }
}

#[test]
fn what_cannot_be_started_is_refused() {
    for wrong in [
        Plan { program: Vec::new(), ..plan(Harness::Codex) },
        Plan { model: "a\"b".to_owned(), ..plan(Harness::Codex) },
        Plan { model: "--yes".to_owned(), ..plan(Harness::Claude) },
        Plan { base_url: "x\ny".to_owned(), ..plan(Harness::Pi) },
    ] {
        assert!(matches!(wrong.launch("x", None), Err(Error::Setting(_))), "{wrong:?}");
    }
    assert!(matches!(plan(Harness::Native).launch("x", None), Err(Error::Cannot { .. })));
}

#[test]
fn placeholders_are_filled_once() {
    let program = ["run", "--m={model}", "{prompt}", "{folder}/{home}", "{other}{"];
    let program = program.map(str::to_owned).into();
    let launch = Plan { program, ..plan(Harness::Command) }.launch("say {model}", None).unwrap();
    let expected = ["--m=a-model", "say {model}", "/workspace//home/agent", "{other}{"];
    assert_eq!(launch.args, expected);
    assert_eq!(launch.input.as_deref(), Some(""));
}

#[tokio::test]
async fn a_program_that_a_person_names_is_found_with_what_it_needs_to_read() {
    let folder = tempfile::TempDir::with_prefix("godel-programs-").unwrap();
    let home = folder.path().canonicalize().unwrap();
    let package = home.join("lib/node_modules/their-agent");
    std::fs::create_dir_all(&package).unwrap();
    std::fs::create_dir(home.join("bin")).unwrap();
    let write = |path: &Path, text: &str| {
        std::fs::write(path, text).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    write(&home.join("bin/own-agent"), "#!/bin/sh\n");
    write(&home.join("bin/node"), "#!/bin/sh\necho v22.1.0\n");
    write(&package.join("cli.js"), "#!/usr/bin/env node\n");
    std::os::unix::fs::symlink(package.join("cli.js"), home.join("bin/their-agent")).unwrap();
    let search =
        std::env::join_paths([home.join("bin"), "/usr/bin".into(), "/bin".into()]).unwrap();
    let words = |line: &[&str]| line.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let text = |path: PathBuf| path.to_str().unwrap().to_owned();

    let own = resolve(&words(&["own-agent", "{prompt}"]), &search).await;
    assert_eq!(own.line, [text(home.join("bin/own-agent")), "{prompt}".to_owned()]);
    assert_eq!(own.folders, [home.join("bin")]);
    // A script of Node gets one, and all packages beside it.
    let theirs = resolve(&words(&["their-agent", "--acp"]), &search).await;
    let line = [text(home.join("bin/node")), text(package.join("cli.js")), "--acp".to_owned()];
    assert_eq!(theirs.line, line);
    assert_eq!(theirs.folders, [home.join("bin"), home.join("lib/node_modules")]);
    // What every sandbox has, and what is not there, stays as it was said.
    for line in [words(&["sh", "-c", "x"]), words(&["no-such-agent"]), words(&["./agent"]), vec![]]
    {
        let found = resolve(&line, &search).await;
        assert_eq!((found.line, found.folders), (line, Vec::new()));
    }
}

proptest! {
    #[test]
    fn settings_can_be_read_whatever_they_say(
        harness in select(PROGRAMS.to_vec()), system in any::<String>(), arg in any::<String>(),
    ) {
        let mut plan = plan(harness);
        plan.system = Some(system.clone());
        plan.tools.as_mut().unwrap().args = vec![arg.clone()];
        let launch = plan.launch("x", None).unwrap();
        for (path, text) in &launch.files {
            if path.ends_with(".json") {
                prop_assert!(serde_json::from_str::<serde_json::Value>(text).is_ok(), "{}", path);
            }
            if path.ends_with(".toml") {
                let read: toml::Table = text.parse().unwrap();
                prop_assert_eq!(read["developer_instructions"].as_str(), Some(system.as_str()));
                if harness == Harness::Codex {
                    let args = &read["mcp_servers"]["godel"]["args"];
                    prop_assert_eq!(args[0].as_str(), Some(arg.as_str()));
                }
            }
        }
    }
}

#[test]
fn roles_can_name_every_agent_and_every_sandbox() {
    let names: Vec<&str> = Harness::ALL.into_iter().map(Harness::name).collect();
    assert_eq!(names, godel_decide::agent::HARNESSES);
    let profiles: Vec<&str> =
        godel_runtime::Profile::ALL.into_iter().map(godel_runtime::Profile::as_str).collect();
    assert_eq!(profiles, godel_decide::agent::SANDBOXES);
}
