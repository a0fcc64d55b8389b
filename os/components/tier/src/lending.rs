//! Cores that are lent to a scheduler below which shares a queue among several: how its cores' schedulers up here reach each other
//! ([`Turn`](tactus_policy::Turn)), and what it tells them.
//!
//! It says itself which cores it wants, by giving back one that it has with a word that is no time ([`Word`]).

use crate::state::{Child, System};
use core::ptr::{addr_of, addr_of_mut};
use core::sync::atomic::AtomicU64;
use tactus_policy::{Held, Outside};
use tactus_rt::abi::call::NO_TIMEOUT;
use tactus_rt::abi::layout::{LENT, LENT_PAGES, PAGE};
use tactus_rt::abi::shared::LentPage;
use tactus_rt::time::{CoreId, CoreSet, Duration};
use tactus_rt::{calls, region};

/// What a scheduler below says by giving a core back, beside a time: a time-out that no clock comes to.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Word {
    /// Why it gave the core back.
    pub why: Why,
    /// Whether budgets go by while its server is the most urgent.
    pub hollow: bool,
    /// The cores that it wants.
    pub wants: CoreSet,
    /// When it wants this one again (a reading of the counter).
    pub until: u64,
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

/// Set in a time-out, and in a word, up to which there is nothing to run but budgets go by while the server is the most urgent: no
/// clock comes as far, and it is none of the last time-outs that there are.
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

/// Bits of a word: that it is one, why, which cores, and when; all ones if that is never.
const IS_WORD: u64 = 1 << 63;
const WHY: u32 = 60;
const WANTS: u32 = 52;
const NEVER: u64 = (1 << WANTS) - 1;

impl Word {
    /// As a time-out.
    pub fn timeout(self) -> u64 {
        let hollow = if self.hollow { HOLLOW } else { 0 };
        IS_WORD | hollow | (self.why as u64) << WHY | u64::from(self.wants.bits()) << WANTS | self.until.min(NEVER)
    }

    /// The time-out's meaning, if it has this one.
    pub fn of(timeout: u64) -> Option<Word> {
        if timeout & IS_WORD == 0 || timeout == NO_TIMEOUT {
            return None;
        }
        let why = [Why::Elsewhere, Why::Asked, Why::GoesOn, Why::Moment][(timeout >> WHY & 3) as usize];
        let until = match timeout & NEVER {
            NEVER => NO_TIMEOUT,
            until => until,
        };
        let (hollow, wants) = (timeout & HOLLOW != 0, CoreSet::from_bits((timeout >> WANTS) as u8));
        Some(Word { why, hollow, wants, until })
    }
}

/// The machine as a scheduler on one core sees it.
pub struct Around(pub &'static System);

impl Outside for Around {
    fn own(&self, core: CoreId) -> Held {
        let page = LENT as *const LentPage;
        match self.0.root {
            true => Held::Runs,
            // SAFETY: a scheduler that is not the root has this page, whose words are whole.
            false => match unsafe { addr_of!((*page).held[core.index()]).read_volatile() } {
                it if it == Held::Runs as u64 => Held::Runs,
                it if it == Held::Waits as u64 => Held::Waits,
                _ => Held::Rests,
            },
        }
    }

    fn held(&self, below: usize, core: CoreId) -> &AtomicU64 {
        let page = (LENT_PAGES + self.0.below[below].component * PAGE) as *mut LentPage;
        // SAFETY: the page of a scheduler directly below, mapped writable here for good; it only reads it, and all cores of this
        // one use its words as atomic ones.
        unsafe { AtomicU64::from_ptr(addr_of_mut!((*page).held[core.index()])) }
    }

    fn notify(&mut self, core: CoreId) {
        // A core that does not exist cannot be named: the plan was made for this number of cores.
        let _ = calls::notify(core.0);
    }
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
