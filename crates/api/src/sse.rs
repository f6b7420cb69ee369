//! Server-sent events, read piece by piece.

/// One message of a stream of server-sent events.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SseMessage {
    /// The `id` field.
    pub id: Option<String>,
    /// The `event` field.
    pub event: Option<String>,
    /// The `data` lines, joined.
    pub data: String,
}

/// Turns bytes, cut anywhere, into messages.
#[derive(Debug, Default)]
pub struct SseDecoder {
    line: Vec<u8>,
    message: SseMessage,
    has_data: bool,
    after_cr: bool,
}

impl SseDecoder {
    /// Takes the next bytes and returns the messages that they complete.
    pub fn feed(&mut self, bytes: &[u8]) -> Vec<SseMessage> {
        let mut done = Vec::new();
        for byte in bytes {
            // A line ends with CR, LF, or both.
            let second_half = *byte == b'\n' && std::mem::take(&mut self.after_cr);
            match byte {
                b'\n' if second_half => {}
                b'\n' | b'\r' => {
                    self.after_cr = *byte == b'\r';
                    let line = String::from_utf8_lossy(&self.line).into_owned();
                    self.line.clear();
                    done.extend(self.take(&line));
                }
                other => {
                    self.after_cr = false;
                    self.line.push(*other);
                }
            }
        }
        done
    }

    fn take(&mut self, line: &str) -> Option<SseMessage> {
        if line.is_empty() {
            let message = std::mem::take(&mut self.message);
            return std::mem::take(&mut self.has_data).then_some(message);
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "id" => self.message.id = Some(value.to_owned()),
            "event" => self.message.event = Some(value.to_owned()),
            "data" => {
                if self.has_data {
                    self.message.data.push('\n');
                }
                self.message.data.push_str(value);
                self.has_data = true;
            }
            // Comments keep the connection open; `retry` is the client's own business.
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_cut_anywhere_gives_the_same_messages() {
        let by_cr = SseDecoder::default().feed(b"data: a\rdata: b\r\r");
        assert_eq!(by_cr[0].data, "a\nb");
        let stream =
            b": hello\n\nid: 7\nevent: event\ndata: {\"a\":1}\n\nid: 8\ndata: x\r\ndata: y\r\n\r\n";
        let whole = SseDecoder::default().feed(stream);
        assert_eq!(whole.len(), 2);
        assert_eq!(whole[0].id.as_deref(), Some("7"));
        assert_eq!(whole[1].data, "x\ny");
        for cut in 0..stream.len() {
            let mut decoder = SseDecoder::default();
            let mut parts = decoder.feed(&stream[..cut]);
            parts.extend(decoder.feed(&stream[cut..]));
            assert_eq!(parts, whole);
        }
    }
}
