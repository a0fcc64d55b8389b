//! Updates of pairs of slots: which of the two is empty is known in the run alone, so what is worked out here holds for both.

use super::{asked, judged, refused, rights, Inside, PlannedLoad, SlotOffer, Taken};
use tactus_model::{Load, LoadKind, System};
use tactus_package::admission::{Demand, Supply, Work};
use tactus_package::keys::TrustedKey;
use tactus_package::load::{self, PAGES};
use tactus_package::slot::Replaced;
use tactus_record::SlotRefusal;
use tactus_task::{SlotTold, SlotTrial};
use tactus_time::{Duration, TaskId};

/// The longest that is waited for an instant in which the old version has no job under way.
const PATIENCE: Duration = Duration::from_millis(1_000);

/// What the loader does for an update.
pub(super) fn plan(
    system: &System,
    (it, offer): (&Load, &SlotOffer),
    inside: &mut [Inside],
    loader_period: Duration,
) -> (Taken, PlannedLoad) {
    let LoadKind::Update { bytes, other, state, trial, .. } = &it.what else {
        return refused(SlotRefusal::Empty);
    };
    let slot = &system.slots[it.slot];
    let newest = inside[it.slot].newest.max(inside[*other].newest);
    let demands = match (inside[it.slot].pages, inside[*other].pages) {
        (Some(_), Some(_)) => return refused(SlotRefusal::Full),
        (None, None) => return refused(SlotRefusal::Empty),
        (Some(_), None) => inside[it.slot].demands.clone(),
        (None, Some(_)) => inside[*other].demands.clone(),
    };
    let periods: Vec<Duration> = demands.iter().map(|task| task.period).collect();
    let keys: Vec<TrustedKey> = slot.keys.iter().filter_map(|key| TrustedKey::new(*key)).collect();
    let rights = rights(system, slot);
    let least = if slot.older { 0 } else { newest };
    let mut offered = offer.judged(slot, &rights, least);
    offered.replaces = Some(Replaced { periods: &periods, state });
    let outcome = load::steps(bytes, slot.set_back_steps(), &keys, &offered, Work::OF_AN_ADMISSION);
    let Ok((manifest, _)) = &outcome.result else { return judged(slot, offer, outcome) };
    let new = asked(manifest, offer);
    // Whichever of the two runs afterwards.
    let both =
        demands.iter().zip(&new).map(|(a, b)| Demand { execution: a.execution.max(b.execution), ..*a }).collect();
    let newest = newest.max(manifest.sequence_number);
    inside[it.slot] = Inside { pages: Some(slot.pages), newest, demands: both, ..inside[it.slot] };
    inside[*other] = Inside { pages: None, newest, demands: Vec::new(), ..inside[*other] };
    let waits = longest_busy(&demands, &offer.supply) + trial_of(&new, *trial);
    let settles_after = waits.div_ceil(loader_period) + 1;
    let (Taken { steps, told, .. }, planned) = judged(slot, offer, outcome);
    let SlotTold::Loaded(tasks) = told else { return refused(SlotRefusal::Empty) };
    let trial = SlotTrial {
        other: *other as u16,
        first_of_other: TaskId(system.slots[*other].tasks.start as u16),
        trial: *trial,
        settles_after,
        tasks,
        fault: None,
    };
    let rest = settles_after + 1 + slot.pages.div_ceil(PAGES);
    (Taken { steps, rest, told: SlotTold::Update(trial) }, planned)
}

/// By then a sound program in the slot has had an instant without a job under way.
fn longest_busy(tasks: &[Demand], supply: &Supply) -> Duration {
    let mut length = Duration::from_nanos(1);
    while length < PATIENCE {
        let asked = |task: &Demand| task.execution.as_nanos().saturating_mul(length.div_ceil(task.period));
        let work = tasks.iter().map(asked).fold(0, u64::saturating_add);
        let periods = work.div_ceil(supply.budget.as_nanos().max(1));
        let until = supply.period.as_nanos().saturating_mul(periods).saturating_add(supply.blackout.as_nanos());
        if until <= length.as_nanos() {
            return length;
        }
        length = Duration::from_nanos(until);
    }
    PATIENCE
}

/// By then a sound program has completed this number of jobs, from the instant on in which it takes over.
fn trial_of(tasks: &[Demand], jobs: u32) -> Duration {
    let most_often = tasks.iter().min_by_key(|task| task.period);
    most_often.map_or(Duration::ZERO, |task| {
        let all = task.period.as_nanos().saturating_mul(u64::from(jobs));
        Duration::from_nanos(all.saturating_add(task.deadline.as_nanos()))
    })
}
