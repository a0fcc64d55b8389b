//! Everything that a component can have recorded, tried by one whose it is not: each attempt must be refused.

use core::fmt::Write;
use core::sync::atomic::{AtomicUsize, Ordering};
use tactus_rt::abi::call::{Call, CHANNEL_RECEIVE, CHANNEL_SEND};
use tactus_rt::abi::layout::MAX_GRANTS;
use tactus_rt::abi::monitors::hash;
use tactus_rt::abi::port::ServicePort;
use tactus_rt::abi::shared::{is_complete, name_text};
use tactus_rt::{calls, cards, grant, info, Console};

/// An attempt by its name: whether anything of it was believed.
type Attempt = (&'static str, fn() -> bool);

const ATTEMPTS: [Attempt; 20] = [
    ("answer", || requests(0x8000)),
    ("request", || requests(0x4000)),
    ("event", || [0, 1, 7, 0x3fff, 0x7fff, 0xffff, 0x1_8000, u64::MAX].into_iter().any(|event| any_event(event))),
    ("await", || [0, 1, 0x4000, 0x8000].into_iter().any(|event| root("event", [0, event, 0])) || root("event", [0, 0, 1])),
    ("arrival", || (0..64).any(|task| root("raise", [task, 1, 0])) || root("raise", [u64::MAX, 0, 0])),
    ("wait", || [0, 1, u64::MAX].into_iter().any(|until| root("wait", [until, 0, 0]))),
    ("section", || [0, 1].into_iter().any(|asks| root("section", [asks, 0, 0]))),
    ("deadline", || (0..32).filter(|task| !is_own(*task)).any(|task| [1, 2].into_iter().any(|what| root("process", [what | task << 16, 1, u64::MAX])))),
    ("completion", || anything(|grant| calls::invoke(grant, [1, 0, 0, 0, 0]).is_ok_and(|[refused, _]| refused == 0))),
    ("signal", || ["ready", "raw"].into_iter().any(|name| calls::signal(hash(name)).is_ok())),
    ("observed", || (0..16).any(|event| calls::observe(event, 0).is_ok()) || calls::observe(u64::MAX, u64::MAX).is_ok()),
    ("violation", || calls::violation().is_ok()),
    ("channel", || (0..16).any(|n| [CHANNEL_SEND, CHANNEL_RECEIVE].into_iter().any(|way| calls::invoke_wide(way + n, [0; 10]).is_ok()))),
    ("restart", || (0..32).any(|component| calls::restart(component, 0).is_ok())),
    ("dispatch", || (0..32).any(|thread| calls::switch_thread(thread, 0, u64::MAX).is_ok())),
    ("notify", || (0..8).any(|core| calls::notify(core).is_ok())),
    ("tree", || (0..7).any(|what| (0..16).any(|thread| believed(Call::SchedulerControl, [what, thread, 1, 0, 0, 0])))),
    ("brand", || (0..32).any(|brand| calls::trigger(brand, 0).is_ok() || calls::trigger_remote(0, brand).is_ok())),
    ("slot", || (0..9).any(|what| (0..8).any(|slot| root("slot", [what, slot, 0]))) || root("slot", [3 << 8, 1, 1])),
    ("finish", || believed(Call::Finish, [16, 0, 0, 0, 0, 0]) || calls::computes_until(u64::MAX).is_ok()),
];

fn believed(call: Call, words: [u64; 6]) -> bool {
    calls::raw(call as u64, words) == 0
}

/// Whether the root scheduler takes these words by the grant of this name.
fn root(name: &str, [first, second, third]: [u64; 3]) -> bool {
    matches!(grant(name).call([first, second, third, 0, 0]), Ok([0, _]))
}

/// Whether the task with this number is a process of this component.
fn is_own(task: u64) -> bool {
    cards::processes().iter().any(|card| u64::from(card.task) == task)
}

fn any_event(event: u64) -> bool {
    [1, 2, 3, u64::MAX].into_iter().any(|action| root("event", [action, event, 0]))
}

/// Signals requests or answers of all clients of the system, its own without having sent one.
fn requests(first: u64) -> bool {
    let own = cards::ports().iter().filter_map(|card| ServicePort::of(card.service));
    let most = own.map(|of| u64::from(of.client)).max().unwrap_or(0).max(7);
    (0..=most).any(|client| any_event(first + client))
}

/// Whether any grant but those of its own end is taken.
fn anything(believed: impl Fn(u64) -> bool) -> bool {
    let own = |grant: u64| {
        let name = info().grants.get(grant as usize).map_or("", name_text);
        is_complete(name.as_bytes()) || ["event", "raise", "wait", "section", "process", "console"].contains(&name)
    };
    (1..MAX_GRANTS as u64 + 2).filter(|grant| !own(*grant)).any(believed)
}

static NEXT: AtomicUsize = AtomicUsize::new(0);

/// Makes the next attempt, and says that it was refused; nothing where there is nobody to tell.
pub fn make_one() {
    if grant("console").number() == u64::MAX {
        return;
    }
    let next = NEXT.fetch_add(1, Ordering::Relaxed);
    if let Some((name, attempt)) = ATTEMPTS.get(next) {
        assert!(!attempt(), "{name} was believed");
        let _ = writeln!(Console, "refused {name}");
    }
}
