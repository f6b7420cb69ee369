//! People, roles, keys, secrets and the record: the way of a tech lead through the commands.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Stdio};

use godel_store::DatabaseUrl;
use godel_testkit::{Database, postgres_url};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use crate::home::{Answer, Home, Server, answer, lasting_address};

/// What a developer has: a home of its own on another machine.
pub(crate) fn developer(
    server: &Server,
    home: &Home,
    name: &str,
    role: &str,
    more: &[&str],
) -> Home {
    let invite = [&["user", "invite", name, "--role", role][..], more].concat();
    let link = home.run(&invite).expect(0).stdout;
    let token = link.trim().split_once("/dashboard/#token=").unwrap().1;
    let login =
        post(server.url(), "/auth/login", None, &json!({ "token": token, "wants": "tokens" }));
    let access = login["data"]["tokens"]["accessToken"].as_str().unwrap();
    let own = Home::new();
    let mut child = waiting(&own, server.url());
    let told = first_line(&mut child);
    let code = told["userCode"].as_str().unwrap();
    let page = format!("{}/dashboard/device?code={code}", server.url());
    assert_eq!(told["verificationUrl"], page.as_str());
    let decision = json!({ "userCode": code, "approve": true });
    post(server.url(), "/auth/device/decision", Some(access), &decision);
    let ended = child.wait_with_output().unwrap();
    assert!(ended.status.success(), "{}", String::from_utf8_lossy(&ended.stderr));
    own
}

