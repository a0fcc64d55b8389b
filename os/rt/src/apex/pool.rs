//! What the objects within a partition are made of: names, memory that is given out and never comes back, and tables that only grow.

use super::hypervisor::MOST_OBJECTS;
use super::mode;
use a653rs::bindings::{ApexName, ErrorReturnCode};
use core::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};

/// Words of memory for messages.
const WORDS: usize = 4_096;

static MEMORY: [AtomicU64; WORDS] = [const { AtomicU64::new(0) }; WORDS];
static GIVEN: AtomicUsize = AtomicUsize::new(0);
/// In which life of the partition memory was given out.
static GIVEN_IN: AtomicU32 = AtomicU32::new(0);

/// So many words, zeros; nothing if there are not so many any more. Only the initialisation of the partition takes some.
pub(super) fn take(words: usize) -> Option<usize> {
    if GIVEN_IN.swap(mode::life(), Ordering::Relaxed) != mode::life() {
        GIVEN.store(0, Ordering::Relaxed);
    }
    let given = GIVEN.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |given| {
        given.checked_add(words).filter(|end| *end <= WORDS)
    });
    let from = given.ok()?;
    MEMORY[from..from + words].iter().for_each(|word| word.store(0, Ordering::Relaxed));
    Some(from)
}

/// Words that were given out.
pub(super) fn words(from: usize, count: usize) -> &'static [AtomicU64] {
    MEMORY.get(from..from.saturating_add(count)).unwrap_or(&[])
}

/// A name, as four words.
pub(super) struct Name([AtomicU64; 4]);

impl Name {
    pub const fn new() -> Name {
        Name([const { AtomicU64::new(0) }; 4])
    }

    pub fn set(&self, name: &ApexName) {
        for (word, value) in self.0.iter().zip(of(name)) {
            word.store(value, Ordering::Relaxed);
        }
    }

    pub fn get(&self) -> ApexName {
        let mut name = [0; 32];
        for (bytes, word) in name.chunks_exact_mut(8).zip(&self.0) {
            bytes.copy_from_slice(&word.load(Ordering::Relaxed).to_le_bytes());
        }
        name
    }

    pub fn is(&self, name: &ApexName) -> bool {
        self.0.iter().zip(of(name)).all(|(word, value)| word.load(Ordering::Relaxed) == value)
    }
}

/// What stands before the first zero, filled up with zeros.
fn of(name: &ApexName) -> [u64; 4] {
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    let mut words = [0; 4];
    for (word, bytes) in words.iter_mut().zip(name[..end].chunks(8)) {
        let mut padded = [0; 8];
        padded[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_le_bytes(padded);
    }
    words
}

/// The text of a name.
pub(super) fn text(name: &ApexName) -> &str {
    let end = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    core::str::from_utf8(&name[..end]).unwrap_or("?")
}

/// A table of named objects; numbers count from 1.
pub(super) struct Table<T: 'static> {
    pub count: AtomicUsize,
    /// In which life of the partition they were created.
    pub life: AtomicU32,
    pub objects: [T; MOST_OBJECTS],
}

/// An object of a table.
pub(super) trait Named {
    fn name(&self) -> &Name;
}

impl<T: Named> Table<T> {
    /// Those that there are.
    pub fn all(&self) -> &[T] {
        let own = self.life.load(Ordering::Acquire) == mode::life();
        let count = if own { self.count.load(Ordering::Acquire) } else { 0 };
        self.objects.get(..count).unwrap_or(&[])
    }

    /// The object of this name, and its number.
    pub fn find(&self, name: &ApexName) -> Option<(i64, &T)> {
        let place = self.all().iter().position(|object| object.name().is(name))?;
        Some((place as i64 + 1, &self.objects[place]))
    }

    /// The object with this number.
    pub fn get(&self, number: i64) -> Result<&T, ErrorReturnCode> {
        let place = usize::try_from(number).ok().and_then(|number| number.checked_sub(1));
        place.and_then(|place| self.all().get(place)).ok_or(ErrorReturnCode::InvalidParam)
    }

    /// Makes one more, before the partition runs: only its initialisation does that.
    pub fn create(
        &self,
        name: &ApexName,
        make: impl FnOnce(&T) -> Result<(), ErrorReturnCode>,
    ) -> Result<i64, ErrorReturnCode> {
        if mode::is_normal() {
            return Err(ErrorReturnCode::InvalidMode);
        }
        if self.find(name).is_some() {
            return Err(ErrorReturnCode::NoAction);
        }
        let count = self.all().len();
        let object = self.objects.get(count).ok_or(ErrorReturnCode::InvalidConfig)?;
        make(object)?;
        object.name().set(name);
        self.count.store(count + 1, Ordering::Release);
        self.life.store(mode::life(), Ordering::Release);
        Ok(count as i64 + 1)
    }
}
