//! What a person means who answers a question.

/// Lets the number of a choice stand for it, unless a choice is written so.
pub fn chosen(choices: &[String], said: String) -> String {
    let trimmed = said.trim();
    if choices.iter().any(|choice| choice == trimmed) {
        return trimmed.to_owned();
    }
    let number = trimmed.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    number.and_then(|number| choices.get(number).cloned()).unwrap_or(said)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_stands_for_a_choice_unless_it_is_one() {
        let of = |choices: &[&str], said: &str| {
            let choices: Vec<String> = choices.iter().map(|one| (*one).to_owned()).collect();
            chosen(&choices, said.to_owned())
        };
        assert_eq!(of(&["this", "that"], "2"), "that");
        assert_eq!(of(&["this", "that"], "that"), "that");
        assert_eq!(of(&["this", "that"], "3"), "3");
        assert_eq!(of(&["this", "that"], "0"), "0");
        assert_eq!(of(&["2", "1"], "1"), "1");
        assert_eq!(of(&[], "1"), "1");
        assert_eq!(of(&["this"], "neither of them "), "neither of them ");
    }
}