fn waiting(home: &Home, url: &str) -> Child {
    let mut command = home.command(&["login", url, "--json"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Reads the first line and leaves the rest in the pipe.
fn first_line(child: &mut Child) -> Value {
    let mut line = Vec::new();
    let stdout = child.stdout.as_mut().unwrap();
    let mut byte = [0];
    while stdout.read(&mut byte).unwrap() == 1 && byte[0] != b'\n' {
        line.push(byte[0]);
    }
    serde_json::from_slice(&line).unwrap()
}

/// Asks the server without the program; answers with the body, whatever the status.
fn post(url: &str, path: &str, key: Option<&str>, body: &Value) -> Value {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        godel_tls::install();
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let mut request = http.post(format!("{url}{path}")).json(body);
        if let Some(key) = key {
            request = request.bearer_auth(key);
        }
        request.send().await.unwrap().json().await.unwrap()
    })
}

pub(crate) fn piped(home: &Home, arguments: &[&str], input: &str) -> Answer {
    let mut command = home.command(arguments);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    Answer {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).unwrap(),
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Runs a command with a key instead of a login.
fn with_key(home: &Home, key: &str, arguments: &[&str]) -> Answer {
    answer(home.command(arguments).env("GODEL_KEY", key))
}

/// Looks for a text in every file below a directory.
fn holds(directory: &Path, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(holds(&path, text));
        } else {
            let bytes = std::fs::read(&path).unwrap();
            if bytes.windows(text.len()).any(|window| window == text.as_bytes()) {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

#[test]
fn a_developer_is_invited_logs_in_and_is_on_record() {
    let home = Home::new();
    let server = home.up();
    let alone = home.run(&[]).expect(0).stdout;
    assert!(alone.contains("godel user invite"), "{alone}");
    home.run(&["project", "create", "web"]).expect(0);
    let dev = developer(&server, &home, "dev", "developer", &["--project", "web"]);
    assert!(!home.run(&[]).expect(0).stdout.contains("user invite"));
    let me = dev.run(&["whoami", "--json"]).expect(0).json();
    assert_eq!((&me["user"], &me["role"]), (&json!("dev"), &json!("developer")));
    assert_eq!((&me["server"], &me["tenant"]["name"]), (&json!(server.url()), &json!("default")));
    assert!(me["expiresAt"].is_string() && me["keyId"].is_string(), "{me}");
    let text = dev.run(&["whoami"]).expect(0).stdout;
    assert!(text.contains("role    developer") && text.contains(server.url()), "{text}");
    assert_eq!(dev.run(&["status", "--json"]).expect(0).json()["status"], "healthy");
    let shown = dev.run(&["user", "show", "dev"]).expect(0).stdout;
    assert!(shown.contains("projects  web"), "{shown}");
    dev.run(&["user", "list"]).refused(5, &["forbidden"]);
    dev.run(&["user", "show", "owner"]).refused(5, &["forbidden"]);
    let viewer = developer(&server, &home, "val", "viewer", &[]);
    viewer.run(&["project", "list"]).expect(0);
    viewer.run(&["project", "create", "mine"]).refused(5, &["godel explain forbidden"]);
    let denied = ["audit", "query", "--user", "val", "--result", "denied", "--json"];
    viewer.run(&[]).expect(0);
    let denied = home.run(&denied).expect(0).json();
    assert_eq!(denied["items"].as_array().unwrap().len(), 1, "{denied}");
    let act = &denied["items"][0];
    assert_eq!((&act["actor"], &act["address"]), (&json!("user:val"), &json!("127.0.0.1")));
    assert_eq!(act["resource"], "POST /api/v1/projects", "{denied}");
    assert!(act["agent"].as_str().unwrap().starts_with("godel/"), "{act}");
    let table = home.run(&["audit", "query", "--action", "user:*", "--since", "1h"]).expect(0);
    assert!(table.stdout.contains("user:create") && table.stdout.contains("127.0.0.1"));
    assert!(!table.stdout.contains("project:create"), "{table:?}");
    assert!(home.run(&["audit", "verify"]).expect(0).stdout.starts_with("the record is whole: "));
    // The key of the login is in its file alone.
    let login = std::fs::read_to_string(dev.data().join("login.json")).unwrap();
    let login: Value = serde_json::from_str(&login).unwrap();
    let key = login["key"].as_str().unwrap();
    let mode = std::fs::metadata(dev.data().join("login.json")).unwrap();
    assert_eq!(std::os::unix::fs::PermissionsExt::mode(&mode.permissions()) & 0o777, 0o600);
    assert_eq!(with_key(&home, key, &["whoami", "--json"]).expect(0).json()["user"], "dev");
    let table = home.run(&["audit", "query", "--until", "1d"]).expect(0).stdout;
    assert_eq!(table.lines().count(), 1, "nothing is that old: {table}");
    let out = dev.run(&["logout"]).expect(0).stdout;
    assert!(out.contains("the key works no more"), "{out}");
    with_key(&home, key, &["whoami"]).refused(5, &["unauthorized"]);
    assert_eq!(dev.run(&["logout"]).expect(0).stdout, "there was no login\n");
    dev.run(&["whoami"]).refused(6, &["no godel server runs on"]);
}

#[test]
fn a_login_can_be_refused_cut_short_or_made_with_a_key() {
    let home = Home::new();
    let server = home.up();
    let owner = std::fs::read_to_string(home.data().join("owner.key")).unwrap();
    let other = Home::new();
    let mut child = waiting(&other, server.url());
    let code = first_line(&mut child)["userCode"].clone();
    let refusal = json!({ "userCode": code, "approve": false });
    post(server.url(), "/auth/device/decision", Some(owner.trim()), &refusal);
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(5));
    assert!(String::from_utf8_lossy(&ended.stderr).contains("device_refused"));
    let mut child = waiting(&other, server.url());
    first_line(&mut child);
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(ended.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "not logged in\n");
    assert!(!other.data().join("login.json").exists());
    piped(&other, &["login", server.url(), "--key-stdin"], "nonsense\n")
        .refused(5, &["this is not a Godel API key"]);
    let stranger = format!("godel_sk_{}\n", "A".repeat(43));
    piped(&other, &["login", server.url(), "--key-stdin"], &stranger).refused(5, &["unauthorized"]);
    other.run(&["login", server.url(), "--key-stdin"]).refused(2, &["no key was given"]);
    other.run(&["login", "nonsense"]).refused(2, &["is not the address of a server"]);
    let said = piped(&other, &["login", server.url(), "--key-stdin"], &owner).expect(0);
    assert!(said.stdout.contains("as owner (admin, tenant default)"), "{said:?}");
    assert!(!format!("{said:?}").contains(owner.trim()));
    assert_eq!(other.run(&["whoami", "--json"]).expect(0).json()["user"], "owner");
    // A key that was brought along is forgotten, not ended.
    assert!(other.run(&["logout"]).expect(0).stdout.contains("was not revoked"));
    home.run(&["whoami"]).expect(0);
    piped(&other, &["login", server.url(), "--key-stdin"], &owner).expect(0);
    // A key of a login is for its server only.
    let elsewhere = Home::new();
    let second = elsewhere.up();
    other.run(&["whoami", "--server", second.url()]).refused(5, &["unauthorized"]);
    assert_eq!(server.stop().code(), Some(0));
    other.run(&["whoami"]).refused(6, &["`godel logout` forgets it", "no godel server answers"]);
    std::fs::write(other.data().join("login.json"), "{").unwrap();
    other.run(&["whoami"]).refused(5, &["does not hold a login", "godel logout"]);
    let out = other.run(&["logout"]).expect(0);
    assert!(
        out.stderr.contains("does not hold a login") && !other.data().join("login.json").exists()
    );
}

#[test]
fn a_record_that_was_altered_is_noticed_with_the_row() {
    let home = Home::new();
    let server = home.up();
    home.run(&["project", "create", "web"]).expect(0);
    home.run(&["user", "invite", "dev", "--role", "viewer"]).expect(0);
    let acts =
        home.run(&["audit", "query", "--action", "project:create", "--json"]).expect(0).json();
    let row = acts["items"][0]["seq"].as_i64().unwrap();
    let all = home.run(&["audit", "export"]).expect(0).stdout;
    let first: Value = serde_json::from_str(all.lines().last().unwrap()).unwrap();
    assert_eq!(first["seq"], 1, "the export reaches the beginning");
    assert_eq!(server.stop().code(), Some(0));
    let file = rusqlite::Connection::open(home.data().join("godel.db")).unwrap();
    let changed = file.execute("UPDATE audit SET action = 'project:delete' WHERE seq = ?1", [row]);
    assert_eq!(changed.unwrap(), 1);
    drop(file);
    let _server = home.up();
    home.run(&["audit", "verify"])
        .refused(1, &[&format!("altered at row {row}: "), "godel explain audit_broken"]);
    let said = home.run(&["audit", "verify", "--json"]).expect(1);
    let body: Value = serde_json::from_str(&said.stderr).unwrap();
    assert_eq!(body["error"]["code"], "audit_broken");
}

#[test]
fn a_secret_is_set_and_listed_and_never_seen_again() {
    let home = Home::new();
    let server = home.up();
    let value = "sk-quite-secret-0123456789-wxyz";
    let mut said =
        vec![piped(&home, &["secret", "set", "an/odd name"], &format!("{value}\n")).expect(0)];
    said.push(piped(&home, &["secret", "set", "anthropic", "--json"], value).expect(0));
    said.push(piped(&home, &["secret", "set", "anthropic"], value).expect(0));
    assert_eq!(said[2].stdout, "secret anthropic is set, version 2\n");
    said.push(home.run(&["secret", "list"]).expect(0));
    assert!(
        said[3].stdout.contains("..wxyz") && said[3].stdout.contains("an/odd name"),
        "{said:?}"
    );
    assert_eq!(said[3].stderr, "", "nothing is old yet");
    said.push(home.run(&["secret", "list", "--json"]).expect(0));
    said.push(home.run(&["audit", "export"]).expect(0));
    said.push(home.run(&["events", "list", "--json", "--limit", "100"]).expect(0));
    said.push(home.run(&["secret", "set", "empty"]));
    assert!(said[7].code == 2 && said[7].stderr.contains("no value was given"));
    home.run(&["secret", "remove", "anthropic"]).refused(2, &["--yes"]);
    home.run(&["secret", "remove", "an/odd name", "--yes"]).expect(0);
    home.run(&["secret", "remove", "an/odd name", "--yes"]).refused(3, &["secret_not_found"]);
    assert_eq!(server.stop().code(), Some(0));
    let said = format!("{said:?}{}", home.log());
    assert!(!said.contains("quite-secret"), "{said}");
    assert_eq!(holds(home.path(), "quite-secret"), Vec::<String>::new());
}

#[test]
fn a_terminal_does_not_show_what_is_typed() {
    use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
    let home = Home::new();
    let _server = home.up();
    let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&master).unwrap();
    unlockpt(&master).unwrap();
    let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
    let terminal = std::fs::File::options().read(true).write(true).open(name).unwrap();
    let mut command = home.command(&["secret", "set", "typed"]);
    command.stdin(terminal.try_clone().unwrap());
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut question = [0; 7];
    child.stderr.as_mut().unwrap().read_exact(&mut question).unwrap();
    assert_eq!(&question, b"value: ");
    let mut keyboard = std::fs::File::from(master);
    keyboard.write_all(b"typed-in-the-dark\n").unwrap();
    let ended = child.wait_with_output().unwrap();
    assert_eq!(String::from_utf8_lossy(&ended.stdout), "secret typed is set, version 1\n");
    // The echo is on again, so this shows, and what came before does not.
    keyboard.write_all(b"seen\n").unwrap();
    let mut screen = String::new();
    BufReader::new(keyboard).read_line(&mut screen).unwrap();
    assert_eq!(screen.trim(), "seen");
}

#[test]
fn keys_are_narrow_rotate_with_grace_and_end() {
    let home = Home::new();
    let server = home.up();
    let made = home.run(&["key", "create", "ci", "--expires", "30d"]).expect(0);
    assert!(made.stdout.starts_with("godel_sk_") && made.stdout.lines().count() == 1, "{made:?}");
    assert!(made.stderr.contains("key \"ci\" until ") && !made.stderr.contains("godel_sk_"));
    let old = made.stdout.trim().to_owned();
    let turned = home.run(&["key", "rotate", "ci", "--grace", "1h"]).expect(0);
    let new = turned.stdout.trim().to_owned();
    assert!(turned.stderr.contains("goes on until"), "{turned:?}");
    for key in [&old, &new] {
        with_key(&home, key, &["events", "list"]).expect(0);
    }
    home.run(&["key", "revoke", "ci"])
        .refused(2, &["\"ci\" stands for 2 keys", &old[..13], &new[..13]]);
    home.run(&["key", "revoke", &old[..13]]).expect(0);
    with_key(&home, &old, &["events", "list"]).refused(5, &["unauthorized"]);
    with_key(&home, &new, &["events", "list"]).expect(0);
    home.run(&["key", "rotate", "ci", "--grace", "31d"]).refused(2, &["at most 30 days"]);
    let last = home.run(&["key", "rotate", "ci", "--grace", "0s", "--json"]).expect(0).json();
    with_key(&home, &new, &["events", "list"]).refused(5, &["unauthorized"]);
    home.run(&["key", "revoke", last["id"].as_str().unwrap()]).expect(0);
    home.run(&["key", "revoke", "ci"]).refused(3, &["key_not_found"]);
    let narrow = ["key", "create", "reader", "--scope", "event:read:team"];
    let narrow = home.run(&narrow).expect(0).stdout;
    with_key(&home, narrow.trim(), &["events", "list"]).expect(0);
    with_key(&home, narrow.trim(), &["project", "list"]).refused(5, &["forbidden"]);
    home.run(&["key", "create", "x", "--scope", "nonsense"]).refused(2, &["event:read:team"]);
    let dev = developer(&server, &home, "dev", "developer", &[]);
    dev.run(&["key", "create", "own"]).expect(0);
    let own = dev.run(&["key", "list", "--json"]).expect(0).json();
    assert_eq!(own["items"].as_array().unwrap().len(), 2, "{own}");
    dev.run(&["key", "list", "--all"]).refused(5, &["forbidden"]);
    let all = home.run(&["key", "list", "--all"]).expect(0).stdout;
    assert!(all.contains("dev") && all.contains("owner") && all.contains("revoked"), "{all}");
    assert!(home.run(&["key", "list", "--user", "dev"]).expect(0).stdout.contains("own "));
    dev.run(&["key", "revoke", "own"]).expect(0);
    let made = home.run(&["key", "create", "for-dev", "--user", "dev"]).expect(0).stdout;
    assert_eq!(with_key(&home, made.trim(), &["whoami", "--json"]).json()["user"], "dev");
}

#[test]
fn a_new_master_key_takes_over_and_the_old_one_is_refused() {
    let home = Home::new();
    home.run(&["secret", "rotate-master"]).refused(2, &["there is no database"]);
    let server = home.up();
    home.run(&["secret", "rotate-master"]).refused(4, &["data_dir_locked"]);
    home.run(&["doctor"]).expect(0);
    piped(&home, &["secret", "set", "one"], "some value").expect(0);
    assert_eq!(server.stop().code(), Some(0));
    let key = home.data().join("master.key");
    let before = std::fs::read_to_string(&key).unwrap();
    let said = home.run(&["secret", "rotate-master"]).expect(0);
    let after = std::fs::read_to_string(&key).unwrap();
    assert_ne!(before, after);
    for secret in [before.trim(), after.trim()] {
        assert!(!format!("{said:?}").contains(secret));
    }
    assert_eq!(std::fs::read_to_string(home.data().join("master.key.old")).unwrap(), before);
    let doctor = home.run(&["doctor", "--listen", "127.0.0.1:0"]).expect(0).stdout;
    assert!(doctor.contains("master.key opens the database"), "{doctor}");
    let server = home.up();
    let listed = home.run(&["secret", "list", "--json"]).expect(0).json();
    assert_eq!(listed["items"][0]["name"], "one");
    home.run(&["audit", "verify"]).expect(0);
    let acts =
        home.run(&["audit", "query", "--action", "server:rotate", "--json"]).expect(0).json();
    assert_eq!(acts["items"].as_array().unwrap().len(), 1, "{acts}");
    assert_eq!(server.stop().code(), Some(0));
    home.run(&["secret", "rotate-master"]).refused(2, &["master.key.old is there"]);
    std::fs::write(&key, &before).unwrap();
    home.run(&["up", "--listen", "127.0.0.1:0"]).refused(2, &["godel explain master_key_wrong"]);
    let doctor = home.run(&["doctor", "--listen", "127.0.0.1:0"]).expect(1).stdout;
    assert!(doctor.contains("FAIL  master key") && doctor.contains("does not open"), "{doctor}");
    // A rotation that was cut off before its last step is finished by the next start.
    let new = home.data().join("master.key.new");
    std::fs::write(&new, &after).unwrap();
    let private = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o600);
    std::fs::set_permissions(&new, private).unwrap();
    home.run(&["doctor", "--listen", "127.0.0.1:0"]).expect(0);
    assert!(new.exists(), "a check changes nothing");
    let _server = home.up();
    assert_eq!(std::fs::read_to_string(&key).unwrap(), after);
    assert!(!new.exists());
    home.run(&["audit", "verify"]).expect(0);
}

#[test]
fn a_rotation_that_is_killed_leaves_a_database_that_opens() {
    let home = Home::new();
    home.up().kill();
    for round in 0..8 {
        let mut command = home.command(&["secret", "rotate-master"]);
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(10 * round));
        child.kill().unwrap();
        child.wait().unwrap();
        let server = home.up();
        home.run(&["audit", "verify"]).expect(0);
        assert_eq!(server.stop().code(), Some(0));
        assert!(home.data().join("master.key").exists());
        // It is there if the rotation got that far, or the start finished it.
        std::fs::remove_file(home.data().join("master.key.old")).ok();
    }
}

