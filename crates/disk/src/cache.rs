//! The drive's own memory: what it read ahead, and writes that it answered before they were on the platter.

use crate::request::Request;
use alloc::vec::Vec;

/// How much memory, in parts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CacheSettings {
    /// Runs of blocks that are kept of reads; none: no read cache.
    pub segments: usize,
    /// How many blocks are read ahead at most while the drive has nothing to do.
    pub ahead: u64,
    /// Writes that are answered at once and written later; none: each is written through.
    pub writes: usize,
}

/// What a power cut did to a write that was answered but not yet on the platter.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lost {
    /// All of it is on the platter after all.
    Nothing(Request),
    /// None of it is.
    All(Request),
    /// Sectors before this one are new, this one is torn, later ones are old.
    Torn(Request, u32),
}

#[derive(Clone, Debug)]
pub(crate) struct Cache {
    pub(crate) settings: CacheSettings,
    /// (first block, block after the last), the latest last.
    runs: Vec<(u64, u64)>,
    dirty: Vec<Request>,
}

impl Cache {
    pub(crate) fn new(settings: CacheSettings) -> Cache {
        Cache { settings, runs: Vec::with_capacity(settings.segments), dirty: Vec::with_capacity(settings.writes) }
    }

    /// Whether all blocks of a read are there.
    pub(crate) fn holds(&self, request: &Request) -> bool {
        let end = request.block + u64::from(request.blocks);
        self.runs.iter().any(|&(from, to)| from <= request.block && end <= to)
            || self.dirty.iter().any(|kept| kept.block <= request.block && end <= kept.block + u64::from(kept.blocks))
    }

    /// How many blocks of a read are still to pass, where it begins in what the drive is just reading ahead: the arm need not
    /// move, nor the platter turn back.
    pub(crate) fn streams(&self, request: &Request) -> Option<u64> {
        let (from, to) = *self.runs.last()?;
        let end = request.block + u64::from(request.blocks);
        (self.settings.ahead > 0 && (from..=to).contains(&request.block) && end > to).then(|| end - to)
    }

    /// The drive had time to read this number of further blocks behind the latest run.
    pub(crate) fn extend(&mut self, blocks: u64, end: u64) {
        let ahead = self.settings.ahead;
        if let Some((_, to)) = self.runs.last_mut() {
            *to = (*to + blocks.min(ahead)).min(end);
        }
    }

    pub(crate) fn keep_read(&mut self, request: &Request) {
        if self.settings.segments > 0 {
            if self.runs.len() == self.settings.segments {
                self.runs.remove(0);
            }
            self.runs.push((request.block, request.block + u64::from(request.blocks)));
        }
    }

    /// What was read of these blocks is old.
    pub(crate) fn forget(&mut self, request: &Request) {
        let end = request.block + u64::from(request.blocks);
        self.runs.retain(|&(from, to)| to <= request.block || end <= from);
    }

    /// Keeps a write for later, if there is room.
    pub(crate) fn keep_write(&mut self, request: &Request) -> bool {
        let room = self.dirty.len() < self.settings.writes;
        if room {
            self.dirty.push(*request);
        }
        room
    }
    pub(crate) fn oldest(&mut self) -> Option<Request> {
        (!self.dirty.is_empty()).then(|| self.dirty.remove(0))
    }
    pub(crate) fn nth(&self, n: usize) -> Option<Request> {
        self.dirty.get(n).copied()
    }
    pub(crate) fn dirty(&self) -> usize {
        self.dirty.len()
    }

    /// The power goes: which writes survive is drawn from `draw`, at most one of them is torn. Each is told, the oldest first.
    pub(crate) fn cut(&mut self, mut draw: impl FnMut() -> u64, tell: &mut impl FnMut(Lost)) {
        self.runs.clear();
        let torn = (!self.dirty.is_empty()).then(|| (draw() % self.dirty.len() as u64) as usize);
        for (n, request) in self.dirty.drain(..).enumerate() {
            tell(match draw() % 2 {
                _ if Some(n) == torn => Lost::Torn(request, (draw() % u64::from(request.blocks.max(1))) as u32),
                0 => Lost::Nothing(request),
                _ => Lost::All(request),
            });
        }
    }
}
