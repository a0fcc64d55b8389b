//! Changes of the running system: what schedulers tell each other of them ([`Tier::left`], [`Tier::outcomes`]), by pages that one of two
//! writes and the other one reads.

use crate::state::System;
use core::ptr::{addr_of, addr_of_mut};
use tactus_policy::{Left, Outcome, Tier};
use tactus_rt::abi::layout::{LENT, LENT_PAGES, PAGE, TOLD, TOLD_PAGES};
use tactus_rt::abi::shared::{LentPage, ToldPage, CHANGES, REFUSED};
use tactus_rt::time::{CoreId, Instant};

/// Before a decision: what the one above knows of the core's changes, and what those below have left of them.
pub fn hear(system: &System, tier: &mut Tier, core: CoreId) {
    if system.plan.whole.is_none() {
        return;
    }
    let n = core.index();
    if !system.root {
        let page = LENT as *const LentPage;
        // SAFETY: this scheduler's own page, mapped into each that is below another one; words are whole, and the places of
        // a core change on that core only.
        let settled = unsafe { addr_of!((*page).settled[n]).read_volatile() };
        tier.told((0..CHANGES.min(settled as usize)).map(|place| {
            // SAFETY: as above.
            match unsafe { addr_of!((*page).outcomes[n][place]).read_volatile() } {
                REFUSED => Outcome::Refused,
                at => Outcome::Changed(Instant::from_nanos(at)),
            }
        }));
    }
    for (below, child) in system.plan.below.iter().zip(&system.below) {
        let page = (TOLD_PAGES + child.component * PAGE) as *const ToldPage;
        // SAFETY: the page of a scheduler directly below, mapped read-only here; as above.
        let report = unsafe { addr_of!((*page).reports[n]).read_volatile() };
        if report == 0 {
            continue;
        }
        tier.hear(
            below.stands,
            report,
            (0..CHANGES).map(|place| {
                // SAFETY: as above.
                let (until, ready) = unsafe {
                    (
                        addr_of!((*page).until[n][place]).read_volatile(),
                        addr_of!((*page).ready[n][place]).read_volatile(),
                    )
                };
                Left { until: Instant::from_nanos(until), ready: Instant::from_nanos(ready) }
            }),
        );
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
        for (place, it) in left.iter().enumerate().take(CHANGES) {
            // SAFETY: this scheduler's own page, mapped writable into each that is below another one; this core alone writes its
            // own places.
            unsafe {
                addr_of_mut!((*page).until[n][place]).write_volatile(it.until.as_nanos());
                addr_of_mut!((*page).ready[n][place]).write_volatile(it.ready.as_nanos());
            }
        }
        // SAFETY: as above. Last: whoever interrupts this finds an old report, or all of it.
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
