//! Whether a model can think, and how it is told to.

use crate::Dialect;

/// How a model is told to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Thinks {
    /// It cannot; nothing about thinking is told to it.
    #[default]
    Never,
    /// By a number of tokens (Claude up to 4.5, Gemini 2.5).
    Budget,
    /// By a level (OpenAI, Claude from 4.6, Gemini from 3). Such models of OpenAI and Anthropic take
    /// no temperature and the like, so that these are left out.
    Level,
}

impl Thinks {
    /// Guesses by the name of the model, for want of better knowledge.
    pub fn guess(dialect: Dialect, model: &str) -> Self {
        let name = model.rsplit('/').next().unwrap_or(model).to_ascii_lowercase();
        let version = version(&name);
        let by_version = |first: (u32, u32), level: (u32, u32)| match version {
            Some(version) if version < first => Self::Never,
            Some(version) if version < level => Self::Budget,
            _ => Self::Level,
        };
        match dialect {
            Dialect::Anthropic => by_version((3, 7), (4, 6)),
            Dialect::Gemini => by_version((2, 5), (3, 0)),
            Dialect::Chat | Dialect::Responses => {
                let series = name
                    .strip_prefix('o')
                    .is_some_and(|rest| rest.starts_with(|first: char| first.is_ascii_digit()));
                let gpt = name.starts_with("gpt-")
                    && (name.starts_with("gpt-oss") || version >= Some((5, 0)));
                if series || gpt { Self::Level } else { Self::Never }
            }
        }
    }
}

/// Returns the first number of a name, and the one right behind it; dates do not count.
fn version(name: &str) -> Option<(u32, u32)> {
    let mut pieces = name.split(['-', '.', '_']).map(|piece| {
        let digits = piece.len() <= 2 && piece.bytes().all(|byte| byte.is_ascii_digit());
        if digits { piece.parse().ok() } else { None }
    });
    let major = pieces.by_ref().find_map(|piece| piece)?;
    Some((major, pieces.next().flatten().unwrap_or(0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_tells_how_a_model_thinks() {
        for (dialect, model, thinks) in [
            (Dialect::Anthropic, "claude-3-5-haiku-20241022", Thinks::Never),
            (Dialect::Anthropic, "claude-3-7-sonnet-latest", Thinks::Budget),
            (Dialect::Anthropic, "claude-opus-4-20250514", Thinks::Budget),
            (Dialect::Anthropic, "anthropic/claude-sonnet-4-5", Thinks::Budget),
            (Dialect::Anthropic, "claude-opus-4-8", Thinks::Level),
            (Dialect::Gemini, "gemini-2.0-flash", Thinks::Never),
            (Dialect::Gemini, "gemini-2.5-pro", Thinks::Budget),
            (Dialect::Gemini, "gemini-3-pro-preview", Thinks::Level),
            (Dialect::Responses, "gpt-5-codex", Thinks::Level),
            (Dialect::Responses, "gpt-4.1", Thinks::Never),
            (Dialect::Chat, "gpt-4o", Thinks::Never),
            (Dialect::Chat, "o3-mini", Thinks::Level),
            (Dialect::Chat, "deepseek-chat", Thinks::Never),
        ] {
            assert_eq!(Thinks::guess(dialect, model), thinks, "{model}");
        }
    }
}
