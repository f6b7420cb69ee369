//! Accounts at the command line: the own password, a closed owner, lists that are too long.

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};

use serde_json::json;

use crate::home::Home;
use crate::people::{developer, piped};

#[test]
fn the_own_password_is_changed_by_who_knows_it() {
    let home = Home::new();
    let server = home.up();
    let dev = developer(&server, &home, "dev", "developer", &[]);
    piped(&dev, &["user", "password"], "the first password\n").expect(0);
    let blind = piped(&dev, &["user", "password"], "the second password\n");
    blind.refused(2, &["current_password_needed", "--current-file"]);
    let file = dev.path().join("old");
    let change = ["user", "password", "--current-file", file.to_str().unwrap()];
    piped(&dev, &change, "the second password\n").refused(1, &["could not be read"]);
    std::fs::write(&file, "not the password\n").unwrap();
    piped(&dev, &change, "the second password\n").refused(5, &["wrong_password"]);
    std::fs::write(&file, "the first password\n").unwrap();
    piped(&dev, &change, "short\n").refused(2, &["12"]);
    piped(&dev, &change, "the second password\n").expect(0);
    piped(&dev, &change, "the third password\n").refused(5, &["wrong_password"]);
    // An admin helps whoever forgot it.
    home.run(&["user", "link", "dev"]).expect(0);
    piped(&dev, &["user", "password"], "the third password\n").expect(0);
}

#[test]
fn a_closed_owner_gets_no_keys_and_links_that_open_nothing() {
    let home = Home::new();
    let server = home.up();
    let boss = developer(&server, &home, "boss", "admin", &[]);
    let address = server.url().trim_start_matches("http://").to_owned();
    boss.run(&["user", "disable", "owner"]).expect(0);
    let count = || {
        let keys = boss.run(&["key", "list", "--all", "--json"]).expect(0).json();
        keys["items"].as_array().unwrap().len()
    };
    let keys = count();
    let key = std::fs::read_to_string(home.data().join("owner.key")).unwrap();
    assert_eq!(server.stop().code(), Some(0));
    for _ in 0..3 {
        let server = home.up_with(&["--listen", &address]);
        assert!(server.said["loginLink"].is_null(), "{}", server.said);
        assert_eq!(count(), keys);
        assert!(home.log().contains("godel user enable owner"), "{}", home.log());
        assert_eq!(server.stop().code(), Some(0));
    }
    assert_eq!(std::fs::read_to_string(home.data().join("owner.key")).unwrap(), key);
    let server = home.up_with(&["--listen", &address]);
    boss.run(&["user", "enable", "owner"]).expect(0);
    home.run(&["whoami"]).expect(0);
    assert_eq!(server.stop().code(), Some(0));
    let server = home.up_with(&["--listen", &address]);
    assert!(server.said["loginLink"].is_string());
}

/// Answers as a server whose lists never end.
fn endless() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        while let Ok((stream, _)) = listener.accept() {
            std::thread::spawn(move || serve(stream));
        }
    });
    url
}

fn serve(stream: TcpStream) {
    let health = json!({ "status": "healthy", "version": "1", "checks": {},
        "timestamp": "2026-01-15T10:30:00Z" });
    let user = json!({ "id": "01890000-0000-7000-8000-000000000001", "name": "ann",
        "role": "viewer", "status": "active", "projects": [], "createdAt": "2026-01-15T10:30:00Z" });
    let items: Vec<_> = (0..100).map(|_| &user).collect();
    let pagination = json!({ "limit": 100, "cursor": "next", "hasMore": true });
    let page = json!({ "success": true, "data": { "items": items, "pagination": pagination } });
    let (health, page) = (health.to_string(), page.to_string());
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut writer = stream;
    loop {
        let mut first = String::new();
        if reader.read_line(&mut first).unwrap_or_default() == 0 {
            return;
        }
        let mut line = String::new();
        while reader.read_line(&mut line).unwrap_or_default() > 2 {
            line.clear();
        }
        let body = if first.contains("/health") { &health } else { &page };
        let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length:";
        write!(writer, "{head} {}\r\n\r\n{body}", body.len()).unwrap();
    }
}

#[test]
fn a_list_that_was_cut_short_says_so() {
    let home = Home::new().with("GODEL_KEY", &format!("godel_sk_{}", "A".repeat(43)));
    let url = endless();
    for more in [&["user", "list"][..], &["user", "list", "--json"]] {
        let said = home.run(&[more, &["--server", &url]].concat()).expect(0);
        assert!(said.stderr.contains("only the first 10000 are listed"), "{}", said.stderr);
        assert!(!said.stdout.contains("only the first"));
    }
}
