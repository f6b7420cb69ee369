//! Requests that make no sense get a clear answer in the words of their dialect, and no provider
//! hears of them.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use godel_llm::Dialect;
use reqwest::Body;

use super::world::{Asked, World, told};

/// Packs as zstd does, with nothing made smaller but what is one byte again and again.
fn zstd(bytes: &[u8]) -> Vec<u8> {
    const BLOCK_MAX: usize = 128 * 1024;
    // A frame that says neither its length nor a checksum, with a window of 128 KiB.
    let mut packed = vec![0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x38];
    let count = bytes.chunks(BLOCK_MAX).count();
    for (place, block) in bytes.chunks(BLOCK_MAX).enumerate() {
        let same = block.iter().all(|byte| *byte == block[0]);
        let head = u32::from(place + 1 == count) | u32::from(same) << 1 | (block.len() as u32) << 3;
        packed.extend_from_slice(&head.to_le_bytes()[..3]);
        packed.extend_from_slice(if same { &block[..1] } else { block });
    }
    packed
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

async fn refused(
    world: &World,
    dialect: Dialect,
    body: impl Into<Body>,
    encoding: Option<&str>,
) -> (u16, String) {
    let asked = Asked::new(dialect, "");
    let mut request = world.ask(&asked).body(body);
    if let Some(encoding) = encoding {
        request = request.header("content-encoding", encoding);
    }
    let answer = request.send().await.unwrap();
    let status = answer.status().as_u16();
    let (kind, message) = told(dialect, &answer.text().await.unwrap());
    assert!(!kind.is_empty() && !message.is_empty());
    assert!(!message.contains("src/") && !message.contains("panicked"), "{message}");
    (status, message)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_that_makes_no_sense_is_refused_in_every_dialect() {
    let world = World::one("body_max_mb = 1").await;
    let deep =
        format!("{{\"model\":\"m-1\",\"messages\":{}{}}}", "[".repeat(5_000), "]".repeat(5_000));
    let large = format!("{{\"model\":\"m-1\",\"messages\":\"{}\"}}", "x".repeat(2 << 20));
    for dialect in Dialect::ALL {
        for (body, status, says) in [
            (&b""[..], 400, "not a whole JSON object"),
            (b"nonsense", 400, "not a whole JSON object"),
            (b"[]", 400, "not a whole JSON object"),
            (b"{\"model\":\"m-1\",", 400, "not a whole JSON object"),
            (b"{\"model\":\"m-1\"} x", 400, "not a whole JSON object"),
            (b"\xff\xfe{}", 400, "not a whole JSON object"),
            (deep.as_bytes(), 400, "nested more than"),
            (large.as_bytes(), 413, "more than 1 MB"),
            (b"{\"routing\":{\"cost_limit\":\"much\"}}", 400, "routing"),
        ] {
            let (found, message) = refused(&world, dialect, body.to_vec(), None).await;
            assert_eq!((found, message.contains(says)), (status, true), "{dialect}: {message}");
        }
        let bomb = gzip(&vec![b' '; 4 << 20]);
        assert_eq!(refused(&world, dialect, bomb, Some("gzip")).await.0, 413);
        assert_eq!(refused(&world, dialect, "{}", Some("gzip")).await.0, 400);
        let bomb = zstd(&vec![b' '; 4 << 20]);
        assert_eq!(refused(&world, dialect, bomb, Some("zstd")).await.0, 413);
        let (status, message) = refused(&world, dialect, "{}", Some("zstd")).await;
        assert!(status == 400 && message.contains("not packed as it says"), "{message}");
        let (status, message) = refused(&world, dialect, "{}", Some("br")).await;
        assert!(status == 400 && message.contains("use gzip, zstd or none"), "{message}");
        let good = Asked::new(dialect, "[[say ok]]").body().to_string();
        for (how, bytes) in [("gzip", gzip(good.as_bytes())), ("zstd", zstd(good.as_bytes()))] {
            let packed = world.ask(&Asked::new(dialect, "")).header("content-encoding", how);
            let packed = packed.body(bytes).send().await.unwrap();
            assert_eq!(packed.status(), 200, "what is packed as it says is served");
        }
    }
    for dialect in [Dialect::Chat, Dialect::Responses, Dialect::Anthropic] {
        for (body, says) in [
            (r#"{"model":"m-1","model":"m-dear"}"#, "`model` is there twice"),
            (r#"{"model":"m-1","mod\u0065l":"m-dear"}"#, "`model` is there twice"),
            (r#"{"model":7}"#, "`model` is not a text"),
            (r#"{"messages":[]}"#, "names no `model`"),
            (r#"{"model":""}"#, "names no `model`"),
            (r#"{"model":"m-1","stream":"yes"}"#, "`stream`"),
        ] {
            let (status, message) = refused(&world, dialect, body, None).await;
            assert!(status == 400 && message.contains(says), "{dialect}: {status} {message}");
        }
    }
    assert_eq!(world.stage.recorded().len(), 8, "only the good ones were asked for");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_nobody_knows_is_named() {
    let world = World::one("").await;
    for dialect in Dialect::ALL {
        let (status, text) = world.say(&Asked::new(dialect, "hi").of("no-such-model")).await;
        assert_eq!(status, 404);
        let (kind, message) = told(dialect, &text);
        assert!(["model_not_found", "not_found_error", "NOT_FOUND"].contains(&kind.as_str()));
        assert!(message.contains("\"no-such-model\""), "{message}");
    }
    let nowhere = world.server.http.post(format!("{}/proxy/v1/nothing", world.server.url));
    let nowhere = nowhere.bearer_auth(&world.token).body("{}").send().await.unwrap();
    assert_eq!(nowhere.status(), 404);
    assert!(world.stage.recorded().is_empty());
}
