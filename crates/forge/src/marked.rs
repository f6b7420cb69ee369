//! The part of a pull request's text that is Godel's: what stands between two marks. People may write around it.

/// Where it begins.
pub const BEGIN: &str = "<!-- godel: begin -->";
/// Where it ends.
pub const END: &str = "<!-- godel: end -->";

/// Returns a text with what Godel says now; nothing if it says that already, or people took it out.
pub fn renewed(body: &str, block: &str) -> Option<String> {
    let begin = body.find(BEGIN)?;
    let end = begin + body[begin..].find(END)? + END.len();
    let new = format!("{}{block}{}", &body[..begin], &body[end..]);
    (new != body).then_some(new)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_wrote_around_it_stays() {
        let (old, new) = (format!("{BEGIN}\nold\n{END}"), format!("{BEGIN}\nnew\n{END}"));
        let body = format!("Please look.\n\n{old}\n\nThanks!");
        assert_eq!(renewed(&body, &new).unwrap(), format!("Please look.\n\n{new}\n\nThanks!"));
        assert_eq!(renewed(&body, &old), None, "it says so already");
        assert_eq!(renewed("Rewritten by a person.", &new), None);
        assert_eq!(renewed(&format!("{END} {BEGIN}"), &new), None);
    }
}