#[test]
fn on_postgres_a_new_master_key_takes_over_too() {
    let Some(server) = postgres_url() else {
        eprintln!("skipped on PostgreSQL: no server (run `cargo xtask test`)");
        return;
    };
    let database = Database::postgres(server);
    let DatabaseUrl::Postgres(url) = database.url() else { panic!("another engine") };
    let home = Home::new().with("GODEL_DATABASE_URL", &url);
    let server = home.up();
    piped(&home, &["secret", "set", "one"], "some value").expect(0);
    home.run(&["secret", "rotate-master"]).refused(4, &["data_dir_locked"]);
    assert_eq!(server.stop().code(), Some(0));
    home.run(&["secret", "rotate-master"]).expect(0);
    let _server = home.up();
    home.run(&["audit", "verify"]).expect(0);
    let doctor = home.run(&["doctor"]).expect(0).stdout;
    assert!(doctor.contains("master.key opens the database"), "{doctor}");
    let old = std::fs::read_to_string(home.data().join("master.key.old")).unwrap();
    let other = Home::new().with("GODEL_DATABASE_URL", &url).with("GODEL_MASTER_KEY", old.trim());
    other.run(&["up", "--listen", "127.0.0.1:0"]).refused(2, &["master_key_wrong"]);
    other.run(&["secret", "rotate-master"]).refused(2, &["`master.key`"]);
}

