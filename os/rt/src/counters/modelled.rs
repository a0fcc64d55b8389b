//! The counters that the modelled caches of an emulated machine keep for a component, all cores together, and for each of its threads.

use super::{Counters, Event, NoCounters, Refused};
use crate::service::info;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use tactus_abi::counters::{event, of_core, of_thread, EVENTS, MAGIC, THREADS};
use tactus_abi::layout::{COUNTERS, MAX_CORES, STACKS, STACK_STRIDE};

/// Channels, any of which counts anything.
const CHANNELS: usize = 4;
/// The words of a core, or of a thread.
type Words = [AtomicU64; EVENTS];
/// A page of counters: one word that says that there are any, the words of cores, and those of threads.
pub type Page = [Words; of_thread(THREADS) / EVENTS];
/// Where the words of cores and threads begin in it.
const CORES: usize = of_core(0) / EVENTS;
const ITS_THREADS: usize = of_thread(0) / EVENTS;

#[derive(Clone, Copy)]
struct Channel {
    /// Place of the event among a core's words; `EVENTS` if it is not configured.
    event: usize,
    counts: bool,
    /// What it had counted when it was last stopped, less what the machine had counted when it was started.
    offset: u64,
}

/// The counters of one component, or of one thread in it.
pub struct Modelled<'a> {
    /// Those of each core, or of the thread.
    words: &'a [Words],
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

/// The counters of the thread that calls, for what it does in the component that runs here. Nothing counts for a thread that came after
/// [`tactus_abi::counters::THREADS`] others.
pub fn own_thread() -> Own {
    let here = 0_u8;
    // A thread has the same place for its stack wherever it is.
    let number = ((&raw const here).addr() as u64).saturating_sub(STACKS) / STACK_STRIDE;
    let counted = page().and_then(|words| Modelled::of_thread(words, number));
    counted.map_or(Own::None(NoCounters), Own::Modelled)
}

/// The lines that all other components asked memory for on a core, at user level, as they are counted for the root scheduler where a
/// budget is one of misses; nothing where nobody counts.
pub fn lines_of(core: u8) -> Option<u64> {
    counted_on(core, event::SHARED_MISSES)
}

/// The changed lines that all other components made memory take back on a core, as [`lines_of`] counts those that they asked for.
pub fn written_back_of(core: u8) -> Option<u64> {
    counted_on(core, event::WRITE_BACKS)
}

/// The accesses of all other components on a core, at user level, that found the line changed by another core, as they are counted for the
/// root scheduler where work gives way to its counter; nothing where nobody counts.
pub fn changed_of(core: u8) -> Option<u64> {
    counted_on(core, event::CHANGED)
}

fn counted_on(core: u8, event: usize) -> Option<u64> {
    let core = CORES + usize::from(core) % MAX_CORES;
    page().filter(|page| page[0][0].load(Relaxed) == MAGIC).map(|page| page[core][event % EVENTS].load(Relaxed))
}

/// The page of counters of the component that runs here.
fn page() -> Option<&'static Page> {
    if info().counters == 0 {
        return None;
    }
    // SAFETY: the page is mapped read-only where the information page says so; it is longer than that, and nothing but loads is done to it.
    Some(unsafe { &*(COUNTERS as *const Page) })
}

impl<'a> Modelled<'a> {
    /// Over a page of counters of so many cores; nothing if nobody counts.
    pub fn new(page: &'a Page, cores: usize) -> Option<Self> {
        (page[0][0].load(Relaxed) == MAGIC).then(|| Modelled::over(&page[CORES..][..cores.min(MAX_CORES)]))
    }

    /// Of a thread, by its number, in a page of counters; nothing if nobody counts for it.
    pub fn of_thread(page: &'a Page, number: u64) -> Option<Self> {
        let mut threads = page[ITS_THREADS..].iter();
        let own = threads.find(|words| words[event::THREAD].load(Relaxed) == number + 1);
        own.map(|words| Modelled::over(core::slice::from_ref(words)))
    }

    fn over(words: &'a [Words]) -> Self {
        Modelled { words, channels: [Channel { event: EVENTS, counts: false, offset: 0 }; CHANNELS] }
    }

    /// What the machine has counted of an event.
    fn counted(&self, event: usize) -> u64 {
        self.words.iter().map(|words| words[event % EVENTS].load(Relaxed)).fold(0, u64::wrapping_add)
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
            Event::WriteBacks => event::WRITE_BACKS,
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
        // First what is read often. What counts is configured.
        match (it.event, it.counts) {
            (event, true) => Ok(it.offset.wrapping_add(self.counted(event))),
            (EVENTS, false) => Err(Refused::NotNow),
            (_, false) => Ok(it.offset),
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
