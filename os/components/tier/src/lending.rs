//! Cores that are lent to a scheduler below which shares a queue among several: what its cores' schedulers up here tell each
//! other of it ([`tactus_policy::news`]), and what they tell it.
//!
//! It says itself which cores it wants, by giving back one that it has with a word that is no time ([`Word`]).

use crate::state::{Child, CoreState, Own};
use core::ptr::{addr_of, addr_of_mut};
use core::sync::atomic::{AtomicU8, Ordering::SeqCst};
use tactus_policy::{news, Below, Held, Rest};
use tactus_rt::abi::call::NO_TIMEOUT;
use tactus_rt::abi::layout::{LENT, LENT_PAGES, MAX_CORES, PAGE};
use tactus_rt::abi::shared::LentPage;
use tactus_rt::time::{CoreId, CoreSet, Duration, Instant};
use tactus_rt::{calls, region};

/// What a scheduler below says by giving a core back, beside a time: the time-out is one of the last that there are.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// Why it gave the core back.
    pub why: Why,
    /// The cores that it wants.
    pub wants: CoreSet,
}

/// Why a core is given back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Why {
    /// Other cores have all that there is to run.
    Elsewhere = 0,
    /// Other cores are to have it.
    Asked = 1,
    /// Only to say so.
    GoesOn = 2,
    /// There was nothing to run for a moment.
    Moment = 3,
}

/// Set in a time-out up to which there is nothing to run but budgets go by while the server is the most urgent: no clock comes as
/// far, and it is none of the last time-outs that there are.
const HOLLOW: u64 = 1 << 62;

/// The time-out that says so.
pub fn hollow(until: u64) -> u64 {
    until.min(HOLLOW - 1) | HOLLOW
}

/// Until when, if the time-out says so.
pub fn hollow_until(timeout: u64) -> Option<u64> {
    (timeout >> 62 == 1).then_some(timeout ^ HOLLOW)
}

/// Tells the scheduler below, which is given the core, for how long its server has been the most urgent as it had asked.
pub fn tell_visited(child: &Child, core: CoreId, visited: Duration) {
    let page = (LENT_PAGES + child.component * PAGE) as *mut LentPage;
    // SAFETY: the page of a scheduler directly below, mapped writable here; this core alone writes its own place.
    unsafe {
        let place = addr_of_mut!((*page).visited[core.index()]);
        place.write_volatile(place.read_volatile().wrapping_add(visited.as_nanos()));
    }
}

/// For how long, in all, this scheduler's server was the most urgent on the core as it had asked.
pub fn visited(core: CoreId) -> u64 {
    let page = LENT as *const LentPage;
    // SAFETY: this scheduler's own page, mapped into each that is below another one; words are whole.
    unsafe { addr_of!((*page).visited[core.index()]).read_volatile() }
}

impl Word {
    /// As a time-out.
    pub fn timeout(self) -> u64 {
        NO_TIMEOUT - 1 - ((self.why as u64) << 8 | u64::from(self.wants.bits()))
    }

    /// The time-out's meaning, if it has this one.
    pub fn of(timeout: u64) -> Option<Word> {
        let rest = (NO_TIMEOUT - 1).checked_sub(timeout)?;
        let why = match rest >> 8 {
            0 => Why::Elsewhere,
            1 => Why::Asked,
            2 => Why::GoesOn,
            3 => Why::Moment,
            _ => return None,
        };
        Some(Word { why, wants: CoreSet::from_bits(rest as u8) })
    }
}

/// What cores tell each other of one scheduler below. Sets of cores are bits.
#[derive(Default)]
pub struct Lent {
    /// Whether it is on several cores that share a queue.
    pub several: bool,
    held: [AtomicU8; MAX_CORES],
    rest: AtomicU8,
    again: AtomicU8,
    /// By core: where it was lost.
    rouse: [AtomicU8; MAX_CORES],
}

impl Lent {
    fn held(&self, core: CoreId) -> Held {
        match self.held[core.index()].load(SeqCst) {
            it if it == Held::Waits as u8 => Held::Waits,
            it if it == Held::Runs as u8 => Held::Runs,
            _ => Held::Rests,
        }
    }
}

/// Takes the core out of the set; whether it was in.
fn take(set: &AtomicU8, core: u8) -> bool {
    set.fetch_and(!(1 << core), SeqCst) & 1 << core != 0
}

/// The cores that share a queue with this one, itself included.
fn queue(below: &Below, core: u8) -> Option<CoreSet> {
    below.shared.iter().copied().find(|set| set.contains(CoreId(core)))
}

