//! A heap for each colour, and blocks that know theirs (Gracioli 2014, sections 4.3 and 4.4).
//!
//! A block carries eight bytes: its size and its colour, four each. So giving it back needs no more than its address. The heap is
//! cache-aware, not bounded in time: blocks are found by first fit, and neighbours that are free become one.

use crate::colours::Colour;
use alloc::collections::BTreeMap;
use alloc::vec::Vec;
use core::fmt;

/// Bytes in front of every block.
pub const HEADER: u32 = 8;

/// Who chooses the colour of a block.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum HeapMode {
    /// The application, for every block ("user-centric").
    Application,
    /// The system: thread number modulo colours. What the application asks for is ignored ("OS-centric").
    System,
}

/// Memory that cannot be had or given back.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum HeapError {
    /// There is no such colour.
    NoSuchColour {
        /// What was asked for.
        asked: Colour,
        /// How many there are.
        count: u16,
    },
    /// The heap of this colour has no room for that many bytes.
    Full {
        /// Which heap.
        colour: Colour,
        /// Bytes asked for.
        bytes: u32,
    },
    /// No block begins here.
    NoBlock(u32),
}

impl fmt::Display for HeapError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            HeapError::NoSuchColour { asked, count } => {
                write!(f, "there is no colour {}: the colours are 0 to {}", asked.0, count - 1)
            }
            HeapError::Full { colour, bytes } => {
                write!(f, "the heap of colour {} has no room for {bytes} bytes: make it larger", colour.0)
            }
            HeapError::NoBlock(address) => write!(f, "no block begins at {address:#x}"),
        }
    }
}

impl core::error::Error for HeapError {}

/// Heaps side by side in one arena: the heap of colour c has bytes `c × size` to `(c + 1) × size` of it. The arena's virtual
/// pages are to be backed by frames of that colour.
#[derive(Debug)]
pub struct Heap<'a> {
    arena: &'a mut [u8],
    size: u32,
    mode: HeapMode,
    /// For each colour the free stretches: start and length.
    free: Vec<BTreeMap<u32, u32>>,
}

impl<'a> Heap<'a> {
    /// `count` heaps of equal size in an arena.
    ///
    /// # Errors
    /// Where there is no colour at all.
    pub fn new(arena: &'a mut [u8], count: u16, mode: HeapMode) -> Result<Heap<'a>, HeapError> {
        if count == 0 {
            return Err(HeapError::NoSuchColour { asked: Colour(0), count: 1 });
        }
        let size = (arena.len().min(u32::MAX as usize) / usize::from(count)) as u32 & !7;
        arena.fill(0);
        let free = (0..u32::from(count)).map(|colour| BTreeMap::from([(colour * size, size)])).collect();
        Ok(Heap { arena, size, mode, free })
    }

    /// The colour that a block of this thread gets.
    pub fn colour(&self, thread: usize, asked: Colour) -> Colour {
        match self.mode {
            HeapMode::Application => asked,
            HeapMode::System => Colour((thread % self.free.len()) as u16),
        }
    }

    /// Finds room for `bytes` bytes, aligned to 8.
    ///
    /// # Errors
    /// Where there is no such colour or no room.
    pub fn allocate(&mut self, bytes: u32, thread: usize, asked: Colour) -> Result<u32, HeapError> {
        let colour = self.colour(thread, asked);
        let count = self.free.len() as u16;
        let free = self.free.get_mut(usize::from(colour.0)).ok_or(HeapError::NoSuchColour { asked: colour, count })?;
        let full = HeapError::Full { colour, bytes };
        let needed = bytes.checked_add(HEADER + 7).ok_or(full)? & !7;
        let (&start, &length) = free.iter().find(|(_, length)| **length >= needed).ok_or(full)?;
        free.remove(&start);
        if length > needed {
            free.insert(start + needed, length - needed);
        }
        let at = start as usize;
        self.arena[at..at + 4].copy_from_slice(&needed.to_le_bytes());
        self.arena[at + 4..at + 8].copy_from_slice(&(u32::from(colour.0) + 1).to_le_bytes());
        Ok(start + HEADER)
    }

    fn word(&self, at: usize) -> Option<u32> {
        let bytes = self.arena.get(at..at + 4)?;
        Some(u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]))
    }

    /// Gives a block back to the heap that it came from, which its header names.
    ///
    /// # Errors
    /// Where no block begins here.
    pub fn give_back(&mut self, address: u32) -> Result<Colour, HeapError> {
        let none = HeapError::NoBlock(address);
        let start = address.checked_sub(HEADER).ok_or(none)?;
        let at = start as usize;
        let length = self.word(at).ok_or(none)?;
        let colour = self.word(at + 4).and_then(|word| word.checked_sub(1)).ok_or(none)?;
        let fits = length >= HEADER && length % 8 == 0 && length <= self.size && address % 8 == 0;
        if !fits || colour as usize >= self.free.len() || start / self.size.max(1) != colour {
            return Err(none);
        }
        let free = &mut self.free[colour as usize];
        let before = free.range(..=start).next_back().map(|(start, length)| (*start, *length));
        if before.is_some_and(|(from, long)| from + long > start) {
            return Err(none);
        }
        self.arena[at..at + 8].fill(0);
        let (mut start, mut length) = (start, length);
        if let Some((from, long)) = before.filter(|(from, long)| from + long == start) {
            free.remove(&from);
            (start, length) = (from, length + long);
        }
        if let Some(long) = free.remove(&(start + length)) {
            length += long;
        }
        free.insert(start, length);
        Ok(Colour(colour as u16))
    }

    /// Free bytes of a colour.
    pub fn free(&self, colour: Colour) -> u32 {
        self.free.get(usize::from(colour.0)).map_or(0, |free| free.values().sum())
    }
}