#[test]
fn an_erased_person_is_nowhere_and_the_record_holds() {
    let home = Home::new();
    let server = home.up();
    let name = "quentin-quill";
    let dev = developer(&server, &home, name, "developer", &[]);
    for _ in 0..20 {
        dev.run(&["events", "publish", "build:done"]).expect(0);
    }
    assert!(!holds(&home.data(), name).is_empty(), "the search finds nothing at all");
    piped(&dev, &["user", "password"], "a long enough password\n").expect(0);
    piped(&dev, &["user", "password"], "short\n").refused(2, &["current_password_needed"]);
    let export = dev.run(&["user", "export", name]).expect(0).json();
    assert_eq!(export["user"]["name"], name);
    assert!(export["acts"].as_array().unwrap().len() > 1 && !export["keys"][0].is_null());
    home.run(&["user", "erase", name]).refused(2, &["--yes", "export"]);
    home.run(&["user", "erase", name, "--yes"]).expect(0);
    dev.run(&["whoami"]).refused(5, &["unauthorized"]);
    home.run(&["user", "show", name]).refused(3, &["user_not_found"]);
    home.run(&["audit", "verify"]).expect(0);
    for command in [
        &["user", "list", "--json"][..],
        &["key", "list", "--all", "--json"],
        &["audit", "export"],
        &["events", "list", "--limit", "1000", "--json"],
        &["events", "tail", "--after", "0", "--limit", "5", "--json"],
    ] {
        let said = home.run(command).expect(0);
        assert!(!said.stdout.contains(name), "{command:?}: {said:?}");
    }
    assert_eq!(server.stop().code(), Some(0));
    assert_eq!(holds(&home.data(), name), Vec::<String>::new());
    let _server = home.up();
    home.run(&["audit", "verify"]).expect(0);
}

