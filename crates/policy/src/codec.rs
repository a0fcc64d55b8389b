//! What the stored form of a [`PolicyConfig`](crate::PolicyConfig) is made of: numbers, times, lists; and what is wrong with other bytes.

use alloc::vec::Vec;
use core::fmt;
use tactus_time::Duration;

pub(crate) const MAGIC: [u8; 4] = *b"TSET";
pub(crate) const VERSION: u16 = 3;

/// Why bytes are not a [`PolicyConfig`](crate::PolicyConfig).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DecodeError {
    /// They do not begin with the magic.
    Magic,
    /// They were written by another version: this one.
    Version(u16),
    /// They end too early, or a count is larger than what follows.
    Truncated,
    /// The byte at this offset has a value without meaning.
    Value(usize),
    /// So many bytes are left over at the end.
    Trailing(usize),
}

impl fmt::Display for DecodeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            DecodeError::Magic => write!(f, "not a scheduler set-up: it does not begin with TSET"),
            DecodeError::Version(v) => {
                write!(
                    f,
                    "a scheduler set-up of version {v}; this program reads version {VERSION}: build the image again"
                )
            }
            DecodeError::Truncated => write!(f, "the scheduler set-up ends too early"),
            DecodeError::Value(at) => write!(f, "the scheduler set-up has a byte without meaning at offset {at}"),
            DecodeError::Trailing(n) => write!(f, "the scheduler set-up is followed by {n} bytes too many"),
        }
    }
}

impl core::error::Error for DecodeError {}

pub(crate) fn put(out: &mut Vec<u8>, number: u64) {
    out.extend(number.to_le_bytes());
}

/// A number that there may be.
pub(crate) fn put_optional(out: &mut Vec<u8>, number: Option<u64>) {
    out.push(u8::from(number.is_some()));
    number.into_iter().for_each(|number| put(out, number));
}

/// Parameters of a policy, as they are stored behind its number.
pub(crate) trait Parameters: Sized {
    /// Adds the stored form to `out`.
    fn encode(&self, out: &mut Vec<u8>);
    /// Reads the stored form.
    fn decode(input: &mut Input) -> Result<Self, DecodeError>;
}

/// What is still to be read. `at` never passes the end.
pub(crate) struct Input<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) at: usize,
}

impl<'a> Input<'a> {
    /// Whether nothing is left; if something is, how much.
    pub(crate) fn end(&self) -> Result<(), DecodeError> {
        match self.bytes.len() - self.at {
            0 => Ok(()),
            left => Err(DecodeError::Trailing(left)),
        }
    }
    pub(crate) fn take<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let chunk = self.bytes[self.at..].first_chunk::<N>().ok_or(DecodeError::Truncated)?;
        self.at += N;
        Ok(*chunk)
    }
    /// The next byte.
    pub(crate) fn byte(&mut self) -> Result<u8, DecodeError> {
        Ok(self.take::<1>()?[0])
    }
    /// The error for a byte without meaning that was just read.
    pub(crate) fn no_meaning(&self) -> DecodeError {
        DecodeError::Value(self.at - 1)
    }
    pub(crate) fn number(&mut self) -> Result<u64, DecodeError> {
        Ok(u64::from_le_bytes(self.take()?))
    }
    pub(crate) fn time(&mut self) -> Result<Duration, DecodeError> {
        Ok(Duration::from_nanos(self.number()?))
    }
    pub(crate) fn boolean(&mut self) -> Result<bool, DecodeError> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(self.no_meaning()),
        }
    }
    /// A number that there may be.
    pub(crate) fn optional(&mut self) -> Result<Option<u64>, DecodeError> {
        Ok(if self.boolean()? { Some(self.number()?) } else { None })
    }
    pub(crate) fn list<T>(
        &mut self,
        least_bytes: usize,
        item: impl Fn(&mut Self) -> Result<T, DecodeError>,
    ) -> Result<Vec<T>, DecodeError> {
        let count = usize::try_from(self.number()?).map_err(|_| DecodeError::Truncated)?;
        if count > (self.bytes.len() - self.at) / least_bytes {
            return Err(DecodeError::Truncated);
        }
        (0..count).map(|_| item(self)).collect()
    }
}
