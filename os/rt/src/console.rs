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

impl Console {
    pub(crate) fn put(&mut self, text: &[u8]) -> fmt::Result {
        let service = grant("console");
        for part in text.chunks(BYTES) {
            match service.call(words(part)) {
                Ok([0, _]) => {}
                _ => return Err(fmt::Error),
            }
        }
        Ok(())
    }
}

impl fmt::Write for Console {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.put(text.as_bytes())
    }
}

/// How many bytes, at most [`BYTES`], and the bytes.
fn words(part: &[u8]) -> [u64; 5] {
    let mut words = [part.len() as u64, 0, 0, 0, 0];
    for (word, bytes) in words[1..].iter_mut().zip(part.chunks(8)) {
        let mut padded = [0; 8];
        padded[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_le_bytes(padded);
    }
    words
}

/// Says why and where the component gives up, as far as the kernel takes it: `src/main.rs:41: index out of bounds …`.
#[cfg(any(target_os = "none", floating_point))]
pub(crate) fn last_words(info: &core::panic::PanicInfo) {
    use fmt::Write;
    /// What is to be said as soon as it fills a call.
    struct Piece {
        bytes: [u8; BYTES],
        length: usize,
    }
    impl Piece {
        fn say(&mut self) -> fmt::Result {
            let part = &self.bytes[..self.length.min(BYTES)];
            self.length = 0;
            calls::last_words(words(part)).map_err(|_| fmt::Error)
        }
    }
    impl fmt::Write for Piece {
        fn write_str(&mut self, text: &str) -> fmt::Result {
            for &byte in text.as_bytes() {
                if let Some(place) = self.bytes.get_mut(self.length) {
                    *place = byte;
                    self.length += 1;
                }
                if self.length == BYTES {
                    self.say()?;
                }
            }
            Ok(())
        }
    }
    // Whoever panics while it says why has said enough.
    static SPEAKS: core::sync::atomic::AtomicBool = core::sync::atomic::AtomicBool::new(false);
    if SPEAKS.swap(true, core::sync::atomic::Ordering::Relaxed) {
        return;
    }
    let mut piece = Piece { bytes: [0; BYTES], length: 0 };
    let place = info.location().map_or(("?", 0), |it| (it.file(), it.line()));
    // What the kernel does not take is not said.
    let _ = write!(piece, "{}:{}: {}", place.0, place.1, info.message());
    if piece.length > 0 {
        let _ = piece.say();
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
