//! Pictures in a review: how one looked before the work on a bead, and how it looks now.

use godel_app::{Call, beads};
use godel_model::{ProjectId, Reach, code};
use tracing::instrument;

use crate::look::{self, Want};
use crate::{Error, Result, Reviews};

/// So many bytes a picture may have to be shown.
pub const PICTURE_MAX_BYTES: u64 = 5 << 20;

/// Which picture is wanted.
#[derive(Debug, Clone)]
pub struct WantPicture {
    /// The file, by its name now, or by its only one.
    pub path: String,
    /// As it was, and not as it is.
    pub before: bool,
    /// Only if its content still has this id.
    pub content: Option<String>,
}

/// A picture, and what it is for sure.
#[derive(Debug, Clone)]
pub struct Picture {
    /// Its type, such as `image/png`.
    pub kind: &'static str,
    /// All of it.
    pub bytes: Vec<u8>,
}

/// Reads a picture that a bead changes, as it was or as it is.
///
/// # Errors
/// If the caller may not, the bead does not change it, it is too large, or it is not what its name says.
#[instrument(level = "debug", name = "reviews.picture", skip_all, fields(tenant = %call.actor.tenant))]
pub async fn picture(
    reviews: &Reviews,
    call: &Call,
    which: (Option<ProjectId>, &str),
    want: WantPicture,
) -> Result<Picture> {
    call.may("review", "read", Reach::Team)?;
    let WantPicture { path, before, content } = want;
    let refused = |why: &str| {
        let hint = "only PNG, JPEG, GIF and WebP pictures that the bead changes are shown";
        Error::refused(code::REVIEW_REFUSED, format!("{path:?} {why}"), hint)
    };
    let want = Want { path: Some(path.clone()), from: 0, limit: 1 };
    let diff = look::diff(reviews, call, which, want).await?;
    let (_, file) = diff.files.into_iter().next().ok_or_else(|| refused("is not changed"))?;
    let (name, side) = match before {
        true => (file.old_path.unwrap_or(file.path), file.old),
        false => (file.path, file.new),
    };
    let kind = by_name(&name).ok_or_else(|| refused("is no picture by its name"))?;
    // The content is found by what the change says of the file, never by a name in the repository.
    let side = side.ok_or_else(|| refused("is not there on this side"))?;
    if content.is_some_and(|content| content != side.id) {
        return Err(refused("is another since you looked"));
    }
    let project = beads::get(reviews.fleet.app(), call, which.0, which.1).await?.project;
    let (_, folder) = reviews.fleet.project(call, project).await?;
    let look =
        move |bench: &godel_git::Workbench| bench.reviewing().content(&side, PICTURE_MAX_BYTES);
    let bytes = reviews.fleet.at_bench(folder, look).await?;
    match by_content(&bytes) == Some(kind) {
        true => Ok(Picture { kind, bytes }),
        false => Err(refused("is not the picture that its name says")),
    }
}

/// Tells what a file should be by its name. An SVG is a program as much as a picture, so it is none here.
fn by_name(path: &str) -> Option<&'static str> {
    let (_, ending) = path.rsplit_once('.')?;
    Some(match ending.to_ascii_lowercase().as_str() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        _ => return None,
    })
}

/// Tells what a file is by how it begins.
fn by_content(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => Some("image/webp"),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_picture_is_what_both_its_name_and_its_content_say() {
        let png = b"\x89PNG\r\n\x1a\n\0\0";
        assert_eq!((by_name("a/b.PNG"), by_content(png)), (Some("image/png"), Some("image/png")));
        assert_eq!(by_name("x.jpeg"), by_content(&[0xff, 0xd8, 0xff, 0xe0]));
        assert_eq!(by_name("x.gif"), by_content(b"GIF89a.."));
        assert_eq!(by_name("x.webp"), by_content(b"RIFF\x10\0\0\0WEBPVP8 "));
        for name in ["logo.svg", "page.html", "png", "a.png.txt", "x.ico"] {
            assert_eq!(by_name(name), None, "{name}");
        }
        for bytes in [b"<svg onload=alert(1)>".as_slice(), b"<html>", b"", b"GIF8", b"RIFF----WAVE"]
        {
            assert_eq!(by_content(bytes), None);
        }
    }
}
