//! Cores that a scheduler lends to those below it which share queues among several: what its cores tell each other of these, and
//! what it asks of the one above.
//!
//! On each core it decides alone ([`Tier`]). So that the one below never has a core whose loss it does not know of, what it has
//! on each is in words that the one above writes and it reads ([`Held`]), and what is to be done about it on another core is
//! left there in bits before that core is called. A scheduler that is itself lent its cores may be without some of them: what it
//! gave the one below there is lost as well, which the cores that it has find out and tell ([`Turn::hear`]); they do not touch
//! what the lost core keeps for itself. And a core that the one below wants and this scheduler has given back it has to ask for
//! in turn ([`Turn::wants`]).
//!
//! Nothing here waits: any core may be taken away at any time.

use super::platform::{news, Held, News, Rest};
use super::tier::{joined, Below, Tier};
use alloc::vec::Vec;
use core::sync::atomic::{AtomicU64, AtomicU8, Ordering::SeqCst};
use tactus_time::{CoreId, CoreSet, Instant, TaskId, MAX_CORES};

/// What all cores of one scheduler know of those below it.
pub struct Lending {
    /// The cores that are tied by queues of any of them, set by set.
    sets: Vec<CoreSet>,
    below: Vec<Lent>,
    /// The cores that it has given back, or is about to; at first all.
    gone: AtomicU8,
    /// By core: the core that asked the one above for it, plus one.
    asked: [AtomicU8; MAX_CORES],
}

/// What cores tell each other of one scheduler below. Sets of cores are bits.
struct Lent {
    rest: AtomicU8,
    again: AtomicU8,
    /// By core: where it was lost.
    rouse: [AtomicU8; MAX_CORES],
    /// By core: when it wants it again which it has given back.
    wake: [AtomicU64; MAX_CORES],
    /// By core: since when it has nothing to run there, and since when it has, of what that core was told.
    rests: [AtomicU64; MAX_CORES],
    since: [AtomicU64; MAX_CORES],
}

impl Lent {
    fn new() -> Lent {
        let never = || core::array::from_fn(|_| AtomicU64::new(u64::MAX));
        let (rest, again) = (AtomicU8::new(0), AtomicU8::new(0));
        Lent { rest, again, rouse: Default::default(), wake: never(), rests: never(), since: never() }
    }

    /// The core is to be given to the one below.
    fn again(&self, core: CoreId, now: Instant) {
        self.since[core.index()].fetch_min(now.as_nanos(), SeqCst);
        self.again.fetch_or(bit(core), SeqCst);
    }
}

/// What is around the schedulers: the machine, or a test's.
pub trait Outside {
    /// What this scheduler has of the core, as the one above says.
    fn own(&self, core: CoreId) -> Held;
    /// The word that says what the one below has of the core.
    fn held(&self, below: usize, core: CoreId) -> &AtomicU64;
    /// Calls this scheduler on another core, which it has.
    fn notify(&mut self, core: CoreId);
}

/// Why a scheduler below gave the core back: who it was, why, when it wants it again, and which others it wants.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Gave {
    /// The task that stands for it.
    pub stands: TaskId,
    /// Why.
    pub rest: Rest,
    /// When it wants this core again.
    pub until: Instant,
    /// The other cores that it wants.
    pub wants: CoreSet,
}

/// One decision of a scheduler on one core: [`hear`](Turn::hear) comes before it, [`tell`](Turn::tell) after it, and
/// [`leave`](Turn::leave) where the core is to be given back.
pub struct Turn<'a, O> {
    below: &'a [Below],
    lending: &'a Lending,
    outside: &'a mut O,
    core: CoreId,
    now: Instant,
    /// The cores that are to be asked of the one above.
    pub wants: CoreSet,
    /// All is to be decided once more.
    pub once_more: bool,
}

