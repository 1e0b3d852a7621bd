//! Frames: a fixed header, then one message. See the crate's page for the layout.

use std::io::{self, Read};

use prost::Message;

use crate::MAJOR;

const MAGIC: [u8; 3] = *b"TBS";

/// Bytes before the payload.
pub const HEADER_LEN: usize = 8;

/// The largest payload either side accepts, in bytes. 20 000 candidates of 200 bytes fit.
pub const MAX_PAYLOAD: usize = 8 << 20;

/// What a reader makes room for before it has come. Most messages are smaller; of a larger one an announced
/// length alone must not cost memory.
pub const FIRST_READ: usize = 64 << 10;

/// Why a frame could not be read.
#[derive(Debug, thiserror::Error)]
pub enum FrameError {
    /// The bytes are not a frame of ours.
    #[error("the peer does not speak this protocol (frame begins with {0:02x?})")]
    Foreign([u8; 3]),
    /// The peer speaks another major version.
    #[error("the peer speaks protocol {theirs}, this side speaks {MAJOR}")]
    Major {
        /// The peer's major version.
        theirs: u8,
    },
    /// The announced payload is larger than [`MAX_PAYLOAD`].
    #[error("frame of {0} bytes is larger than the limit of {MAX_PAYLOAD}")]
    TooLarge(usize),
    /// The payload is not the message that was expected.
    #[error("malformed message: {0}")]
    Malformed(#[from] prost::DecodeError),
    /// Reading failed or the peer closed in the middle of a frame.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A message as one frame, ready to be written.
pub fn encode(message: &impl Message) -> Vec<u8> {
    let length = message.encoded_len();
    let mut frame = Vec::with_capacity(HEADER_LEN + length);
    frame.extend_from_slice(&MAGIC);
    frame.push(MAJOR);
    frame.extend_from_slice(&u32::try_from(length).unwrap_or(u32::MAX).to_le_bytes());
    message.encode_raw(&mut frame);
    frame
}

/// The payload's length that a header announces.
///
/// # Errors
/// [`FrameError::Foreign`], [`FrameError::Major`] or [`FrameError::TooLarge`].
pub fn payload_len(header: [u8; HEADER_LEN]) -> Result<usize, FrameError> {
    let [t, b, s, major, a, c, d, e] = header;
    if [t, b, s] != MAGIC {
        return Err(FrameError::Foreign([t, b, s]));
    }
    if major != MAJOR {
        return Err(FrameError::Major { theirs: major });
    }
    let length = u32::from_le_bytes([a, c, d, e]) as usize;
    if length > MAX_PAYLOAD {
        return Err(FrameError::TooLarge(length));
    }
    Ok(length)
}

/// Reads one frame and decodes its message.
///
/// # Errors
/// Any [`FrameError`]; nothing beyond the header is read when the header is refused.
pub fn read_frame<M: Message + Default>(reader: &mut impl Read) -> Result<M, FrameError> {
    let mut header = [0; HEADER_LEN];
    reader.read_exact(&mut header)?;
    let length = payload_len(header)?;
    let mut payload = Vec::with_capacity(length.min(FIRST_READ));
    let read = reader.take(length as u64).read_to_end(&mut payload)?;
    if read < length {
        return Err(io::Error::from(io::ErrorKind::UnexpectedEof).into());
    }
    Ok(M::decode(payload.as_slice())?)
}
