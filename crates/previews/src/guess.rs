//! How an app is started, by the files of its repository.

use std::collections::BTreeMap;

use serde_json::Value;

/// The files that tell something.
pub(crate) const TELLING: [&str; 4] =
    ["package.json", "index.html", "public/index.html", "dist/index.html"];
/// The scripts of a package that start an app, the best one first.
const SCRIPTS: [&str; 4] = ["dev", "start", "serve", "preview"];

/// Returns the command that starts an app, if the files tell.
pub(crate) fn command(files: &BTreeMap<&str, String>) -> Option<String> {
    files.get("package.json").and_then(|text| of_package(text)).or_else(|| {
        let page = TELLING.iter().skip(1).find(|name| files.contains_key(**name))?;
        let folder = page.strip_suffix("index.html").unwrap_or_default();
        let folder = if folder.is_empty() { "." } else { folder };
        Some(format!("exec godel preview files {folder}"))
    })
}

fn of_package(text: &str) -> Option<String> {
    let package: Value = serde_json::from_str(text).ok()?;
    let scripts = package.get("scripts")?;
    let script = |name: &&str| scripts.get(*name).and_then(Value::as_str);
    let (name, line) = SCRIPTS.iter().find_map(|name| Some((name, script(name)?)))?;
    let more = of_program(line);
    // Files of packages are not in git, so that a new worktree has none.
    Some(format!(
        "test -d node_modules || npm install --no-audit --no-fund || exit\nexec npm run {name}{more}"
    ))
}

/// Returns how a program is told its port if it does not look at `PORT`.
fn of_program(line: &str) -> &'static str {
    let has =
        |name: &str| line.split_whitespace().any(|word| word.rsplit('/').next() == Some(name));
    if has("vite") {
        " -- --port $PORT --strictPort --host 127.0.0.1"
    } else if has("astro") || has("nuxt") || has("parcel") || has("ng") {
        " -- --port $PORT --host 127.0.0.1"
    } else if has("serve") {
        " -- -l tcp://127.0.0.1:$PORT"
    } else if has("http-server") {
        " -- -p $PORT -a 127.0.0.1"
    } else {
        ""
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(files: &[(&'static str, &str)]) -> Option<String> {
        command(&files.iter().map(|(name, text)| (*name, (*text).to_owned())).collect())
    }

    #[test]
    fn a_package_is_started_by_its_best_script_with_its_port() {
        let vite = r#"{"scripts":{"build":"vite build","preview":"vite preview","dev":"vite"}}"#;
        let said = of(&[("package.json", vite), ("index.html", "")]).unwrap();
        assert!(said.ends_with("exec npm run dev -- --port $PORT --strictPort --host 127.0.0.1"));
        assert!(said.starts_with("test -d node_modules || npm install"), "{said}");
        let next = r#"{"scripts":{"start":"next start","dev":"next dev"}}"#;
        assert!(of(&[("package.json", next)]).unwrap().ends_with("exec npm run dev"));
        let own = r#"{"scripts":{"start":"node ./bin/serve"}}"#;
        assert!(
            of(&[("package.json", own)])
                .unwrap()
                .ends_with("npm run start -- -l tcp://127.0.0.1:$PORT")
        );
    }

    #[test]
    fn pages_are_served_as_they_are() {
        assert_eq!(of(&[("index.html", "")]).unwrap(), "exec godel preview files .");
        assert_eq!(of(&[("public/index.html", "")]).unwrap(), "exec godel preview files public/");
        let library = r#"{"scripts":{"test":"vitest"}}"#;
        assert_eq!(
            of(&[("package.json", library), ("dist/index.html", "")]).unwrap(),
            "exec godel preview files dist/"
        );
    }

    #[test]
    fn what_tells_nothing_is_not_guessed() {
        assert_eq!(of(&[]), None);
        for text in ["", "[]", "{", r#"{"scripts":[]}"#, r#"{"scripts":{"dev":1}}"#] {
            assert_eq!(of(&[("package.json", text)]), None, "{text}");
        }
    }
}
