//! What a text names besides what is asked for: parts, files, models, a budget.

use super::{Entity, Scene, entity};
use crate::rules::places;
use crate::text::{Word, number};

/// How many of each kind are told.
const NAMED_MAX: usize = 12;

/// Adds what the words name.
pub(super) fn add(entities: &mut Vec<Entity>, words: &[Word], scene: &Scene<'_>) {
    let had = |entities: &[Entity], name: &str| entities.iter().any(|one| one.name == name);
    if !had(entities, "model") {
        let model = words
            .iter()
            .find(|word| scene.models.iter().any(|model| model.to_lowercase() == word.low));
        entities.extend(model.map(|word| entity("model", "model", word.low.clone(), (word, word))));
    }
    if !had(entities, "budget") {
        entities.extend(budget(words));
    }
    let Some(survey) = scene.survey else { return };
    let words = words.get(..places::WORDS_MAX).unwrap_or(words);
    let mut found = 0;
    for word in words {
        let Some(path) = places::file(survey, &word.low) else { continue };
        if found < NAMED_MAX {
            entities.push(entity("file", "path", path, (word, word)));
            found += 1;
        }
    }
    found = 0;
    for word in words {
        let parts = places::exact(survey, &word.low);
        for part in parts.into_iter().take(NAMED_MAX - found) {
            found += 1;
            let mut named = entity("part", "path", part.path.clone(), (word, word));
            named.confidence = 0.85;
            entities.push(named);
        }
    }
}

/// Reads `$5`, `5 dollars`, `5 usd`.
fn budget(words: &[Word]) -> Option<Entity> {
    for (at, word) in words.iter().enumerate() {
        let dollars =
            |text: &str| text.parse::<f64>().ok().filter(|sum| sum.is_finite() && *sum >= 0.0);
        if let Some(sum) = word.low.strip_prefix('$').and_then(dollars) {
            return Some(entity("budget", "usd", format!("{sum:.2}"), (word, word)));
        }
        let next = words.get(at + 1);
        if let Some(next) =
            next.filter(|next| matches!(next.low.as_str(), "dollar" | "dollars" | "usd" | "bucks"))
            && let Some(sum) = dollars(&word.low).or_else(|| number(&word.low).map(f64::from))
        {
            return Some(entity("budget", "usd", format!("{sum:.2}"), (word, next)));
        }
    }
    None
}