/// Does what this core was told of schedulers below. `gave`: who has just given the core back, and why. A decision is to follow.
pub fn hear(state: &mut CoreState, now: Instant, gave: Option<(u64, Rest)>) {
    let (system, core) = (state.system, state.core);
    let Own::Alone(tier) = &mut state.policy else { return };
    for (below, child) in system.plan.below.iter().zip(&system.below) {
        if queue(below, core).is_none() {
            continue;
        }
        if take(&child.lent.rest, core) {
            tier.rest(below.stands, now);
        }
        let again = take(&child.lent.again, core);
        let lost = CoreSet::from_bits(child.lent.rouse[usize::from(core)].swap(0, SeqCst));
        if lost.iter().any(|it| child.lent.held(it) == Held::Waits) || again {
            let completes = gave.is_some_and(|(who, rest)| who == child.component && rest != Rest::No);
            tier.rouse(below.stands, now, completes);
        }
    }
}

/// Tells other cores, and the schedulers below, what was decided. `gave`: who gave the core back, and why. Whether all is to be
/// decided once more.
pub fn tell(state: &mut CoreState, now: Instant, gave: Option<(u64, Rest)>) -> bool {
    let (system, core) = (state.system, state.core);
    let wants = core::mem::replace(&mut state.wants, CoreSet::EMPTY);
    let Own::Alone(tier) = &mut state.policy else { return false };
    let mut once_more = false;
    for (below, child) in system.plan.below.iter().zip(&system.below) {
        let Some(mut others) = queue(below, core) else { continue };
        others.remove(CoreId(core));
        let (lent, after) = (&child.lent, tier.held(below.stands));
        let before = lent.held(CoreId(core));
        lent.held[usize::from(core)].store(after as u8, SeqCst);
        show(child, CoreId(core), after);
        let rest = gave.filter(|(who, _)| *who == child.component).map_or(Rest::No, |(_, rest)| rest);
        let news = news(before, after, rest, (others, &|it| lent.held(it)));
        for other in news.rest.iter() {
            let held = &lent.held[other.index()];
            if held.compare_exchange(Held::Waits as u8, Held::Rests as u8, SeqCst, SeqCst).is_ok() {
                show(child, other, Held::Rests);
                lent.rest.fetch_or(1 << other.0, SeqCst);
            }
        }
        lent.again.fetch_or(news.again.bits(), SeqCst);
        for other in news.rouse.iter() {
            lent.rouse[other.index()].fetch_or(1 << core, SeqCst);
        }
        for other in news.tell.iter() {
            // A core that does not exist cannot be named: the plan was made for this number of cores.
            let _ = calls::notify(other.0);
        }
        // Only now: whoever answers is to know what is held here.
        let mut refused = false;
        let (of, rest) = gave.map_or((false, Rest::No), |(who, rest)| (who == child.component, rest));
        for other in wants.iter().filter(|it| of && others.contains(*it)) {
            lent.again.fetch_or(1 << other.0, SeqCst);
            // As above.
            let _ = calls::notify(other.0);
            // It was refused before it was asked for.
            refused |= rest == Rest::Asked && lent.held(other) == Held::Waits;
        }
        if news.here || refused {
            tier.rouse(below.stands, now, false);
            once_more = true;
        }
    }
    once_more
}

/// Tells the one below what it has on the core.
fn show(child: &Child, core: CoreId, held: Held) {
    let page = (LENT_PAGES + child.component * PAGE) as *mut LentPage;
    // SAFETY: the page of a scheduler directly below, mapped writable here; it only reads it.
    unsafe { addr_of_mut!((*page).held[core.index()]).write_volatile(held as u64) }
}

/// Whether this scheduler has to do without the core, and until when it had it at the latest (a reading of the counter).
pub fn away(page: *const LentPage, core: CoreId) -> Option<u64> {
    // SAFETY: the caller's page and its region of that core, which are there; both are written in whole words.
    unsafe {
        let held = addr_of!((*page).held[core.index()]).read_volatile();
        (held == Held::Waits as u64).then(|| addr_of!((*region::of(core.0)).until).read_volatile())
    }
}

/// Whether this scheduler has the core.
pub fn is_here(page: *const LentPage, core: CoreId) -> bool {
    // SAFETY: as above.
    unsafe { addr_of!((*page).held[core.index()]).read_volatile() == Held::Runs as u64 }
}
