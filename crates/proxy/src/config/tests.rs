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
        ("[providers.x]\nchat = \"http://a\"\nkey = \"sk\"", "provider x: unknown field"),
        ("surprise = 1", "surprise"),
        ("models = \"/nowhere/models.toml\"", "/nowhere/models.toml cannot be read"),
    ] {
        let error = Config::read(text).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
}
