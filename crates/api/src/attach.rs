//! Frames of the WebSocket `/api/v1/agents/{id}/attach`, subprotocol `godel-attach-v1`.
//!
//! Text frames are JSON. What a terminal shows comes in binary frames: eight bytes with the place of the
//! first byte in all that was ever shown, the highest byte first, and then the bytes. What a client types
//! goes in binary frames as it is.

use bytes::{BufMut as _, Bytes, BytesMut};
use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::{AgentLine, ErrorBody};

/// The subprotocol of the socket of an agent.
pub const ATTACH_PROTOCOL: &str = "godel-attach-v1";
/// The server ends the connection because its client reads too slowly; it can come back.
pub const CLOSE_TOO_SLOW: u16 = 4408;
/// The server refuses the connection; the frame `refused` before it says why.
pub const CLOSE_REFUSED: u16 = 4403;

/// Who has control.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Holder {
    /// The connection, as its `hello` named it.
    pub seat: Uuid,
    /// The person.
    pub name: String,
}

/// What a client asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", deny_unknown_fields)]
pub enum AttachAsk {
    /// Control: it is given if nobody has it, or by force.
    Take {
        /// Whether it is taken from who has it.
        #[serde(default)]
        force: bool,
    },
    /// To let others have control.
    Release {},
    /// Another size of the terminal; only for who has control.
    Resize {
        /// Characters in a line.
        columns: u16,
        /// Lines.
        rows: u16,
    },
    /// To tell the agent something: the answer if it asks, else a message. Only for who has control.
    Message {
        /// What to tell.
        text: String,
    },
    /// A sign of life.
    Ping {},
}

/// What the server tells.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum AttachTold {
    /// The first frame: where the client is.
    Hello {
        /// The agent.
        agent: Uuid,
        /// Its name.
        label: String,
        /// This connection among those who look at the agent.
        seat: Uuid,
        /// The terminal; it has another id when it was begun anew. None if this is the log.
        terminal: Option<Uuid>,
        /// From where on bytes or lines come.
        offset: u64,
        /// Characters in a line of the terminal; none if this is the log.
        #[serde(default)]
        columns: Option<u16>,
        /// Lines of the terminal; none if this is the log.
        #[serde(default)]
        rows: Option<u16>,
        /// Whether the caller may take control at all.
        may_control: bool,
        /// Who has control.
        holder: Option<Holder>,
    },
    /// Somebody else has control now, or nobody.
    Control {
        /// Who.
        holder: Option<Holder>,
    },
    /// The terminal has another size now.
    Size {
        /// Characters in a line.
        columns: u16,
        /// Lines.
        rows: u16,
    },
    /// A part that is no longer kept.
    Dropped {
        /// The place of the first that is gone.
        from: u64,
        /// The place of the first that is there.
        to: u64,
    },
    /// More of the log.
    Log {
        /// The lines, the oldest first.
        items: Vec<AgentLine>,
        /// Where to go on.
        next: u64,
    },
    /// The agent has the message in its box, or its answer.
    Sent {},
    /// The command of the terminal has ended; nothing more comes.
    Exit {
        /// Its code, if it ended by itself.
        code: Option<i32>,
    },
    /// What was asked for is refused; the connection goes on.
    Refused {
        /// Why, and what to do.
        error: ErrorBody,
    },
    /// The answer to a sign of life.
    Pong {},
}

/// Makes the frame of bytes that a terminal has shown.
pub fn terminal_frame(offset: u64, bytes: &[u8]) -> Bytes {
    let mut frame = BytesMut::with_capacity(8 + bytes.len());
    frame.put_u64(offset);
    frame.put_slice(bytes);
    frame.freeze()
}

/// Reads such a frame: the place of its first byte, and the bytes.
pub fn read_terminal_frame(frame: &Bytes) -> Option<(u64, Bytes)> {
    let (place, _) = frame.split_first_chunk::<8>()?;
    Some((u64::from_be_bytes(*place), frame.slice(8..)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_of_bytes_says_where_it_begins() {
        let frame = terminal_frame(1 << 40, b"abc");
        assert_eq!(read_terminal_frame(&frame), Some((1 << 40, Bytes::from_static(b"abc"))));
        assert_eq!(read_terminal_frame(&Bytes::from_static(b"short")), None);
    }

    #[test]
    fn frames_look_as_documented() {
        let ask: AttachAsk = serde_json::from_str(r#"{"type":"take"}"#).unwrap();
        assert_eq!(ask, AttachAsk::Take { force: false });
        assert!(serde_json::from_str::<AttachAsk>(r#"{"type":"release","x":1}"#).is_err());
        let told = serde_json::to_string(&AttachTold::Control { holder: None }).unwrap();
        assert_eq!(told, r#"{"type":"control","holder":null}"#);
    }
}