impl Lending {
    /// For these schedulers below.
    pub fn new(below: &[Below]) -> Lending {
        let sets = joined(below.iter().flat_map(|below| below.shared.iter().copied()));
        let below = below.iter().map(|_| Lent::new()).collect();
        Lending { sets, below, gone: AtomicU8::new(u8::MAX), asked: Default::default() }
    }
}

fn bit(core: CoreId) -> u8 {
    1 << core.0
}

/// Takes the core out of the set; whether it was in.
fn take(set: &AtomicU8, core: CoreId) -> bool {
    set.fetch_and(!bit(core), SeqCst) & bit(core) != 0
}

fn of_word(word: u64) -> Held {
    match word {
        it if it == Held::Waits as u64 => Held::Waits,
        it if it == Held::Runs as u64 => Held::Runs,
        _ => Held::Rests,
    }
}

/// The cores that share a queue with this one, below or further below, itself among them if there are others.
fn tied(below: &Below, core: CoreId) -> CoreSet {
    below.shared.iter().find(|set| set.contains(core)).copied().unwrap_or(CoreSet::EMPTY)
}

fn without(mut cores: CoreSet, core: CoreId) -> CoreSet {
    cores.remove(core);
    cores
}

/// The cores that share a queue with another one.
fn all_tied(below: &Below) -> CoreSet {
    CoreSet::from_bits(below.shared.iter().fold(0, |all, set| all | set.bits()))
}

impl<'a, O: Outside> Turn<'a, O> {
    /// The scheduler decides on the core now, which it has.
    pub fn new(below: &'a [Below], lending: &'a Lending, outside: &'a mut O, core: CoreId, now: Instant) -> Self {
        if !lending.sets.is_empty() {
            lending.gone.fetch_and(!bit(core), SeqCst);
            lending.asked[core.index()].store(0, SeqCst);
        }
        Turn { below, lending, outside, core, now, wants: CoreSet::EMPTY, once_more: false }
    }

    /// What this scheduler has of a core.
    fn has(&self, core: CoreId) -> Held {
        if core == self.core {
            return Held::Runs;
        }
        match self.outside.own(core) {
            Held::Runs if self.lending.gone.load(SeqCst) & bit(core) != 0 => Held::Rests,
            own => own,
        }
    }

    /// What the one below was last said to have of a core.
    fn word(&self, n: usize, core: CoreId) -> Held {
        of_word(self.outside.held(n, core).load(SeqCst))
    }

    /// What it has.
    fn held(&self, n: usize, core: CoreId) -> Held {
        match self.word(n, core) {
            Held::Runs if self.has(core) != Held::Runs => Held::Waits,
            held => held,
        }
    }

    /// Whether it lost a core that it still wants, and is to be given this one for it.
    fn lost(&self, n: usize, from: u8) -> bool {
        CoreSet::from_bits(from).iter().any(|it| self.word(n, it) == Held::Waits)
    }

    /// Whether the one below is to be given the core, which it has not yet been.
    fn awaits(&self, n: usize, core: CoreId) -> bool {
        let lent = &self.lending.below[n];
        lent.again.load(SeqCst) & bit(core) != 0 || self.lost(n, lent.rouse[core.index()].load(SeqCst))
    }

    /// Finds out what those below have lost with cores that this scheduler is without. When that is to be looked at again at the
    /// latest, for such as want one of them by then.
    pub fn look(&mut self) -> Instant {
        let mut first = Instant::NEVER;
        if self.lending.sets.is_empty() {
            return first;
        }
        // Whoever has none of these is not told of them, nor heard by the one above.
        let tied = self.lending.sets.iter().find(|set| set.contains(self.core)).copied().unwrap_or(CoreSet::EMPTY);
        for (n, below) in self.below.iter().enumerate() {
            let both = CoreSet::from_bits(all_tied(below).bits() & tied.bits());
            for core in without(both, self.core).iter() {
                match self.has(core) {
                    Held::Waits => {
                        self.lose(n, core);
                        if self.word(n, core) == Held::Rests {
                            first = first.min(self.wake(n, core));
                        }
                    }
                    // Whoever asked for it may have been taken away before it could say so.
                    Held::Rests if self.awaits(n, core) => self.want(core),
                    _ => {}
                }
            }
        }
        first
    }

