//! What a model must be able to do for a request, as far as a look at the bytes tells.

use godel_llm::Ability;
use memchr::memmem;

/// What a look at the bytes can tell.
pub(crate) const TOLD: [Ability; 4] =
    [Ability::Tools, Ability::Vision, Ability::Pdf, Ability::Json];

const TOOLS: [&str; 2] = ["\"tools\"", "functionDeclarations"];
const IMAGES: [&str; 5] =
    ["\"image_url\"", "\"input_image\"", "\"image\"", "\"image/", "\"data:image/"];
const FILES: [&str; 3] = ["\"application/pdf\"", "\"data:application/pdf", "\"input_file\""];
const SCHEMAS: [&str; 4] =
    ["\"json_schema\"", "\"json_object\"", "\"responseSchema\"", "\"responseJsonSchema\""];

/// What a model must be able to do.
pub(crate) fn needs(body: &[u8]) -> Vec<Ability> {
    let marks: [&[&str]; 4] = [&TOOLS, &IMAGES, &FILES, &SCHEMAS];
    let has =
        |marks: &[&str]| marks.iter().any(|mark| memmem::find(body, mark.as_bytes()).is_some());
    TOLD.into_iter()
        .zip(marks)
        .filter(|(_, marks)| has(marks))
        .map(|(ability, _)| ability)
        .collect()
}

/// Tells whether a request has pictures or files in it, whose bytes say nothing of their tokens.
pub(crate) fn has_media(needs: &[Ability]) -> bool {
    needs.iter().any(|need| matches!(need, Ability::Vision | Ability::Pdf))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_request_needs_is_seen_in_every_dialect() {
        use Ability::{Json, Pdf, Tools, Vision};
        for (body, expected) in [
            (r#"{"messages":[{"content":"a \"tools\" and \"image\" in the text"}]}"#, &[][..]),
            (r#"{"tools":[]}"#, &[Tools]),
            (r#"{"contents":[{"parts":[{"inlineData":{"mimeType":"image/png"}}]}]}"#, &[Vision]),
            (r#"{"contents":[{"parts":[{"inlineData":{"mimeType":"application/pdf"}}]}]}"#, &[Pdf]),
            (r#"{"type":"image","source":{"media_type":"image/png"}}"#, &[Vision]),
            (r#"{"file":{"file_data":"data:application/pdf;base64,x"}}"#, &[Pdf]),
            (r#"{"type":"image_url","tools":[1],"input_file":{}}"#, &[Tools, Vision, Pdf]),
            (r#"{"response_format":{"type":"json_schema"}}"#, &[Json]),
            (r#"{"generationConfig":{"responseJsonSchema":{}}}"#, &[Json]),
        ] {
            let body = body.replace("input_file\":{}", "type\":\"input_file\"");
            assert_eq!(needs(body.as_bytes()), expected, "{body}");
        }
        assert!(has_media(&[Tools, Vision]) && has_media(&[Pdf]) && !has_media(&[Tools, Json]));
    }
}
