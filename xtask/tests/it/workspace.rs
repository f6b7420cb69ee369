//! The workspace as plain data, read through `cargo metadata`.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// A dependency on another crate of the workspace.
#[derive(Debug, Clone)]
pub(crate) struct Arrow {
    pub(crate) to: String,
    /// Whether only tests use it.
    pub(crate) dev: bool,
}

/// One crate of the workspace.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    /// The value of `[package.metadata.godel] layer`.
    pub(crate) layer: Value,
    pub(crate) arrows: Vec<Arrow>,
}

/// One package of the resolved graph, ours or not.
#[derive(Debug, Clone)]
pub(crate) struct Package {
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) licence: Option<String>,
}

/// All that the rules look at.
pub(crate) struct Workspace {
    pub(crate) root: PathBuf,
    pub(crate) members: Vec<Member>,
    pub(crate) graph: Vec<Package>,
}

impl Workspace {
    /// Reads the workspace that this test belongs to, as it is resolved for this host.
    pub(crate) fn load() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned();
        let output = Command::new(env!("CARGO"))
            .args(["metadata", "--format-version", "1", "--offline", "--filter-platform", &host()])
            .current_dir(&root)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
        Self { root, members: members(&metadata), graph: graph(&metadata) }
    }

    /// Reads a file of the workspace.
    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.root.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The manifest of every member, by its name.
    pub(crate) fn manifests(&self) -> Vec<(String, String)> {
        let read = |member: &Member| fs::read_to_string(member.folder.join("Cargo.toml")).unwrap();
        self.members.iter().map(|member| (member.name.clone(), read(member))).collect()
    }
}

fn host() -> String {
    let output = Command::new("rustc").arg("-vV").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().find_map(|line| line.strip_prefix("host: ")).unwrap().to_owned()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().into_iter().flatten()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

fn members(metadata: &Value) -> Vec<Member> {
    let ids: HashSet<&str> =
        list(&metadata["workspace_members"]).filter_map(Value::as_str).collect();
    let packages: Vec<&Value> = list(&metadata["packages"])
        .filter(|package| package["id"].as_str().is_some_and(|id| ids.contains(id)))
        .collect();
    let names: HashSet<String> = packages.iter().map(|package| text(&package["name"])).collect();
    let member = |package: &&Value| Member {
        name: text(&package["name"]),
        folder: Path::new(&text(&package["manifest_path"])).parent().unwrap().to_owned(),
        layer: package["metadata"]["godel"]["layer"].clone(),
        arrows: list(&package["dependencies"])
            .filter(|dependency| names.contains(&text(&dependency["name"])))
            .map(|dependency| Arrow {
                to: text(&dependency["name"]),
                dev: dependency["kind"] == "dev",
            })
            .collect(),
    };
    packages.iter().map(member).collect()
}

fn graph(metadata: &Value) -> Vec<Package> {
    let nodes: HashSet<&str> =
        list(&metadata["resolve"]["nodes"]).filter_map(|node| node["id"].as_str()).collect();
    list(&metadata["packages"])
        .filter(|package| package["id"].as_str().is_some_and(|id| nodes.contains(id)))
        .map(|package| Package {
            name: text(&package["name"]),
            version: text(&package["version"]),
            licence: package["license"].as_str().map(str::to_owned),
        })
        .collect()
}