#[test]
fn users_change_and_the_last_admin_stays() {
    let home = Home::new();
    let server = home.up();
    home.run(&["project", "create", "web"]).expect(0);
    home.run(&["project", "create", "api"]).expect(0);
    let dev = developer(&server, &home, "dev", "viewer", &[]);
    home.run(&["user", "invite", "dev", "--role", "viewer"]).refused(4, &["user_name_taken"]);
    home.run(&["user", "invite", "x", "--role", "king"]).refused(2, &["admin, operator"]);
    home.run(&["user", "invite", "x", "--role", "viewer", "--project", "none"])
        .refused(3, &["there is no project \"none\""]);
    home.run(&["user", "invite", " ", "--role", "viewer"]).refused(2, &["invalid_name"]);
    home.run(&["user", "role", "dev", "operator"]).expect(0);
    assert_eq!(dev.run(&["whoami", "--json"]).expect(0).json()["role"], "operator");
    let set = home.run(&["user", "project", "dev", "--set", "web,api"]).expect(0).stdout;
    assert!(set.contains("projects  web, api"), "{set}");
    home.run(&["user", "project", "dev"]).refused(2, &["--set"]);
    let all = home.run(&["user", "project", "dev", "--all", "--json"]).expect(0).json();
    assert_eq!(all["projects"], json!([]));
    home.run(&["user", "disable", "dev"]).expect(0);
    dev.run(&["whoami"]).refused(5, &["unauthorized"]);
    home.run(&["user", "link", "dev"]).refused(2, &["enable it first"]);
    home.run(&["user", "enable", "dev"]).expect(0);
    dev.run(&["whoami"]).expect(0);
    let link = home.run(&["user", "link", "dev", "--json"]).expect(0).json();
    assert!(link["link"].as_str().unwrap().starts_with(server.url()), "{link}");
    home.run(&["user", "role", "owner", "viewer"]).refused(4, &["last_admin"]);
    let listed = home.run(&["user", "list"]).expect(0).stdout;
    assert!(listed.starts_with("NAME ") && listed.contains("operator"), "{listed}");
}

