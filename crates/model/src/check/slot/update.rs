//! The rules for updates: what the two slots of a pair have in common, and what may come after.

use super::named;
use crate::draft::{Draft, DraftLoad, DraftPackage, DraftServer, DraftSlot, DraftUpdate, Given};
use crate::problem::Collector;
use crate::{Load, LoadKind, Migration, TaskOrder, LARGEST_TRIAL};
use tactus_time::Duration;

/// An update, without its time.
pub(super) fn update(
    load: &DraftLoad,
    (package, update): (&Given<DraftPackage>, &DraftUpdate),
    draft: &Draft,
    out: &mut Collector,
) -> Option<Load> {
    let subject = load.subject.as_str();
    let [first, second] = &update.slots[..] else {
        if !update.slots.is_empty() {
            out.refuse(load.place, subject, "a pair has two slots", "name two under slots");
        }
        return None;
    };
    let (slot, other) = (named(first, load, draft, out)?, named(second, load, draft, out)?);
    if slot == other {
        let remedy = "name two slots: the old version runs in one of them, while the new one is loaded into the other";
        out.refuse(second.place, subject, format!("{:?} is both of the two", second.value), remedy);
        return None;
    }
    alike(load, (&draft.slots[slot], &draft.slots[other]), draft, out);
    let state = update.state.get()?;
    for slot in [slot, other].map(|slot| &draft.slots[slot]) {
        if !slot.uses.iter().any(|it| it.value.name == state.value) {
            let why = format!("{} does not use {:?}, where the state is to be kept", slot.subject, state.value);
            out.refuse(state.place, subject, why, "write uses = { keep = \"keeper.exchange\" } in both slots, say");
        }
    }
    let trial = update.trial.get()?;
    if !(1..=LARGEST_TRIAL).contains(&trial.value) {
        let limit = format!("not between 1 and {LARGEST_TRIAL}");
        out.out_of_range(trial.place, subject, "trial", trial.value, limit, "choose a number between them");
    }
    let one_core = draft.policy.value().and_then(|it| super::super::server::of_policy(&it));
    if one_core.is_some_and(|order| order.0 != Migration::Partitioned) {
        let remedy = "choose a kind such as \"partitioned-edf\"";
        out.refuse(load.place, subject, "programs are switched on one core, and cores share their queue", remedy);
    }
    let package = &package.get()?.value;
    let what = LoadKind::Update {
        path: package.path.clone(),
        bytes: package.bytes.clone(),
        other,
        state: state.value.clone(),
        trial: u32::try_from(trial.value).ok()?,
    };
    Some(Load { at: Duration::ZERO, slot, what, line: load.place.line })
}

/// A package that fits one slot of a pair fits the other: which one is empty is known in the run alone.
fn alike(load: &DraftLoad, (a, b): (&DraftSlot, &DraftSlot), draft: &Draft, out: &mut Collector) {
    let mut differ = |what: &str| {
        let why =
            format!("{} and {} differ in {what}, and versions go from one to the other and back", a.subject, b.subject);
        out.refuse(load.place, &load.subject, why, "write the same in both");
    };
    let uses = |slot: &DraftSlot| {
        let mut uses: Vec<_> = slot.uses.iter().map(|it| it.value.name.clone()).collect();
        uses.sort();
        uses
    };
    let class = |slot: &DraftSlot| slot.class.get().or(slot.name.get()).map(|it| it.value.clone());
    let server = |slot: &DraftSlot| {
        let name = &slot.server.get()?.value;
        draft.servers.iter().find(|it: &&DraftServer| it.name.get().is_some_and(|it| it.value == *name))
    };
    let supply = |slot: &DraftSlot| {
        let server = server(slot)?;
        let order: Option<(Migration, TaskOrder)> = server.order.value();
        Some((server.budget.value(), server.period.value(), server.kind.value(), order, super::core_of(draft, server)))
    };
    let keys = |slot: &DraftSlot| slot.keys.iter().map(|it| it.value).collect::<Vec<_>>();
    let checks = [
        (a.memory.value() != b.memory.value(), "memory"),
        (a.heap.value().unwrap_or(0) != b.heap.value().unwrap_or(0), "heap"),
        (a.tasks.value() != b.tasks.value(), "tasks"),
        (class(a) != class(b), "class"),
        (uses(a) != uses(b), "uses"),
        (keys(a) != keys(b), "keys"),
        (a.older.value() != b.older.value(), "older"),
        (supply(a) != supply(b), "kind, core, budget, period or policy of their servers"),
    ];
    if let Some((_, what)) = checks.iter().find(|(differs, _)| *differs) {
        differ(what);
    }
}

/// After an update of a pair nobody knows which of its slots is in use, so nothing else names one; and a slot is in one pair.
pub(super) fn order(loads: &[Load], draft: &Draft, out: &mut Collector) {
    let mut pairs: Vec<(usize, usize)> = Vec::new();
    for load in loads {
        let from = draft.loads.iter().find(|it| it.place.line == load.line);
        let (place, subject) = from.map_or((draft.slots[load.slot].place, ""), |it| (it.place, it.subject.as_str()));
        let of = |slot: usize| pairs.iter().find(|(a, b)| [*a, *b].contains(&slot)).copied();
        match load.what {
            LoadKind::Update { other, .. } => {
                let pair = (load.slot.min(other), load.slot.max(other));
                if [load.slot, other].into_iter().filter_map(of).any(|it| it != pair) {
                    let why = "one of its slots is of another pair, which is updated before";
                    out.refuse(place, subject, why, "update each pair by itself");
                }
                pairs.push(pair);
            }
            LoadKind::Load { .. } | LoadKind::Unload | LoadKind::Save | LoadKind::Restore { .. } => {
                let from = if let LoadKind::Restore { from } = load.what { from } else { load.slot };
                if of(load.slot).or(of(from)).is_some() {
                    let why = "its slot is one of a pair that is updated before, and which one is in use is known in the run alone";
                    out.refuse(place, subject, why, "ask for it before the update, or update the pair again");
                }
            }
        }
    }
}
