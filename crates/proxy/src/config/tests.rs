use godel_llm::Dialect;

use super::*;

#[test]
fn without_a_file_the_well_known_providers_are_there() {
    let config = Config::read("").unwrap();
    for name in [
        "anthropic",
        "openai",
        "google",
        "openrouter",
        "deepseek",
        "moonshot",
        "mistral",
        "groq",
        "ollama",
    ] {
        assert!(config.providers.contains_key(name), "{name}");
    }
    assert_eq!(config.limits.agent.per_minute, Some(100));
    assert_eq!(config.limits.agent.per_day, Some(5_000));
    let openai = &config.providers["openai"];
    assert_eq!(openai.speaks(Dialect::Responses), Some(Dialect::Responses));
    assert_eq!(openai.speaks(Dialect::Anthropic), Some(Dialect::Chat));
    assert_eq!(config.providers["anthropic"].auth(Dialect::Anthropic), Auth::XApiKey);
}

#[test]
fn what_the_user_says_is_put_over_what_is_known() {
    let text = r#"
        [providers.openai]
        chat = "http://127.0.0.1:9/v1"
        [providers.mine]
        chat = "http://localhost:11434/v1"
        auth = "none"
        [aliases]
        fast = "gpt-5-nano"
        smart = ["claude-opus-5", "gpt-5"]
        [fallbacks]
        gpt-5 = ["claude-sonnet-5"]
    "#;
    let config = Config::read(text).unwrap();
    assert_eq!(config.providers["openai"].base(Dialect::Chat), Some("http://127.0.0.1:9/v1"));
    assert_eq!(config.providers["openai"].env, ["OPENAI_API_KEY"]);
    assert_eq!(config.order[..2], ["openai", "mine"], "as the file names them");
    assert_eq!(config.aliases["fast"], ["gpt-5-nano"]);
    assert_eq!(config.fallbacks["gpt-5"], ["claude-sonnet-5"]);
}

#[test]
fn what_makes_no_sense_is_refused_with_its_place() {
    for (text, why) in [
        ("[providers.x]\n", "provider x: it needs an address"),
        ("[providers.v1]\nchat = \"http://a\"", "provider v1: a name"),
        ("[providers.x]\nchat = \"ftp://a\"", "provider x: an address"),
        ("[providers.x]\nchat = \"http:///v1?a=b\"", "provider x: an address"),
        ("[providers.x]\nchat = \"http://a\"\nkey = \"sk\"", "provider x: unknown field"),
        ("surprise = 1", "surprise"),
        ("models = \"/nowhere/models.toml\"", "/nowhere/models.toml cannot be read"),
    ] {
        let error = Config::read(text).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}

#[test]
fn what_is_known_of_a_model_is_what_the_first_who_is_asked_says() {
    let config = Config::read(
        r#"
        [providers.aaa]
        chat = "http://aaa/v1"
        models = { "claude-sonnet-5" = "sonnet-at-aaa" }
        [providers.local]
        chat = "http://local/v1"
        auth = "none"
        prefixes = ["llama"]
        [aliases]
        fast = ["gpt-5-nano", "claude-haiku-5-5"]
        "#,
    )
    .unwrap();
    let own = r#"
        [[model]]
        name = "llama-4"
        provider = "local"
        context = 32_000
        [[model]]
        name = "sonnet-at-aaa"
        provider = "aaa"
        context = 64_000
    "#;
    let config = Config { registry: Registry::with(Some(own)).unwrap().into(), ..config };
    let window = |name| config.known_model(name).and_then(|model| model.context);
    assert_eq!(window("llama-4"), Some(32_000));
    assert_eq!(window("local/llama-4"), Some(32_000), "with the name of its provider");
    assert_eq!(window("claude-sonnet-5"), Some(64_000), "the user's own provider is first");
    assert_eq!(window("fast"), window("gpt-5-nano"), "an alias is its first model");
    assert!(window("fast").is_some());
    assert_eq!(window("llama-5"), None, "somebody answers, but nobody knows its size");
    assert_eq!(window("nobody-knows-it"), None);
    assert_eq!(window(""), None);
}

#[test]
fn machines_and_storage_cost_what_the_file_says_and_nothing_without_it() {
    assert!(Config::read("").unwrap().rates.is_empty());
    let rates =
        Config::read("[rates]\nstorage = 0.08\n[rates.runtime]\ngvisor = 0.109").unwrap().rates;
    assert_eq!(rates.storage_gb_month, Some(80_000));
    assert_eq!(rates.runtime_hour.get("gvisor"), Some(&109_000));
    assert_eq!(rates.runtime_hour.get("worktree"), None);
    for (text, why) in [
        ("[rates.runtime]\ngvisr = 0.1", "rates.runtime.gvisr: there is no such runtime"),
        ("[rates.runtime]\ngvisor = -0.1", "rates.runtime.gvisor: it must be between 0 and"),
        ("[rates]\nstorage = nan", "rates.storage: it must be between 0 and"),
        ("[rates]\nstore = 1", "unknown field"),
        ("[providers.runtime]\nchat = \"http://localhost/v1\"", "give it another one"),
    ] {
        let said = Config::read(text).unwrap_err().to_string();
        assert!(said.contains(why), "{text}: {said}");
    }
}

#[test]
fn an_address_may_have_a_query_that_goes_with_each_request() {
    let text = "[providers.azure]\nchat = \"https://x.example/openai/deployments/d?api-version=2024-10-21\"";
    let config = Config::read(text).unwrap();
    let azure = &config.providers["azure"];
    assert_eq!(azure.base(Dialect::Chat), Some("https://x.example/openai/deployments/d"));
    assert_eq!(azure.query(Dialect::Chat), Some("api-version=2024-10-21"));
    assert_eq!(config.providers["openai"].query(Dialect::Chat), None);
}

#[test]
fn the_files_that_are_watched_are_the_list_of_models_and_those_with_keys() {
    assert_eq!(Config::read("").unwrap().files(), Vec::<&Path>::new());
    let folder = folder();
    let list = folder.join("models.toml");
    std::fs::write(&list, "").unwrap();
    let text = format!(
        "models = {list:?}\n[providers.a]\nchat = \"http://a\"\nkey_files = [\"/k/2\", \"/k/1\"]\n\
         [providers.b]\nchat = \"http://b\"\nkey_files = [\"/k/1\"]"
    );
    let config = Config::read(&text).unwrap();
    assert_eq!(config.files(), [Path::new("/k/1"), Path::new("/k/2"), &list]);
    std::fs::remove_dir_all(folder).unwrap();
}

fn folder() -> PathBuf {
    let folder = std::env::temp_dir().join(format!("godel-config-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}