#[test]
fn projects_have_limits_in_units_of_people() {
    let home = Home::new();
    let _server = home.up();
    let create = [
        "project",
        "create",
        "web",
        "--description",
        "the site",
        "--budget",
        "200/month",
        "--rate",
        "100/min",
        "--max-agents",
        "20",
        "--cpu",
        "8",
        "--memory",
        "16Gi",
        "--models",
        "claude-*,gpt-*",
        "--json",
    ];
    let made = home.run(&create).expect(0).json();
    let limits = json!({ "maxAgents": 20, "cpuMillis": 8_000, "memoryBytes": 16_u64 << 30,
        "requestsPerMinute": 100, "monthlyBudgetMicros": 200_000_000,
        "models": ["claude-*", "gpt-*"] });
    assert_eq!(made["limits"], limits);
    home.run(&create[..3]).refused(4, &["project_name_taken"]);
    let update =
        ["project", "update", "web", "--budget", "49.50", "--rate", "none", "--models", "all"];
    let shown = home.run(&update).expect(0).stdout;
    for part in ["$49.50/month", "8 cores", "16.0 GiB", "the site"] {
        assert!(shown.contains(part), "no {part:?} in {shown}");
    }
    assert!(!shown.contains("rate") && !shown.contains("models"), "{shown}");
    assert!(
        home.run(&["project", "update", "web"]).expect(0).stderr.contains("nothing was changed")
    );
    home.run(&["project", "update", "web", "--name", "site"]).expect(0);
    assert!(home.run(&["project", "list"]).expect(0).stdout.contains("budget $49.50/month"));
    for (flag, bad) in [
        ("--budget", "200/year"),
        ("--rate", "fast"),
        ("--max-agents", "0"),
        ("--cpu", "8 cores"),
        ("--memory", "16 gigs"),
        ("--models", ","),
    ] {
        home.run(&["project", "update", "site", flag, bad]).refused(2, &[flag, bad, "write "]);
    }
    home.run(&["project", "show", "web"]).refused(3, &["godel project list"]);
    home.run(&["project", "delete", "site"]).refused(2, &["--yes"]);
    home.run(&["project", "delete", "site", "--yes"]).expect(0);
    assert_eq!(home.run(&["project", "list", "--json"]).expect(0).json()["items"], json!([]));
    for bad in ["soon", "1y", "-1d"] {
        let since = format!("--since={bad}");
        home.run(&["audit", "query", &since]).refused(2, &["--since", "a span such as 1d"]);
        let expires = format!("--expires={bad}");
        home.run(&["key", "create", "x", &expires]).refused(2, &["--expires", "30d or 2w"]);
    }
}

