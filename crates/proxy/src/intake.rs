//! Taking a body in: never more than allowed, packed or not.

use std::io::Read as _;
use std::time::Duration;

use bytes::{Bytes, BytesMut};
use godel_llm::Trouble;
use http::HeaderMap;
use http::HeaderValue;
use http::header::CONTENT_ENCODING;
use http_body::Body;
use http_body_util::BodyExt as _;
use ruzstd::decoding::StreamingDecoder;

use crate::board::Refusal;

/// How long what is too large is still listened to.
const DRAIN_TIME: Duration = Duration::from_secs(10);

/// What packers of the usual strength want to unpack in.
const ZSTD_WINDOW_MIN_BYTES: u64 = 8 * 1024 * 1024;

/// Reads a whole body of at most `max` bytes, unpacked.
pub(crate) async fn read_body<B>(
    mut body: B,
    headers: &HeaderMap,
    max: usize,
) -> Result<Bytes, Refusal>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::fmt::Display,
{
    let too_large = || {
        let why = format!("the request has more than {} MB", max / 1024 / 1024);
        Refusal::new(Trouble::TooLarge, why)
    };
    if body.size_hint().lower() > max as u64 {
        drain(body, max).await;
        return Err(too_large());
    }
    let announced = usize::try_from(body.size_hint().lower()).unwrap_or(0);
    let (mut first, mut all) = (Bytes::new(), BytesMut::new());
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| {
            Refusal::new(Trouble::Invalid, format!("the request broke off: {error}"))
        })?;
        let Ok(bytes) = frame.into_data() else { continue };
        if first.len() + all.len() + bytes.len() > max {
            drop((first, all));
            drain(body, max).await;
            return Err(too_large());
        }
        if first.is_empty() && all.is_empty() {
            first = bytes;
        } else {
            if !first.is_empty() {
                all.reserve(announced.max(first.len() + bytes.len()));
                all.extend_from_slice(&std::mem::take(&mut first));
            }
            all.extend_from_slice(&bytes);
        }
    }
    let whole = if all.is_empty() { first } else { all.freeze() };
    let unpacked = match headers.get(CONTENT_ENCODING).map(HeaderValue::as_bytes) {
        None | Some(b"" | b"identity") => return Ok(whole),
        Some(b"gzip") => unpack(&whole, max),
        Some(b"zstd") => unpack_zstd(&whole, max),
        Some(_) => {
            let why =
                "the request is packed in a way that is not known here; use gzip, zstd or none";
            return Err(Refusal::new(Trouble::Invalid, why));
        }
    };
    unpacked.ok_or_else(too_large)?.map_err(|error| {
        Refusal::new(Trouble::Invalid, format!("the request is not packed as it says: {error}"))
    })
}

/// Takes what is still sent, within reason, and forgets it: a client that is cut off while it sends
/// never reads why.
async fn drain<B>(mut body: B, max: usize)
where
    B: Body<Data = Bytes> + Unpin,
{
    let taken = async {
        let mut left = max.saturating_mul(4);
        while let Some(Ok(frame)) = body.frame().await {
            let length = frame.data_ref().map_or(0, Bytes::len);
            match left.checked_sub(length) {
                Some(rest) => left = rest,
                None => return,
            }
        }
    };
    // Who takes longer than this has stopped sending.
    tokio::time::timeout(DRAIN_TIME, taken).await.ok();
}

/// Unpacks; nothing if it would be too large.
fn unpack(packed: &[u8], max: usize) -> Option<std::io::Result<Bytes>> {
    let mut unpacked = Vec::new();
    let mut reader = flate2::read::MultiGzDecoder::new(packed).take(max as u64 + 1);
    match reader.read_to_end(&mut unpacked) {
        Ok(_) if unpacked.len() > max => None,
        Ok(_) => Some(Ok(unpacked.into())),
        Err(error) => Some(Err(error)),
    }
}

