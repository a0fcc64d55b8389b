//! Changes of the running system: what schedulers tell each other of them ([`Tier::left`], [`Tier::outcomes`]), by pages that one of two
//! writes and the other one reads.

use crate::state::System;
use core::ptr::{addr_of, addr_of_mut};
use core::sync::atomic::{compiler_fence, Ordering::SeqCst};
use tactus_policy::{Left, Outcome, Tier};
use tactus_rt::abi::layout::{LENT, LENT_PAGES, PAGE, TOLD, TOLD_PAGES};
use tactus_rt::abi::shared::{LentPage, ToldPage, CHANGES, REFUSED};
use tactus_rt::calls;
use tactus_rt::time::{CoreId, CoreSet, Duration, Instant};
use tactus_sync::{Order, Unlocked};

/// Before a decision: what the one above knows of the core's changes, and what those below have left of them.
pub fn hear(system: &System, tier: &mut Tier, core: CoreId) {
    if system.plan.whole.is_none() {
        return;
    }
    if !system.root {
        tier.told(outcomes(core));
    }
    for (below, child) in system.plan.below.iter().zip(&system.below) {
        let shared = below.shared.iter().find(|set| below.own && set.contains(core));
        hear_from(child.component, shared.copied(), core, |number, left| {
            tier.hear(below.stands, number, (0..CHANGES).map(left));
        });
    }
}

/// Gives what a scheduler said last of changes on the core, by their place, with the number of that report; where cores of its share
/// a queue, on any of them.
fn hear_from(component: u64, shared: Option<CoreSet>, core: CoreId, mut hear: impl FnMut(u64, &dyn Fn(usize) -> Left)) {
    let page = (TOLD_PAGES + component * PAGE) as *const ToldPage;
    // SAFETY: the page of a scheduler below, mapped read-only here; words are whole.
    let report = |core: CoreId| unsafe { addr_of!((*page).reports[core.index()]).read_volatile() };
    let cores = shared.into_iter().flat_map(|cores| cores.iter()).chain([core]);
    let Some((number, from)) = cores.map(|core| (report(core), core)).max() else { return };
    if number == 0 {
        return;
    }
    hear(number, &|place| {
        // SAFETY: as above.
        unsafe {
            let until = addr_of!((*page).until[from.index()][place]).read_volatile();
            let ready = addr_of!((*page).ready[from.index()][place]).read_volatile();
            Left { until: Instant::from_nanos(until), ready: Instant::from_nanos(ready) }
        }
    });
    compiler_fence(SeqCst);
    // On another core it may have been about to say something else: it is taken for something that is left.
    if shared.is_some() && (number % 2 != 0 || report(from) != number) {
        hear(u64::MAX - number, &|_| Left { until: Instant::ZERO, ready: Instant::ZERO });
    }
}

/// A decision of the scheduler at the time that it is given, which may settle changes of all cores that share queues with this one. Those that are to make them are called.
pub fn with_others<T>(
    system: &System,
    tier: &mut Tier,
    core: CoreId,
    now: Instant,
    order: &mut Order<Unlocked>,
    decide: impl FnOnce(&mut Tier, Instant) -> T,
) -> T {
    let board = system.boards.iter().find(|(cores, _)| cores.contains(core) && tier.waits(now));
    let Some((cores, board)) = board else { return decide(tier, now) };
    let mut board = board.lock(order);
    for (place, queue, component) in system.sharing.iter().filter(|(_, queue, _)| queue.bits() & cores.bits() != 0) {
        hear_from(*component, Some(*queue), core, |number, left| board.hear_shared((*place, *queue), number, left));
    }
    // Of two cores that looked at the clock at once, or in the other order than they came here, the second is later, in the trace too.
    let now = now.max(board.latest() + Duration::from_nanos(1));
    let now = board.hear(tier, core, now);
    let decided = decide(tier, now);
    let called = board.tell(tier, core);
    drop(board);
    for other in called.iter() {
        // A core that does not exist cannot be named: the plan was made for this number of cores.
        let _ = calls::notify(other.0);
    }
    decided
}

/// What became of the core's first changes, as the one above knows.
pub fn outcomes(core: CoreId) -> impl Iterator<Item = Outcome> {
    let (page, n) = (LENT as *const LentPage, core.index());
    // SAFETY: this scheduler's own page, mapped into each that is below another one; words are whole, and the places of a core change
    // on that core only.
    let settled = unsafe { addr_of!((*page).settled[n]).read_volatile() };
    (0..CHANGES.min(settled as usize)).map(move |place| {
        // SAFETY: as above.
        match unsafe { addr_of!((*page).outcomes[n][place]).read_volatile() } {
            REFUSED => Outcome::Refused,
            at => Outcome::Changed(Instant::from_nanos(at)),
        }
    })
}

/// A scheduler whose cores share a queue says what is left there, after a decision of this number. The one above may read it on
/// another core meanwhile.
pub fn tell_shared(core: CoreId, number: u64, left: &[Left]) {
    let (page, n) = (TOLD as *mut ToldPage, core.index());
    // SAFETY: this scheduler's own page, mapped writable into each that is below another one; this core alone writes its own places.
    let say = |number: u64| unsafe { addr_of_mut!((*page).reports[n]).write_volatile(number) };
    say(2 * number - 1);
    compiler_fence(SeqCst);
    write(page, n, left);
    compiler_fence(SeqCst);
    say(2 * number);
}

/// Writes what is left on the core.
fn write(page: *mut ToldPage, n: usize, left: &[Left]) {
    for (place, it) in left.iter().enumerate().take(CHANGES) {
        // SAFETY: this scheduler's own page, mapped writable into each that is below another one; this core alone writes its own places.
        unsafe {
            addr_of_mut!((*page).until[n][place]).write_volatile(it.until.as_nanos());
            addr_of_mut!((*page).ready[n][place]).write_volatile(it.ready.as_nanos());
        }
    }
}

/// After a decision: what is left here, and what was settled.
pub fn tell(system: &System, tier: &Tier, core: CoreId) {
    if system.plan.whole.is_none() {
        return;
    }
    let n = core.index();
    if !system.root {
        let page = TOLD as *mut ToldPage;
        let (report, left) = tier.left();
        write(page, n, left);
        // SAFETY: this scheduler's own page, mapped writable; this core alone writes its own places. Last: whoever interrupts this finds an old report, or all of it.
        unsafe { addr_of_mut!((*page).reports[n]).write_volatile(report) };
    }
    let outcomes = tier.outcomes();
    for child in &system.below {
        let page = (LENT_PAGES + child.component * PAGE) as *mut LentPage;
        // SAFETY: the page of a scheduler directly below, mapped writable here; as above.
        let known = unsafe { addr_of!((*page).settled[n]).read_volatile() } as usize;
        for (place, outcome) in outcomes.iter().enumerate().take(CHANGES).skip(known) {
            let word = match outcome {
                Outcome::Changed(at) => at.as_nanos(),
                Outcome::Refused => REFUSED,
            };
            // SAFETY: as above.
            unsafe { addr_of_mut!((*page).outcomes[n][place]).write_volatile(word) };
        }
        // SAFETY: as above.
        unsafe { addr_of_mut!((*page).settled[n]).write_volatile(outcomes.len().min(CHANGES) as u64) };
    }
}