#[test]
fn tenants_open_close_and_see_nothing_of_each_other() {
    let home = Home::new();
    let address = lasting_address();
    let server = home.up_with(&["--listen", &address]);
    home.run(&["project", "create", "web"]).expect(0);
    let link = home.run(&["tenant", "create", "acme"]).expect(0).stdout;
    let token = link.trim().split_once("#token=").unwrap().1;
    let login = json!({ "token": token, "wants": "tokens" });
    let session = post(server.url(), "/auth/login", None, &login);
    assert_eq!(session["data"]["tenant"]["name"], "acme", "{session}");
    let access = session["data"]["tokens"]["accessToken"].as_str().unwrap();
    let made = post(server.url(), "/api/v1/keys", Some(access), &json!({ "name": "cli" }));
    let key = made["data"]["key"].as_str().unwrap();
    let projects = with_key(&home, key, &["project", "list", "--json"]).expect(0).json();
    assert_eq!(projects["items"], json!([]));
    with_key(&home, key, &["tenant", "list"]).refused(5, &["forbidden"]);
    home.run(&["tenant", "create", "acme"]).refused(4, &["tenant_name_taken"]);
    home.run(&["tenant", "disable", "acme"]).expect(0);
    with_key(&home, key, &["whoami"]).refused(5, &["unauthorized"]);
    assert!(home.run(&["tenant", "list"]).expect(0).stdout.contains("closed "));
    home.run(&["tenant", "enable", "acme"]).expect(0);
    with_key(&home, key, &["whoami"]).expect(0);
    home.run(&["tenant", "disable", "none"]).refused(3, &["tenant_not_found"]);
}

