//! Lines of text for the console component, which needs not be trusted with anything else.

use crate::calls;
use crate::service::grant;
use core::fmt;

/// Bytes of text in one call.
pub const BYTES: usize = 32;

/// Writes to the console component's service, granted as `console`. A line appears when it is complete, behind this
/// component's name. Text is lost, with [`fmt::Error`], where the service is not granted or is at work for another thread
/// of this component.
pub struct Console;

impl fmt::Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let service = grant("console");
        for part in text.as_bytes().chunks(BYTES) {
            let mut words = [part.len() as u64, 0, 0, 0, 0];
            for (word, bytes) in words[1..].iter_mut().zip(part.chunks(8)) {
                let mut padded = [0; 8];
                padded[..bytes.len()].copy_from_slice(bytes);
                *word = u64::from_le_bytes(padded);
            }
            match service.call(words) {
                Ok([0, _]) => {}
                _ => return Err(fmt::Error),
            }
        }
        Ok(())
    }
}

/// Writes to the machine's console by the kernel's own call, which it takes from few: see [`calls::text`].
pub struct Screen;

impl fmt::Write for Screen {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        calls::text(text);
        Ok(())
    }
}
