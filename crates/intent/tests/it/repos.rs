//! Five small repositories, made by real git and looked at as Godel does.

use std::path::Path;
use std::process::Command;

use godel_model::Survey;
use tempfile::TempDir;

/// The names of the repositories.
pub(crate) const NAMES: [&str; 5] = ["shop", "mono", "rusty", "gosvc", "site"];

/// Files of a repository: where, and about how many lines.
fn files(name: &str) -> &'static [(&'static str, usize)] {
    match name {
        // A web shop in Python: one package, tests, migrations, docs.
        "shop" => &[
            ("requirements.txt", 3),
            ("README.md", 20),
            ("shop/__init__.py", 1),
            ("shop/auth.py", 220),
            ("shop/cart.py", 340),
            ("shop/orders.py", 410),
            ("shop/search.py", 150),
            ("shop/models.py", 260),
            ("tests/test_cart.py", 120),
            ("tests/test_auth.py", 60),
            ("migrations/001_start.sql", 40),
            ("docs/guide.md", 90),
        ],
        // Packages in TypeScript: what is shared, what answers, what is seen.
        "mono" => &[
            ("package.json", 12),
            ("packages/shared/src/types.ts", 180),
            ("packages/api/src/index.ts", 90),
            ("packages/api/src/users.ts", 320),
            ("packages/api/test/users.test.ts", 140),
            ("packages/web/src/app.tsx", 400),
            ("packages/web/src/cart.tsx", 260),
            ("packages/web/src/app.test.tsx", 80),
            ("docs/api.md", 60),
        ],
        // A workspace in Rust.
        "rusty" => &[
            ("Cargo.toml", 8),
            ("crates/core/src/lib.rs", 900),
            ("crates/parser/src/lib.rs", 1200),
            ("crates/server/src/main.rs", 500),
            ("crates/cli/src/main.rs", 300),
            ("crates/core/tests/core.rs", 200),
            ("README.md", 40),
        ],
        // A service in Go, with two things of one name.
        "gosvc" => &[
            ("go.mod", 5),
            ("cmd/server/main.go", 80),
            ("cmd/worker/main.go", 60),
            ("internal/worker/worker.go", 300),
            ("internal/auth/auth.go", 250),
            ("internal/auth/auth_test.go", 120),
            ("internal/store/store.go", 500),
            ("internal/http/router.go", 280),
            ("Dockerfile", 12),
        ],
        // Some pages without any test.
        "site" => &[("index.html", 80), ("contact.html", 40), ("style.css", 120), ("app.js", 60)],
        other => panic!("there is no repository {other}"),
    }
}

/// Makes a repository, and looks at it.
pub(crate) fn survey(name: &str) -> (TempDir, Survey) {
    let home = TempDir::with_prefix("godel intent ").unwrap();
    git(home.path(), &["init", "-q"]);
    for (path, lines) in files(name) {
        let path = home.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text = match path.ends_with("package.json") {
            true => "{\"scripts\": {\"test\": \"vitest\"}}\n".to_owned(),
            false => "some code that is thirty bytes\n".repeat(*lines),
        };
        std::fs::write(path, text).unwrap();
    }
    git(home.path(), &["add", "--all"]);
    git(home.path(), &["commit", "-qm", "first"]);
    let survey = godel_git::survey(home.path(), "HEAD").unwrap();
    (home, survey)
}

fn git(dir: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    let who = [
        "-c",
        "user.name=Ann",
        "-c",
        "user.email=ann@example.com",
        "-c",
        "init.defaultBranch=main",
    ];
    let status = command.current_dir(dir).args(who).args(arguments).status().unwrap();
    assert!(status.success(), "git {arguments:?}");
}
