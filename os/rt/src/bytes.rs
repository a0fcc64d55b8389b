//! Bytes through console and channels, by the traits of `embedded-io`: for code that was written for serial lines.
//!
//! Nothing here waits. What the traits would wait for fails with [`ErrorKind::TimedOut`]: nothing to read, or no room. Whether that is so
//! tell [`ReadReady`] and [`WriteReady`].

use crate::channel::{ChannelError, Message, Receiver, Sender, WORDS};
use crate::Console;
use core::fmt;
use embedded_io::{Error, ErrorKind, ErrorType, Read, ReadReady, Write, WriteReady};

/// Bytes in a message; its first word says how many count.
const BYTES: usize = (WORDS - 1) * 8;

impl Error for ChannelError {
    fn kind(&self) -> ErrorKind {
        match self {
            ChannelError::Unknown => ErrorKind::NotFound,
            ChannelError::Refused(_) => ErrorKind::PermissionDenied,
            ChannelError::Full | ChannelError::Empty => ErrorKind::TimedOut,
            ChannelError::Broken => ErrorKind::InvalidData,
            ChannelError::Closed => ErrorKind::NotConnected,
        }
    }
}

/// The console did not take the text: it is not granted, or at work for another thread of this component.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NotTaken;

impl Error for NotTaken {
    fn kind(&self) -> ErrorKind {
        ErrorKind::PermissionDenied
    }
}

impl ErrorType for Console {
    type Error = NotTaken;
}

impl Write for Console {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, NotTaken> {
        self.put(bytes).map_err(|fmt::Error| NotTaken)?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> Result<(), NotTaken> {
        Ok(())
    }
}

/// The end of a channel into which bytes go. The other end is a [`ByteReceiver`].
pub struct ByteSender<'a>(pub &'a Sender);

impl ErrorType for ByteSender<'_> {
    type Error = ChannelError;
}

impl Write for ByteSender<'_> {
    fn write(&mut self, bytes: &[u8]) -> Result<usize, ChannelError> {
        let part = &bytes[..bytes.len().min(BYTES)];
        if part.is_empty() {
            return Ok(0);
        }
        // Whoever receives is woken by who sends, if by anybody: see `Sender::wake`.
        self.0.send(&message(part))?;
        Ok(part.len())
    }

    fn flush(&mut self) -> Result<(), ChannelError> {
        Ok(())
    }
}

impl WriteReady for ByteSender<'_> {
    fn write_ready(&mut self) -> Result<bool, ChannelError> {
        self.0.has_room()
    }
}

/// The end of a channel out of which bytes come.
pub struct ByteReceiver<'a> {
    receiver: &'a Receiver,
    held: Held,
}

impl<'a> ByteReceiver<'a> {
    /// The bytes that a [`ByteSender`] sends here.
    pub const fn new(receiver: &'a Receiver) -> Self {
        ByteReceiver { receiver, held: Held { bytes: [0; BYTES], at: 0, end: 0 } }
    }

    /// Whether there is a byte: held, or in a message that is taken now.
    fn fill(&mut self) -> Result<bool, ChannelError> {
        if !self.held.is_empty() {
            return Ok(true);
        }
        let Some(message) = self.receiver.receive()? else { return Ok(false) };
        self.held = held(&message).ok_or(ChannelError::Broken)?;
        Ok(true)
    }
}

impl ErrorType for ByteReceiver<'_> {
    type Error = ChannelError;
}

impl Read for ByteReceiver<'_> {
    fn read(&mut self, into: &mut [u8]) -> Result<usize, ChannelError> {
        if into.is_empty() {
            return Ok(0);
        }
        if self.fill()? {
            Ok(self.held.take(into))
        } else {
            Err(ChannelError::Empty)
        }
    }
}

impl ReadReady for ByteReceiver<'_> {
    fn read_ready(&mut self) -> Result<bool, ChannelError> {
        self.fill()
    }
}

/// What is left of a message.
struct Held {
    bytes: [u8; BYTES],
    at: usize,
    end: usize,
}

impl Held {
    fn is_empty(&self) -> bool {
        self.at == self.end
    }

    fn take(&mut self, into: &mut [u8]) -> usize {
        let left = &self.bytes[self.at..self.end];
        let count = left.len().min(into.len());
        into[..count].copy_from_slice(&left[..count]);
        self.at += count;
        count
    }
}

/// At most [`BYTES`] bytes as a message.
fn message(part: &[u8]) -> Message {
    let mut message = [0; WORDS];
    message[0] = part.len() as u64;
    for (word, bytes) in message[1..].iter_mut().zip(part.chunks(8)) {
        let mut padded = [0; 8];
        padded[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_le_bytes(padded);
    }
    message
}

/// The bytes of a message; nothing if it is none of bytes.
fn held(message: &Message) -> Option<Held> {
    let end = usize::try_from(message[0]).ok().filter(|end| (1..=BYTES).contains(end))?;
    let mut bytes = [0; BYTES];
    for (part, word) in bytes.chunks_mut(8).zip(&message[1..]) {
        part.copy_from_slice(&word.to_le_bytes());
    }
    Some(Held { bytes, at: 0, end })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_out_of_a_message_as_they_went_in_whatever_is_read_at_once() {
        for length in 1..=BYTES {
            let mut bytes = [0; BYTES];
            bytes.iter_mut().enumerate().for_each(|(n, byte)| *byte = (n * 7 + length) as u8);
            for at_once in 1..=BYTES {
                let mut held = held(&message(&bytes[..length])).expect("a message of bytes");
                let (mut out, mut count) = ([0; BYTES], 0);
                while !held.is_empty() {
                    let end = (count + at_once).min(BYTES);
                    count += held.take(&mut out[count..end]);
                }
                assert_eq!(out[..count], bytes[..length], "{at_once} at once");
            }
        }
    }

    #[test]
    fn a_message_that_is_none_of_bytes_is_none() {
        for count in [0, BYTES as u64 + 1, u64::MAX] {
            assert!(held(&[count, 1, 2, 3, 4, 5, 6, 7]).is_none());
        }
    }
}
