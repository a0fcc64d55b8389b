//! The counters that the modelled caches of an emulated machine keep for a component: all cores together.

use super::{Counters, Event, NoCounters, Refused};
use crate::service::info;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tactus_abi::counters::{event, of_core, EVENTS, MAGIC};
use tactus_abi::layout::{COUNTERS, MAX_CORES};

/// Channels, any of which counts anything.
const CHANNELS: usize = 4;
/// Words of a page of counters.
const WORDS: usize = of_core(MAX_CORES);

#[derive(Clone, Copy)]
struct Channel {
    /// Place of the event among a core's words; `EVENTS` if it is not configured.
    event: usize,
    counts: bool,
    /// What it had counted when it was last stopped, less what the machine had counted when it was started.
    offset: u64,
}

/// The counters of one component.
pub struct Modelled<'a> {
    words: &'a [AtomicU64; WORDS],
    cores: usize,
    channels: [Channel; CHANNELS],
}

/// The counters of the component that runs here.
pub enum Own {
    /// Somebody models caches.
    Modelled(Modelled<'static>),
    /// Nobody does, or the system file grants this component none.
    None(NoCounters),
}

/// The counters of the component that runs here.
pub fn own() -> Own {
    let counted = page().and_then(|words| Modelled::new(words, info().cores as usize));
    counted.map_or(Own::None(NoCounters), Own::Modelled)
}

/// The lines that all other components asked memory for on a core, at user level, as they are counted for the root scheduler where a
/// budget is one of misses; nothing where nobody counts.
pub fn lines_of(core: u8) -> Option<u64> {
    counted_on(core, event::SHARED_MISSES)
}

/// The accesses of all other components on a core, at user level, that found the line changed by another core, as they are counted for the
/// root scheduler where work gives way to its counter; nothing where nobody counts.
pub fn changed_of(core: u8) -> Option<u64> {
    counted_on(core, event::CHANGED)
}

fn counted_on(core: u8, event: usize) -> Option<u64> {
    let word = of_core(usize::from(core) % MAX_CORES) + event;
    page().filter(|words| words[0].load(Relaxed) == MAGIC).map(|words| words[word].load(Relaxed))
}

/// The page of counters of the component that runs here.
fn page() -> Option<&'static [AtomicU64; WORDS]> {
    if info().counters == 0 {
        return None;
    }
    // SAFETY: the page is mapped read-only where the information page says so; it is longer than that, and nothing but loads is done to it.
    Some(unsafe { &*(COUNTERS as *const [AtomicU64; WORDS]) })
}

impl<'a> Modelled<'a> {
    /// Over a page of counters of so many cores; nothing if nobody counts.
    pub fn new(words: &'a [AtomicU64; WORDS], cores: usize) -> Option<Self> {
        let free = Channel { event: EVENTS, counts: false, offset: 0 };
        let there = words[0].load(Relaxed) == MAGIC;
        there.then_some(Modelled { words, cores: cores.min(MAX_CORES), channels: [free; CHANNELS] })
    }

    /// What the machine has counted of an event on all cores.
    fn counted(&self, event: usize) -> u64 {
        let cores = self.words[EVENTS..].chunks_exact(EVENTS).take(self.cores);
        cores.map(|words| words[event % EVENTS].load(Relaxed)).fold(0, u64::wrapping_add)
    }

    fn channel(&mut self, channel: usize) -> Result<&mut Channel, Refused> {
        self.channels.get_mut(channel).ok_or(Refused::NoChannel)
    }
}

impl Counters for Modelled<'_> {
    fn channels(&self) -> usize {
        CHANNELS
    }

    fn configure(&mut self, channel: usize, event: Event) -> Result<(), Refused> {
        let event = match event {
            Event::Instructions => event::INSTRUCTIONS,
            Event::Accesses => event::ACCESSES,
            Event::Writes => event::WRITES,
            Event::PrivateMisses => event::PRIVATE_MISSES,
            Event::SharedMisses => event::SHARED_MISSES,
            Event::Changed => event::CHANGED,
            Event::Cycles => return Err(Refused::NoSuchEvent),
        };
        *self.channel(channel)? = Channel { event, counts: false, offset: 0 };
        Ok(())
    }

    fn start(&mut self, channel: usize) -> Result<(), Refused> {
        let it = *self.channel(channel)?;
        if it.event == EVENTS || it.counts {
            return Err(Refused::NotNow);
        }
        let offset = it.offset.wrapping_sub(self.counted(it.event));
        *self.channel(channel)? = Channel { counts: true, offset, ..it };
        Ok(())
    }

    fn stop(&mut self, channel: usize) -> Result<(), Refused> {
        let it = *self.channel(channel)?;
        if !it.counts {
            return Err(Refused::NotNow);
        }
        let offset = it.offset.wrapping_add(self.counted(it.event));
        *self.channel(channel)? = Channel { counts: false, offset, ..it };
        Ok(())
    }

    #[inline]
    fn read(&self, channel: usize) -> Result<u64, Refused> {
        let it = self.channels.get(channel).ok_or(Refused::NoChannel)?;
        match (it.event, it.counts) {
            (EVENTS, _) => Err(Refused::NotNow),
            (_, false) => Ok(it.offset),
            (event, true) => Ok(it.offset.wrapping_add(self.counted(event))),
        }
    }

    fn interrupt_after(&mut self, _: usize, _: u64) -> Result<(), Refused> {
        Err(Refused::NoInterrupt)
    }
}

impl Own {
    /// Any of them.
    pub fn counters(&mut self) -> &mut dyn Counters {
        match self {
            Own::Modelled(it) => it,
            Own::None(it) => it,
        }
    }
}