#[test]
fn a_lost_master_key_costs_the_secrets_and_a_mislaid_one_nothing() {
    use std::os::unix::fs::PermissionsExt as _;
    let home = Home::new();
    let server = home.up();
    piped(&home, &["secret", "set", "anthropic"], "sk-ant-0123456789abcdef").expect(0);
    home.run(&["secret", "reset-master", "--yes"]).refused(4, &["data_dir_locked"]);
    assert!(server.stop().success());
    home.run(&["secret", "reset-master"]).refused(2, &["--yes"]);
    home.run(&["secret", "reset-master", "--yes"]).refused(2, &["opens the database"]);
    let file = home.data().join("master.key");
    let mode = |mode| std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode));
    mode(0o644).unwrap();
    home.run(&["secret", "reset-master", "--yes"]).refused(2, &["chmod 600"]);
    mode(0o600).unwrap();
    assert!(home.up().stop().success());
    let key = std::fs::read_to_string(&file).unwrap();
    std::fs::remove_file(&file).unwrap();
    home.run(&["up", "--listen", "127.0.0.1:0"]).refused(2, &["master_key_wrong"]);
    assert!(!file.exists(), "no key was made that opens nothing");
    let told = home.run(&["secret", "reset-master", "--yes", "--json"]).expect(0).json();
    assert_eq!(told["secretsRemoved"], 1);
    let server = home.up();
    assert_eq!(home.run(&["secret", "list", "--json"]).expect(0).json()["items"], json!([]));
    home.run(&["audit", "verify"]).expect(0);
    assert!(server.stop().success());
    // The old key is found again: it opens nothing any more, and is kept when it is given up.
    std::fs::write(&file, &key).unwrap();
    home.run(&["up", "--listen", "127.0.0.1:0"]).refused(2, &["master_key_wrong"]);
    home.run(&["secret", "reset-master", "--yes"]).expect(0);
    assert_eq!(std::fs::read_to_string(home.data().join("master.key.old")).unwrap(), key);
    drop(home.up());
}

#[test]
fn views_are_kept_under_names() {
    let home = Home::new();
    let server = home.up();
    let said = home.run(&["view", "save", "Ready", "status:open -label:later"]).expect(0).stdout;
    assert_eq!(said, "you have the view \"Ready\" now: status:open -label:later\n");
    // The same name gets the new query.
    home.run(&["view", "save", "ready", "-status:done", "--shared"]).expect(0);
    let eve = developer(&server, &home, "eve", "viewer", &[]);
    let listed = eve.run(&["view", "list"]).expect(0).stdout;
    let line = listed.lines().nth(1).unwrap_or_default();
    assert!(
        ["beads", "ready", "shared", "-status:done"].iter().all(|part| line.contains(part)),
        "{listed}"
    );
    eve.run(&["view", "save", "Mine", "updated:<2d", "--shared"]).refused(5, &["forbidden"]);
    eve.run(&["view", "delete", "ready"]).refused(3, &["view_not_found"]);
    home.run(&["view", "save", "Odd", "status:opne"]).refused(2, &["did you mean open?"]);
    assert_eq!(
        home.run(&["view", "delete", "READY"]).expect(0).stdout,
        "the view \"ready\" is gone\n"
    );
    assert_eq!(home.run(&["view", "list", "--json"]).expect(0).json(), json!({ "items": [] }));
}
