//! Data between the nodes of a network: what a program here publishes for others, and takes that others have published.
//!
//! ```ignore
//! data::publish("light", &[level])?;                      // at the node that the network file names
//! while let Some(taken) = data::take("light", &mut message)? { use_it(&message[..taken.length]) }
//! ```
//!
//! The component that speaks with other nodes offers both as the services `publish` and `take`, which `uses` grants under these names. A call never
//! waits: a message is on its way when that component's next job is done. Words cross as they are; nothing here is trusted by the other side.

use crate::grant;
use tactus_abi::monitors::hash;

/// The most bytes of a message.
pub const LONGEST: usize = 8 * WORDS;
/// Words of a message.
pub const WORDS: usize = 7;

/// Why a message was not published, or none taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(u64)]
pub enum DataError {
    /// The component may not call the service, or nobody answers.
    NotGranted = 1,
    /// This node publishes, or receives, no data of this name.
    NoStream = 2,
    /// It is data of an application, and this is not its program; or of the node itself, and this is a program of a slot.
    NotHosted = 3,
    /// It has not the size that the network file declares.
    Size = 4,
    /// As many messages wait as have room.
    Full = 5,
    /// Another thread is at the same data.
    Busy = 6,
}

impl DataError {
    /// The reason with this number; nothing for 0, which is none.
    const fn of(number: u64) -> Option<DataError> {
        Some(match number {
            0 => return None,
            2 => DataError::NoStream,
            3 => DataError::NotHosted,
            4 => DataError::Size,
            5 => DataError::Full,
            6 => DataError::Busy,
            _ => DataError::NotGranted,
        })
    }
}

/// A message that was taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Taken {
    /// The node that published it, by its place in the network file.
    pub from: u32,
    /// Its number there.
    pub sequence: u32,
    /// Its bytes.
    pub length: usize,
}

/// Publishes a message of the data with this name.
///
/// # Errors
/// [`DataError`]
pub fn publish(name: &str, message: &[u8]) -> Result<(), DataError> {
    if message.len() > LONGEST {
        return Err(DataError::Size);
    }
    let mut words = [0; 10];
    (words[0], words[1]) = (hash(name), message.len() as u64);
    words[2..2 + WORDS].copy_from_slice(&packed(message));
    let [status, ..] = grant("publish").call_wide(words).map_err(|_| DataError::NotGranted)?;
    DataError::of(status).map_or(Ok(()), Err)
}

/// Takes the message of the data with this name that has waited longest, of several senders' in turn; nothing if none waits.
///
/// # Errors
/// [`DataError`]
pub fn take(name: &str, message: &mut [u8; LONGEST]) -> Result<Option<Taken>, DataError> {
    let mut words = [0; 10];
    words[0] = hash(name);
    let words = grant("take").call_wide(words).map_err(|_| DataError::NotGranted)?;
    if let Some(why) = DataError::of(words[0]) {
        return Err(why);
    }
    let length = (words[1] >> 1) as usize;
    if words[1] & 1 == 0 || length > LONGEST {
        return Ok(None);
    }
    *message = unpacked(&words[3..]);
    Ok(Some(Taken { from: words[2] as u32, sequence: (words[2] >> 32) as u32, length }))
}

/// A message of at most [`LONGEST`] bytes as words.
pub fn packed(message: &[u8]) -> [u64; WORDS] {
    let mut words = [0; WORDS];
    for (word, bytes) in words.iter_mut().zip(message.chunks(8)) {
        let mut padded = [0; 8];
        padded[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_le_bytes(padded);
    }
    words
}

/// Words as bytes.
pub fn unpacked(words: &[u64]) -> [u8; LONGEST] {
    let mut message = [0; LONGEST];
    for (bytes, word) in message.chunks_exact_mut(8).zip(words) {
        bytes.copy_from_slice(&word.to_le_bytes());
    }
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_crosses_as_words_and_comes_back_as_it_was() {
        for length in 0..=LONGEST {
            let mut message = [0; LONGEST];
            message[..length].iter_mut().zip(1..).for_each(|(byte, n)| *byte = n);
            assert_eq!(unpacked(&packed(&message[..length])), message);
        }
        assert_eq!(DataError::of(0), None);
        let all = [DataError::NoStream, DataError::NotHosted, DataError::Size, DataError::Full, DataError::Busy];
        assert!(all.iter().all(|why| DataError::of(*why as u64) == Some(*why)));
        assert_eq!(DataError::of(77), Some(DataError::NotGranted));
    }
}