    /// Does what this core was told of those below. `gave`: who has just given it back. `settled`: whether what was lost elsewhere
    /// is looked at although there are other things to be done first. A decision is to follow.
    pub fn hear(&mut self, tier: &mut Tier, gave: Option<TaskId>, settled: bool) {
        if self.lending.sets.is_empty() {
            return;
        }
        let (own, now) = (self.core.index(), self.now);
        let here = |set: &AtomicU8| set.load(SeqCst) & bit(self.core) != 0;
        let other =
            !self.wants.is_empty() || self.lending.below.iter().any(|lent| here(&lent.again) || here(&lent.rest));
        for (n, below) in self.below.iter().enumerate() {
            if !all_tied(below).contains(self.core) {
                continue;
            }
            let lent = &self.lending.below[n];
            let since = |word: &AtomicU64| Instant::from_nanos(word.swap(u64::MAX, SeqCst)).min(now);
            // If it has been given the core since, or waits for it anew, that is no longer so.
            if take(&lent.rest, self.core) && self.word(n, self.core) == Held::Rests {
                tier.rest(below.stands, since(&lent.rests[own]));
            }
            let again = take(&lent.again, self.core);
            let lost = (settled || !other) && self.lost(n, lent.rouse[own].swap(0, SeqCst));
            if lent.rouse[own].load(SeqCst) != 0 {
                self.once_more = true;
            }
            let at = since(&lent.since[own]);
            if again || lost {
                tier.rouse(below.stands, at, gave == Some(below.stands));
            }
        }
    }

    fn wake(&self, n: usize, core: CoreId) -> Instant {
        Instant::from_nanos(self.lending.below[n].wake[core.index()].load(SeqCst))
    }

    /// The one below is without a core that this scheduler is without.
    fn lose(&mut self, n: usize, core: CoreId) {
        let before = self.word(n, core);
        let wants = match before {
            Held::Runs => true,
            Held::Waits => false,
            Held::Rests => self.awaits(n, core) || self.wake(n, core) <= self.now,
        };
        let word = self.outside.held(n, core);
        if wants && word.compare_exchange(before as u64, Held::Waits as u64, SeqCst, SeqCst).is_ok() {
            let lent = &self.lending.below[n];
            lent.wake[core.index()].store(u64::MAX, SeqCst);
            if before == Held::Rests {
                // It counts on the core from now on.
                lent.again(core, self.now);
            }
            let news = self.news(n, core, (before, Held::Waits), Rest::No);
            self.follow(n, core, &news);
        }
    }

    fn news(&self, n: usize, core: CoreId, (before, after): (Held, Held), rest: Rest) -> News {
        let others = without(tied(&self.below[n], core), core);
        news(before, after, rest, (others, &|it| self.held(n, it)))
    }

    /// Does what follows from what the one below has of a core now.
    fn follow(&mut self, n: usize, core: CoreId, news: &News) {
        let lent = &self.lending.below[n];
        for other in news.rest.iter() {
            let word = self.outside.held(n, other);
            if word.compare_exchange(Held::Waits as u64, Held::Rests as u64, SeqCst, SeqCst).is_ok() {
                lent.again.fetch_and(!bit(other), SeqCst);
                lent.since[other.index()].store(u64::MAX, SeqCst);
                lent.rests[other.index()].store(self.now.as_nanos(), SeqCst);
                lent.rest.fetch_or(bit(other), SeqCst);
            }
        }
        news.again.iter().for_each(|other| lent.again(other, self.now));
        for other in news.rouse.iter() {
            lent.since[other.index()].fetch_min(self.now.as_nanos(), SeqCst);
            lent.rouse[other.index()].fetch_or(bit(core), SeqCst);
        }
        for other in news.tell.iter() {
            self.reach(other);
        }
    }

