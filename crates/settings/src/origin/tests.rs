use godel_model::{Kind as Failure, Report as _};
use tempfile::TempDir;

use super::*;
use crate::settings::{Durability, Tier};

fn load(data: &Path, environment: Environment, flags: Vec<Flag<'_>>) -> Result<Loaded> {
    Loaded::load(&Sources { data, file: None, environment: &environment, flags })
}

fn with_file(text: &str) -> TempDir {
    let dir = TempDir::new().unwrap();
    std::fs::write(dir.path().join(CONFIG_FILE), text).unwrap();
    dir
}

fn message_of(text: &str) -> (String, String) {
    let dir = with_file(text);
    let error = load(dir.path(), [].into(), vec![]).unwrap_err();
    assert_eq!(error.kind(), Failure::InvalidRequest);
    (error.to_string(), error.hint().unwrap())
}

#[test]
fn later_layers_win_and_each_value_knows_its_origin() {
    let dir = with_file(
        "listen = \"127.0.0.1:1\"\ndurability = \"relaxed\"\n[log]\nlevel = \"warn\"\n[rate]\ntier = \"pro\"\n",
    );
    let environment = [
        ("GODEL_LOG_LEVEL", "debug"),
        ("GODEL_LISTEN", "127.0.0.1:2"),
        ("GODEL_RATE_PER_MINUTE", "7"),
    ];
    let flags = vec![Flag { key: "listen", flag: "--listen", value: "127.0.0.1:3".into() }];
    let loaded = load(dir.path(), environment.into(), flags).unwrap();
    let file = Origin::File(dir.path().join(CONFIG_FILE));
    assert_eq!(loaded.settings.listen, "127.0.0.1:3");
    assert_eq!(loaded.origin("listen"), Origin::Flag("--listen".to_owned()));
    assert_eq!(loaded.settings.log.level, "debug");
    assert_eq!(loaded.origin("log.level").to_string(), "environment GODEL_LOG_LEVEL");
    assert_eq!(loaded.settings.durability, Durability::Relaxed);
    assert_eq!(loaded.origin("durability"), file);
    assert_eq!((loaded.settings.rate.tier, loaded.origin("rate.tier")), (Tier::Pro, file));
    assert_eq!(loaded.settings.rate.per_minute, Some(7));
    assert_eq!(loaded.origin("server.drain_secs"), Origin::Default);
    assert_eq!(loaded.origin("redis.url"), Origin::Default);
}

#[test]
fn without_anything_the_defaults_hold() {
    let dir = TempDir::new().unwrap();
    let loaded = load(&dir.path().join("none"), [("GODEL_LISTEN", "")].into(), vec![]).unwrap();
    assert_eq!(loaded.settings, Settings::default());
    assert_eq!(loaded.file, None);
    for key in Settings::keys() {
        assert_eq!(loaded.origin(key.name), Origin::Default, "{}", key.name);
    }
}

#[test]
fn an_unknown_setting_is_refused_with_the_nearest_one() {
    let (message, hint) = message_of("listn = \"x\"");
    assert!(message.starts_with("`listn` is not a setting (file "), "{message}");
    assert_eq!(hint, "did you mean `listen`?");
    let (message, hint) = message_of("[rate]\nper_minut = 3");
    assert!(message.starts_with("`rate.per_minut` is not a setting (file "), "{message}");
    assert_eq!(hint, "did you mean `rate.per_minute`?");
}

#[test]
fn a_wrong_value_is_named_with_what_fits() {
    let (message, hint) = message_of("[rate]\ntier = \"gold\"");
    assert!(message.starts_with("`rate.tier` cannot be \"gold\" (file "), "{message}");
    assert_eq!(hint, "use one of: free, pro, enterprise");
    let (message, _) = message_of("[server]\ndrain_secs = \"soon\"");
    assert!(
        message.starts_with(
            "`server.drain_secs` must be a whole number from 0 to 4294967295, not string \"soon\""
        ),
        "{message}"
    );
    let (message, _) = message_of("[server]\ndrain_secs = -1");
    assert!(message.starts_with("`server.drain_secs`"), "{message}");
}

#[test]
fn what_is_no_toml_is_refused_without_showing_the_line() {
    let (message, _) = message_of("[database]\nurl = \"postgres://ann:s3cret@db/x\nx");
    assert!(message.starts_with("the configuration is not TOML"), "{message}");
    assert!(message.contains("line 2"), "{message}");
    assert!(!message.contains("s3cret"), "{message}");
}

#[test]
fn a_file_that_was_asked_for_must_be_there() {
    let dir = TempDir::new().unwrap();
    let file = dir.path().join("other.toml");
    let environment = Environment::default();
    let sources =
        Sources { data: dir.path(), file: Some(&file), environment: &environment, flags: vec![] };
    let error = Loaded::load(&sources).unwrap_err();
    assert!(error.to_string().contains("other.toml could not be read"), "{error}");
}

#[test]
fn of_two_settings_the_later_layer_wins() {
    let dir = with_file("[database]\nurl_file = \"/run/url\"");
    let flags = vec![Flag { key: "database.url", flag: "--database", value: "sqlite:///x".into() }];
    let loaded = load(dir.path(), [].into(), flags).unwrap();
    assert!(loaded.wins("database.url", "database.url_file").unwrap());
    let environment = [("GODEL_DATABASE_URL", "sqlite:///x"), ("GODEL_DATABASE_URL_FILE", "/y")];
    let loaded = load(dir.path(), environment.into(), vec![]).unwrap();
    assert!(loaded.wins("database.url", "database.url_file").is_err());
}
