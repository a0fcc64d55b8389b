//! Budgets of misses: what the root scheduler counts for the policy on the cores that have one.

use tactus_policy::{Input, Policy, PolicyConfig, ServerKind, Supply};
use tactus_record::{EventKind, InputKind, Sink, Stored, Subject};
use tactus_rt::counters::{lines_of, written_back_of};
use tactus_rt::scheduler::RingWriter;
use tactus_rt::time::{CoreId, CoreSet, Instant};

/// What had been counted of a core's lines when the policy was told last.
pub struct Counted {
    /// Lines that had been asked for then.
    asked: u64,
    /// Lines that had been written back then; nothing where no budget is one of those.
    written: Option<u64>,
}

/// The cores on which a server has a budget of misses.
pub fn regulated(setup: &PolicyConfig) -> CoreSet {
    cores_of(setup, |supply| supply.kind == ServerKind::Misses)
}

/// The cores of the servers with such a supply.
fn cores_of(setup: &PolicyConfig, wanted: impl Fn(&Supply) -> bool) -> CoreSet {
    let servers = setup.kind.tree().map_or(&[][..], |tree| &tree.servers);
    let wanted = servers.iter().filter(|it| it.supply.as_ref().is_some_and(&wanted));
    CoreSet::from_bits(wanted.fold(0, |all, server| all | server.cores.bits()))
}

/// The lines of the core so far, where a budget is one of misses.
///
/// # Panics
/// If nobody counts them: such a system must not run as if they were none.
pub fn counted(regulated: CoreSet, setup: &PolicyConfig, core: u8) -> Option<Counted> {
    let written = cores_of(setup, |supply| supply.write_backs.is_some()).contains(CoreId(core));
    regulated.contains(CoreId(core)).then(|| match lines_of(core) {
        Some(asked) => Counted { asked, written: written_back_of(core).filter(|_| written) },
        None => panic!("a budget is one of misses, and nobody counts them"),
    })
}

/// Tells the policy how many lines the core has asked memory for since the last decision, and written back, where that has a budget.
#[cold]
#[inline(never)]
pub fn tell<P: Policy>(
    (policy, own): (&P, &mut P::Core),
    (told, running, job): (&mut Counted, Subject, u32),
    (mut writer, core): (RingWriter, CoreId),
    now: Instant,
) -> RingWriter {
    let lines = since(&mut told.asked, lines_of(core.0));
    if lines > 0 {
        let subject = running.with_level(InputKind::Misses as u8);
        writer.store(Stored::about(subject, now, core, EventKind::Input, job, lines.into()));
        policy.input(own, Input::Misses { lines });
    }
    let Some(written) = &mut told.written else { return writer };
    let lines = since(written, written_back_of(core.0));
    if lines > 0 {
        let subject = running.with_level(InputKind::WriteBacks as u8);
        writer.store(Stored::about(subject, now, core, EventKind::Input, job, lines.into()));
        policy.input(own, Input::WriteBacks { lines });
    }
    writer
}

/// How many more there are than the policy was told of.
fn since(told: &mut u64, counted: Option<u64>) -> u32 {
    let counted = counted.unwrap_or(*told);
    u32::try_from(counted.wrapping_sub(core::mem::replace(told, counted))).unwrap_or(u32::MAX)
}