    /// Sees to it that a core looks at what it was told.
    fn reach(&mut self, core: CoreId) {
        if core == self.core {
            self.once_more = true;
            return;
        }
        match self.has(core) {
            Held::Runs => self.outside.notify(core),
            Held::Rests => {
                if (0..self.below.len()).any(|n| self.awaits(n, core)) {
                    self.want(core);
                }
            }
            Held::Waits => (0..self.below.len()).for_each(|n| self.lose(n, core)),
        }
    }

    /// Asks the one above for a core, unless that has been done.
    fn want(&mut self, core: CoreId) {
        let asked = &self.lending.asked[core.index()];
        let asker = asked.load(SeqCst);
        if asker == 0 || self.has(CoreId(asker - 1)) == Held::Waits {
            asked.store(self.core.0 + 1, SeqCst);
            self.wants.insert(core);
        }
    }

    /// Tells other cores, and the schedulers below, what was decided. `gave`: who gave the core back, if any did.
    pub fn tell(&mut self, tier: &mut Tier, gave: Option<&Gave>) {
        if self.lending.sets.is_empty() {
            return;
        }
        for (n, below) in self.below.iter().enumerate() {
            if !all_tied(below).contains(self.core) {
                continue;
            }
            let gave = gave.filter(|gave| gave.stands == below.stands);
            let rest = gave.map_or(Rest::No, |gave| gave.rest);
            let after = tier.held(below.stands);
            let before = of_word(self.outside.held(n, self.core).swap(after as u64, SeqCst));
            let wake = &self.lending.below[n].wake[self.core.index()];
            match gave {
                _ if after != Held::Rests => wake.store(u64::MAX, SeqCst),
                Some(gave) => wake.store(gave.until.as_nanos(), SeqCst),
                None => {}
            }
            let news = self.news(n, self.core, (before, after), rest);
            self.follow(n, self.core, &news);
            // Only now: whoever answers is to know what is held here.
            let refused = gave.is_some_and(|gave| self.ask(n, gave.wants));
            if news.here || refused && rest == Rest::Asked {
                tier.rouse(below.stands, self.now, false);
                self.once_more = true;
            }
        }
    }

    /// The one below wants other cores. Whether one of them was refused it before.
    pub fn ask(&mut self, n: usize, wants: CoreSet) -> bool {
        let others = without(all_tied(&self.below[n]), self.core);
        let mut refused = false;
        for other in wants.iter().filter(|it| others.contains(*it)) {
            self.lending.below[n].again(other, self.now);
            self.reach(other);
            refused |= self.held(n, other) == Held::Waits;
        }
        refused
    }

    /// There is nothing to run on the core, and it is to be given back. Why; nothing if it was told something meanwhile, and
    /// all is to be decided once more.
    pub fn leave(&mut self) -> Option<Rest> {
        if self.lending.sets.is_empty() {
            return Some(Rest::Own);
        }
        self.lending.gone.fetch_or(bit(self.core), SeqCst);
        let told = (0..self.below.len())
            .any(|n| self.awaits(n, self.core) || self.lending.below[n].rest.load(SeqCst) & bit(self.core) != 0);
        if told {
            self.lending.gone.fetch_and(!bit(self.core), SeqCst);
            return None;
        }
        let elsewhere = |(n, below): (usize, &Below)| {
            let others = without(tied(below, self.core), self.core);
            let runs =
                |core: CoreId| self.held(n, core) == Held::Runs || self.awaits(n, core) && self.has(core) == Held::Runs;
            self.held(n, self.core) == Held::Rests && others.iter().any(runs)
        };
        Some(match self.below.iter().enumerate().any(elsewhere) {
            _ if !self.wants.is_empty() => Rest::Asked,
            true => Rest::Elsewhere,
            false => Rest::Own,
        })
    }
}
