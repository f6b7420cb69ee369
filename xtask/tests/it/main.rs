//! The house rules, checked against the real workspace.
//!
//! Each rule is a function from plain data to a list of complaints, with tests of its own that
//! see it complain; the tests here feed it the workspace.

#![cfg(test)]

mod files;
mod layers;
mod licences;
mod tenant;
mod workspace;

use workspace::Workspace;

/// Fails with every complaint at once.
fn assert_none(rule: &str, complaints: &[String]) {
    assert!(complaints.is_empty(), "{rule}:\n  {}", complaints.join("\n  "));
}

#[test]
fn dependencies_go_down_the_layers() {
    let workspace = Workspace::load();
    assert!(workspace.members.len() > 1, "the workspace was not read");
    assert_none("every crate uses only lower layers", &layers::check(&workspace.members));
}

#[test]
fn crates_and_files_stay_small() {
    let workspace = Workspace::load();
    let sources = files::sources(&workspace);
    assert!(sources.len() > 10, "the sources were not read");
    assert_none("crates and files stay small", &files::check_sizes(&sources));
}

#[test]
fn every_crate_takes_the_lints_of_the_workspace() {
    let workspace = Workspace::load();
    let manifests = workspace.manifests();
    assert_none("[lints] workspace = true", &files::check_lints(&manifests));
}

#[test]
fn dependencies_have_allowed_licences_and_none_is_banned() {
    let workspace = Workspace::load();
    let policy = licences::Policy::parse(&workspace.read("deny.toml"));
    assert!(workspace.graph.len() > 5, "the dependencies were not read");
    assert_none("deny.toml", &policy.check(&workspace.graph));
}

#[test]
fn the_tenant_is_set_for_one_transaction_only() {
    let workspace = Workspace::load();
    let texts = tenant::texts(&workspace.root);
    assert!(texts.len() > 10, "the files were not read");
    assert_none("set_config('app.tenant', .., true)", &tenant::check(&texts));
}