/// Unpacks one frame after the other; nothing if it would be too large. No frame may ask for more
/// memory to be unpacked in than a request may have.
fn unpack_zstd(mut packed: &[u8], max: usize) -> Option<std::io::Result<Bytes>> {
    let mut unpacked = Vec::new();
    let window = (max as u64).max(ZSTD_WINDOW_MIN_BYTES);
    while !packed.is_empty() {
        let reader = StreamingDecoder::new_with_max_window_size(&mut packed, window);
        let mut reader = match reader {
            Ok(reader) => reader.take((max + 1 - unpacked.len()) as u64),
            Err(_) => return Some(Err(std::io::Error::other("it does not begin like zstd"))),
        };
        match reader.read_to_end(&mut unpacked) {
            Ok(_) if unpacked.len() > max => return None,
            Ok(_) => {}
            Err(_) => return Some(Err(std::io::Error::other("it breaks off or is damaged"))),
        }
    }
    Some(Ok(unpacked.into()))
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use http_body_util::Full;
    use ruzstd::encoding::{CompressionLevel, compress_to_vec};

    use super::*;

    fn gzip(bytes: &[u8]) -> Bytes {
        let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap().into()
    }

    async fn taken(bytes: Bytes, encoding: &'static str, max: usize) -> Result<Bytes, Trouble> {
        let mut headers = HeaderMap::new();
        headers.insert(CONTENT_ENCODING, HeaderValue::from_static(encoding));
        read_body(Full::new(bytes), &headers, max).await.map_err(|refusal| refusal.trouble)
    }

    #[tokio::test]
    async fn a_packed_body_is_unpacked_and_a_bomb_is_not() {
        let body = Bytes::from_static(b"{\"model\":\"m\"}");
        assert_eq!(taken(gzip(&body), "gzip", 100).await, Ok(body.clone()));
        assert_eq!(taken(body.clone(), "identity", 100).await, Ok(body.clone()));
        assert_eq!(
            taken(gzip(&vec![b' '; 10_000_000]), "gzip", 1_000_000).await,
            Err(Trouble::TooLarge)
        );
        assert_eq!(taken(body.clone(), "gzip", 100).await, Err(Trouble::Invalid));
        assert_eq!(taken(body.clone(), "br", 100).await, Err(Trouble::Invalid));
        assert_eq!(taken(body, "identity", 5).await, Err(Trouble::TooLarge));
    }

    #[tokio::test]
    async fn zstd_is_unpacked_within_the_same_bounds() {
        let zstd = |bytes: &[u8]| Bytes::from(compress_to_vec(bytes, CompressionLevel::Fastest));
        let body = Bytes::from_static(b"{\"model\":\"m\"}");
        assert_eq!(taken(zstd(&body), "zstd", 100).await, Ok(body.clone()));
        let two = Bytes::from([zstd(b"{\"model\""), zstd(b":\"m\"}")].concat());
        assert_eq!(taken(two, "zstd", 100).await, Ok(body.clone()), "frames follow one another");
        let bomb = zstd(&vec![b' '; 10_000_000]);
        assert!(bomb.len() < 100_000);
        assert_eq!(taken(bomb.clone(), "zstd", 1_000_000).await, Err(Trouble::TooLarge));
        let many = Bytes::from(bomb.repeat(5));
        assert_eq!(taken(many, "zstd", 12_000_000).await, Err(Trouble::TooLarge));
        let cut = zstd(&body).slice(..12);
        for broken in [body.clone(), cut, Bytes::from_static(b"\x28\xb5\x2f\xfd")] {
            assert_eq!(taken(broken, "zstd", 100).await, Err(Trouble::Invalid));
        }
        // A frame that asks for a window of terabytes is not taken at its word.
        let greedy = Bytes::from_static(b"\x28\xb5\x2f\xfd\x00\xff\x01\x00\x00");
        assert_eq!(taken(greedy, "zstd", 1_000).await, Err(Trouble::Invalid));
    }
}
