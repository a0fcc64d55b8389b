//! Budgets of misses: what the root scheduler counts for the policy on the cores that have one.

use tactus_policy::{Input, Policy, PolicyConfig, ServerKind};
use tactus_record::{EventKind, InputKind, Sink, Stored, Subject};
use tactus_rt::counters::lines_of;
use tactus_rt::scheduler::RingWriter;
use tactus_rt::time::{CoreId, CoreSet, Instant};

/// The cores on which a server has a budget of misses.
pub fn regulated(setup: &PolicyConfig) -> CoreSet {
    let servers = setup.kind.tree().map_or(&[][..], |tree| &tree.servers);
    let of_misses = servers.iter().filter(|it| it.supply.is_some_and(|supply| supply.kind == ServerKind::Misses));
    CoreSet::from_bits(of_misses.fold(0, |all, server| all | server.cores.bits()))
}

/// The lines that were asked for on the core so far, where a budget is one of misses.
///
/// # Panics
/// If nobody counts them: such a system must not run as if they were none.
pub fn counted(regulated: CoreSet, core: u8) -> Option<u64> {
    regulated.contains(CoreId(core)).then(|| match lines_of(core) {
        Some(lines) => lines,
        None => panic!("a budget is one of misses, and nobody counts them"),
    })
}

/// Tells the policy how many lines the core has asked memory for since the last decision.
#[cold]
#[inline(never)]
pub fn tell<P: Policy>(
    (policy, own): (&P, &mut P::Core),
    (told, running, job): (&mut Option<u64>, Subject, u32),
    (mut writer, core): (RingWriter, CoreId),
    now: Instant,
) -> RingWriter {
    let lines = lines_of(core.0).unwrap_or(0);
    let lines = u32::try_from(lines.wrapping_sub(told.replace(lines).unwrap_or(lines))).unwrap_or(u32::MAX);
    if lines > 0 {
        let subject = running.with_level(InputKind::Misses as u8);
        writer.store(Stored::about(subject, now, core, EventKind::Input, job, lines.into()));
        policy.input(own, Input::Misses { lines });
    }
    writer
}
