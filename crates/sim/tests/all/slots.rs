//! Programs that come and go: random systems with slots, and random packages for them, simulated and judged. No promise of anybody outside
//! is broken where the check accepts the file, and no program that was admitted misses a deadline.
//!
//! `TACTUS_SLOTS=10000 cargo test --release -p tactus-sim --test all slots::` works through that number of systems, from `TACTUS_SLOTS_FROM` on.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tactus_generate::Random;
use tactus_model::{Body, Component, Costs, Grant, Load, LoadKind, Rights, Slot, System};
use tactus_package::admission::{Demand, Supply, Work, MOST_TASKS};
use tactus_package::keys::TrustedKey;
use tactus_package::manifest::{List, Manifest, PackageTask, Processor};
use tactus_package::slot::judge;
use tactus_package::write::{package, SigningKey};
use tactus_plan::{RunPlan, SlotOffer};
use tactus_record::{EntryReason, EventKind, Record, SlotRefusal};
use tactus_task::{SlotTaskValues, SlotTold};
use tactus_time::{Duration, TaskId};
use tactus_trace::{LoadFate, Summary, Trace, Verdict};

/// A program with this number of pages of code.
pub(super) fn program(pages: usize) -> Vec<u8> {
    let mut file = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0];
    let halves = |file: &mut Vec<u8>, all: &[u16]| all.iter().for_each(|it| file.extend(it.to_le_bytes()));
    let words = |file: &mut Vec<u8>, all: &[u64]| all.iter().for_each(|it| file.extend(it.to_le_bytes()));
    halves(&mut file, &[2, Processor::X86_64.number(), 1, 0]);
    words(&mut file, &[0x20_0000, 64, 0]);
    halves(&mut file, &[0, 0, 64, 56, 1, 64, 0, 0]);
    let bytes = pages as u64 * 4096;
    halves(&mut file, &[1, 0, 5, 0]);
    words(&mut file, &[120, 0x20_0000, 0x20_0000, bytes, bytes, 0x1000]);
    file.resize(file.len() + bytes as usize, 0x90);
    file
}

pub(super) fn signer() -> SigningKey {
    SigningKey::from_seed([9; 32]).expect("a seed")
}

/// A random package for the slot, whose tasks ask for about this share of its server.
fn random_package(chance: &mut Random, slot: &Slot, server: (Duration, Duration), version: u64) -> Vec<u8> {
    let program = program(1 + chance.below(slot.pages.min(4)) as usize);
    // Sometimes one more than there is room for.
    let more = u64::from(chance.below(8) == 0);
    let count = 1 + chance.below(slot.tasks.len() as u64 + more) as usize;
    let (budget, period) = (server.0.as_nanos(), server.1.as_nanos());
    let load = budget as f64 / period as f64 * (0.02 + chance.below(50) as f64 / 100.0);
    let mut tasks = Vec::new();
    for n in 0..count.min(MOST_TASKS) {
        let own = period * (1 + chance.below(5));
        let share = load / count as f64 * (0.4 + chance.below(120) as f64 / 100.0);
        let execution = ((own as f64 * share) as u64).max(5_000);
        let deadline = if chance.below(3) == 0 { own - chance.below(own / 3) } else { own };
        let [execution, period, deadline] = [execution.min(deadline), own, deadline].map(Duration::from_nanos);
        let priority = chance.below(4) as u32;
        tasks.push(PackageTask {
            name: ["a", "b", "c", "d", "e"][n % 5],
            demand: Demand { execution, period, deadline, priority },
        });
    }
    let manifest = Manifest {
        name: "guest",
        sequence_number: version,
        class: if chance.below(24) == 0 { "other" } else { &slot.class },
        processor: Processor::X86_64.number(),
        image_digest: hmac_sha256::Hash::hash(&program),
        image_size: program.len() as u64,
        heap: 0,
        tasks: List::of(&tasks).expect("few"),
        rights: List::of(&[]).expect("none"),
    };
    let key = if chance.below(24) == 0 { SigningKey::from_seed([3; 32]).expect("a seed") } else { signer() };
    let mut bytes = package(&manifest, &program, &key);
    if chance.below(24) == 0 {
        let place = chance.below(bytes.len() as u64) as usize;
        bytes[place] ^= 1 << chance.below(8);
    }
    bytes
}

const ORDERS: [&str; 2] = ["partitioned-edf", "partitioned-fp"];
const KINDS: [&str; 5] = ["deferrable", "periodic", "polling", "sporadic", "cbs-hard"];

/// A system with tasks, servers and slots. With `overheads`, its bounds count what the system's own work costs.
fn random_system(chance: &mut Random, overheads: bool) -> System {
    let cores = 1 + chance.below(2);
    let root = ["partitioned-edf", "partitioned-rm", "partitioned-fp"][chance.below(3) as usize];
    let priority = |chance: &mut Random, order: &str| match order {
        "partitioned-fp" => format!("priority = {}\n", 1 + chance.below(50)),
        _ => String::new(),
    };
    let mut text = format!(
        "[system]\nname = 'slots'\ncores = {cores}\nduration = '{} ms'\n[policy]\nkind = '{root}'\n[machine]\noverheads = {overheads}\n",
        250 + chance.below(200)
    );
    let mut slots = Vec::new();
    let mut tasks = String::new();
    for core in 0..cores {
        let mut free = 88;
        for n in 0..1 + chance.below(3) {
            let period = [2, 4, 5, 8, 10, 20][chance.below(6) as usize];
            let share = (8 + chance.below(35)).min(free);
            free -= share;
            if share < 5 {
                continue;
            }
            let (name, order) = (format!("s{core}-{n}"), ORDERS[chance.below(2) as usize]);
            let kind = KINDS[chance.below(5) as usize];
            let budget = period * share * 10;
            text += &format!(
                "[[server]]\nname = '{name}'\ncores = [{core}]\nkind = '{kind}'\nbudget = '{budget} us'\nperiod = '{period} ms'\n\
                 policy = '{order}'\n{}",
                priority(chance, root)
            );
            if core == 0 && (slots.is_empty() || chance.below(2) == 0) {
                // Often as many tasks as the one before, so that what is saved of one fits the other.
                let before = slots.last().map(|(_, count)| *count).filter(|_| chance.below(4) > 0);
                slots.push((name, before.unwrap_or_else(|| 1 + chance.below(5))));
            } else {
                let (of, execution) = (period * (3 + chance.below(4)), budget * (1 + chance.below(3)) / 4);
                tasks += &format!(
                    "[[task]]\nname = 'in-{name}'\nserver = '{name}'\ncore = {core}\nperiod = '{of} ms'\nexecution = '{execution} us'\n{}",
                    priority(chance, order)
                );
            }
        }
        for n in 0..1 + chance.below(2) {
            let (period, share) = (2 + chance.below(20), (1 + chance.below(15)).min(free));
            free -= share;
            if share > 0 {
                tasks += &format!(
                    "[[task]]\nname = 't{core}-{n}'\ncore = {core}\nperiod = '{period} ms'\nexecution = '{} us'\n{}",
                    period * share * 10,
                    priority(chance, root)
                );
            }
        }
    }
    let loads = if chance.below(2) == 0 { "2 ms" } else { "1 ms" };
    text += &format!(
        "[[task]]\nname = 'load'\ncore = 0\nperiod = '{loads}'\nexecution = '60 us'\n{}{tasks}",
        priority(chance, root)
    );
    let mut system =
        System::parse_toml(&text, Path::new("slots.toml")).unwrap_or_else(|problems| panic!("{problems}\n{text}"));
    let component = |name: &str, slot: Option<usize>, rights: Rights| Component {
        name: name.into(),
        path: PathBuf::new(),
        slot,
        provides: Vec::new(),
        uses: Vec::<Grant>::new(),
        rights,
        line: 1,
    };
    system.components.push(component("loader", None, Rights { loader: true, ..Rights::default() }));
    let loader = system.tasks.iter().position(|task| task.name == "load").expect("the loader's task");
    system.tasks[loader].body = Body::Component(0);
    system.scheduling.places.resize(system.tasks.len(), Default::default());
    for (n, (name, count)) in slots.into_iter().enumerate() {
        let server = system.scheduling.servers.iter().position(|server| server.name == name).expect("its server");
        system.components.push(component(&format!("slot-{n}"), Some(n), Rights::default()));
        let first = system.tasks.len();
        let of = system.scheduling.servers[server].clone();
        for k in 0..count as usize {
            let mut task = system.tasks[loader].clone();
            task.name = format!("slot-{n}.{k}");
            (task.period, task.deadline, task.offset) = (of.period, of.period, Duration::ZERO);
            task.execution = [Some(of.budget); 4];
            task.demand = tactus_model::Demand::Fixed(of.budget);
            task.body = Body::Component(n + 1);
            system.tasks.push(task);
            let place = tactus_model::TaskPlacement { server: Some(server), ..Default::default() };
            system.scheduling.places.push(place);
        }
        system.slots.push(Slot {
            name: format!("slot-{n}"),
            component: n + 1,
            server,
            tasks: first..first + count as usize,
            pages: 8 + chance.below(24),
            heap: 0,
            class: "guest".into(),
            keys: vec![signer().public()],
            older: chance.below(2) == 0,
            line: 1,
        });
    }
    let mut saved = vec![false; system.slots.len()];
    let mut hurried = saved.clone();
    let run = system.duration.as_nanos() / 1_000_000;
    let mut loads = Vec::new();
    for (slot, hurried) in hurried.iter_mut().enumerate() {
        let (mut at, mut full) = (chance.below(10), false);
        // In a hurry, one is asked for while the one before goes on, and mostly saves and restores.
        *hurried = chance.below(4) == 0;
        while at < run {
            // Mostly what makes sense: a program that stays for some time, then another one soon.
            let unloads = full == (chance.below(10) > 0);
            loads.push((at, slot, unloads, chance.below(8) < if *hurried { 7 } else { 4 }));
            full = !unloads;
            at += match (*hurried, full) {
                (true, _) => 5 + chance.below(40),
                (false, true) => 20 + chance.below(run / 2),
                (false, false) => chance.below(20),
            };
        }
    }
    loads.sort_by_key(|(at, ..)| *at);
    for (n, (at, slot, unloads, keeps)) in loads.into_iter().enumerate() {
        let of = &system.slots[slot];
        let server = &system.scheduling.servers[of.server];
        let fits = |from: &Slot| (from.tasks.len(), from.heap) == (of.tasks.len(), of.heap);
        let from: Vec<usize> = (0..saved.len()).filter(|it| saved[*it] && fits(&system.slots[*it])).collect();
        let what = if unloads && keeps {
            saved[slot] = true;
            LoadKind::Save
        } else if unloads {
            LoadKind::Unload
        } else if !from.is_empty() && chance.below(2) == 0 {
            LoadKind::Restore { from: from[chance.below(from.len() as u64) as usize] }
        } else {
            let version = n as u64 + chance.below(2);
            // In a hurry a small one, so that most are admitted.
            let budget = if hurried[slot] { server.budget / 4 } else { server.budget };
            let bytes = random_package(chance, of, (budget, server.period), version);
            LoadKind::Load { path: PathBuf::from("guest.package"), bytes: bytes.into() }
        };
        system.loads.push(Load { at: Duration::from_millis(at), slot, what, line: n + 1 });
    }
    system
}

/// What the system's own work costs, drawn one by one; nothing where bounds do not count it.
fn costs(chance: &mut Random, overheads: bool) -> Costs {
    let mut one = || Duration::from_nanos(if overheads { 200 + chance.below(2_500) } else { 0 });
    Costs { release: one(), schedule: one(), switch: one(), inter_core: one(), complete: one() }
}

/// A number that is the same for the same job.
fn share(seed: u64, task: TaskId, job: u32) -> u64 {
    Random::new(seed ^ (u64::from(task.0) << 40) ^ u64::from(job)).below(64)
}

fn simulated(system: &System, plan: &RunPlan, costs: &Costs, seed: u64) -> Trace {
    // Most jobs take all that they may.
    let demand = |task: TaskId, job: u32| {
        let most = system.tasks[task.index()].execution[0].expect("a time").as_nanos();
        Duration::from_nanos(if share(seed, task, job) < 40 { most } else { most / 2 })
    };
    let steps = plan.job_steps(system);
    tactus_sim::simulate_with_steps(&plan.setup, system.duration, (demand, Vec::new()), steps, costs).expect("it runs")
}

#[derive(Default, Debug)]
struct Seen {
    systems: u64,
    accepted: u64,
    loaded: u64,
    unloaded: u64,
    saved: u64,
    restored: u64,
    /// Restored in another slot.
    moved: u64,
    refused: u64,
    reasons: BTreeMap<String, u64>,
    guests: u64,
    others: u64,
}

fn one(seed: u64, seen: &mut Seen) -> Result<(), String> {
    let chance = &mut Random::new(seed);
    let overheads = seed % 2 == 1;
    let system = random_system(chance, overheads);
    let costs = costs(chance, overheads);
    let check = tactus_analysis::check(&system, &costs);
    let plan = tactus_plan::plan(&system, &check, &costs);
    seen.systems += 1;
    let trace = simulated(&system, &plan, &costs, seed);
    // A run may be judged whether the check accepts it or not.
    let summary: Summary = tactus_trace::judge(&plan.view, &trace);
    let told = |summary: &Summary| format!("seed {seed}: {:?}\n{:?}", summary.verdict, summary.slots);
    match &summary.verdict {
        Verdict::Refused if !check.accepted => {}
        Verdict::Held | Verdict::NothingPromised | Verdict::NoJobEnded if check.accepted => {}
        _ => return Err(told(&summary)),
    }
    let replayed = tactus_sim::lockstep::lockstep(&plan.setup, |_, _| None, &trace, Duration::from_millis(1));
    match replayed {
        Ok(Ok(_)) => {}
        Ok(Err(disagreement)) => return Err(format!("seed {seed}: the replay differs: {disagreement}")),
        Err(error) => return Err(format!("seed {seed}: {error}")),
    }
    for load in summary.slots.iter().flat_map(|slot| &slot.loads) {
        match load.fate {
            LoadFate::Loaded => seen.loaded += 1,
            LoadFate::Unloaded => seen.unloaded += 1,
            LoadFate::Saved => seen.saved += 1,
            LoadFate::Restored => seen.restored += 1,
            LoadFate::Refused => {
                seen.refused += 1;
                let why = load.why.clone().unwrap_or_default();
                *seen.reasons.entry(why.split([':', '(']).next().unwrap_or_default().into()).or_default() += 1;
            }
            LoadFate::Pending | LoadFate::Updated | LoadFate::WentBack => {}
        }
    }
    let moved = |it: &&Record| it.kind == EventKind::SlotLoaded && it.level > 1;
    seen.moved += trace.cores.iter().flatten().filter(moved).count() as u64;
    if !check.accepted {
        return Ok(());
    }
    seen.accepted += 1;
    for (n, task) in summary.tasks.iter().enumerate() {
        let guest = system.slot_of(n).is_some();
        *(if guest { &mut seen.guests } else { &mut seen.others }) += task.jobs.completed;
        if let Some(why) = &task.void {
            return Err(format!("{}: {why}: {}", task.name, told(&summary)));
        }
        if task.jobs.missed > 0 {
            return Err(format!("{} missed {}: {}", task.name, task.jobs.missed, told(&summary)));
        }
    }
    Ok(())
}

fn number(name: &str, usual: u64) -> u64 {
    std::env::var(name).ok().map_or(usual, |text| text.parse().expect("a number"))
}

#[test]
fn nothing_that_comes_into_a_slot_breaks_a_promise_and_what_is_admitted_meets_its_deadlines() {
    let (from, count) = (number("TACTUS_SLOTS_FROM", 0), number("TACTUS_SLOTS", 200));
    let mut seen = Seen::default();
    let mut wrong = Vec::new();
    for seed in from..from + count {
        wrong.extend(one(seed, &mut seen).err());
        if wrong.len() > 4 {
            break;
        }
    }
    println!("{seen:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(seen.accepted * 4 > seen.systems && seen.loaded > seen.systems / 2, "{seen:?}");
    assert!(seen.unloaded * 8 > seen.systems && seen.refused * 2 > seen.systems, "{seen:?}");
    assert!(seen.saved > seen.systems && 2 * seen.restored > seen.systems, "{seen:?}");
    assert!(20 * seen.moved > seen.systems, "{seen:?}");
    assert!(seen.guests > 5 * seen.systems && seen.others > 20 * seen.systems, "{seen:?}");
}

/// Everybody else has the same bounds whatever the slot holds, and its server counts though nothing lies in it at the start.
#[test]
fn bounds_of_others_are_those_beside_a_full_server() {
    let (mut compared, mut moved) = (0, 0);
    for seed in 0..60 {
        let chance = &mut Random::new(seed);
        let overheads = seed % 2 == 1;
        let system = random_system(chance, overheads);
        let costs = costs(chance, overheads);
        let found = tactus_analysis::check(&system, &costs);
        // The same with tasks in each slot's server that are always there.
        let mut full = system.clone();
        for n in system.slots.iter().flat_map(|slot| slot.tasks.clone()) {
            full.tasks[n].execution = [Some(Duration::from_micros(5)); 4];
        }
        full.slots.clear();
        full.loads.clear();
        let without = {
            let mut less = full.clone();
            for slot in &system.slots {
                let server = &mut less.scheduling.servers[slot.server];
                server.budget = Duration::from_micros(50);
            }
            tactus_analysis::check(&less, &costs)
        };
        let there = tactus_analysis::check(&full, &costs);
        for n in (0..system.tasks.len()).filter(|n| system.slot_of(*n).is_none()) {
            let bound = |check: &tactus_analysis::Check| check.tasks[n].bound();
            if !overheads {
                assert_eq!(bound(&found), bound(&there), "seed {seed}: {}", system.tasks[n].name);
                compared += 1;
            }
            moved += u64::from(bound(&found) != bound(&without));
        }
    }
    assert!(compared > 60 && moved > 30, "{compared} {moved}");
}

/// The first accepted system whose records are as wanted, its plan and its run.
fn first_with(wanted: impl Fn(&[&Record]) -> bool) -> (RunPlan, Trace) {
    let found = (0..).find_map(|seed| {
        let chance = &mut Random::new(seed);
        let system = random_system(chance, false);
        let check = tactus_analysis::check(&system, &Costs::default());
        let plan = tactus_plan::plan(&system, &check, &Costs::default());
        let trace = simulated(&system, &plan, &Costs::default(), seed);
        let all: Vec<&Record> = trace.cores.iter().flatten().collect();
        (check.accepted && wanted(&all)).then_some((plan, trace))
    });
    found.expect("there are some")
}

#[test]
fn a_run_in_which_programs_come_otherwise_than_planned_breaks_a_rule() {
    let (plan, trace) = first_with(|all| {
        let kinds = [EventKind::SlotLoaded, EventKind::SlotUnloaded, EventKind::SlotRefused];
        kinds.into_iter().all(|kind| all.iter().any(|r| r.kind == kind))
    });
    let broken = |alter: &dyn Fn(&mut Vec<Record>)| {
        let mut other = trace.clone();
        alter(&mut other.cores[0]);
        !tactus_trace::check::slots(&plan.view, &other).is_empty()
    };
    let of = |kind: EventKind| move |r: &&mut Record| r.kind == kind;
    assert!(!broken(&|_| {}));
    for kind in [EventKind::SlotLoaded, EventKind::SlotUnloaded, EventKind::SlotRefused] {
        assert!(broken(&|all| all.iter_mut().filter(of(kind)).for_each(|r| r.arg += 1)), "{kind:?}: another load");
        assert!(broken(&|all| all.iter_mut().filter(of(kind)).for_each(|r| r.job += 1)), "{kind:?}: another slot");
        assert!(broken(&|all| all.retain(|r| r.kind != kind)), "{kind:?}: left out");
        let refused = |r: &mut Record| (r.kind, r.level) = (EventKind::SlotRefused, 10);
        assert!(broken(&|all| all.iter_mut().filter(of(kind)).for_each(refused)), "{kind:?}: refused");
    }
    assert!(broken(&|all| all.iter_mut().filter(of(EventKind::SlotTask)).for_each(|r| r.arg += 1)), "another value");
    assert!(broken(&|all| all.retain(|r| r.kind != EventKind::SlotTask)), "no values");
    // Another job, another task, another reason of entry.
    let entered = |r: &&mut Record| r.kind == EventKind::Enter && r.level == EntryReason::Slot as u8;
    assert!(broken(&|all| all.iter_mut().filter(entered).for_each(|r| r.job += 1)), "another job");
    assert!(broken(&|all| all.iter_mut().filter(entered).for_each(|r| r.task = Some(TaskId(99)))), "another task");
    assert!(broken(&|all| all.iter_mut().filter(entered).for_each(|r| r.level = 1)), "another reason");
}

/// Of a save the run may say that it could not be. What comes later may be refused, and is no less held to its place, its values and who tells it.
#[test]
fn after_a_save_that_could_not_be_the_rest_is_held_to_all_but_its_time() {
    let saved = |r: &Record| r.kind == EventKind::SlotUnloaded && r.level == 1;
    let (plan, trace) = first_with(|all| {
        let after = all.iter().skip_while(|r| !saved(r)).skip(1);
        after.filter(|r| r.kind == EventKind::SlotLoaded && r.level == 0).count() > 1
    });
    let broken = |alter: &dyn Fn(&mut Vec<&mut Record>)| {
        let mut other = trace.clone();
        let mut later: Vec<&mut Record> = other.cores[0].iter_mut().skip_while(|r| !saved(r)).collect();
        let could_not_be = later.remove(0);
        (could_not_be.kind, could_not_be.level) = (EventKind::SlotRefused, SlotRefusal::Unsavable as u8);
        alter(&mut later);
        !tactus_trace::check::slots(&plan.view, &other).is_empty()
    };
    let loaded = |r: &&mut &mut Record| r.kind == EventKind::SlotLoaded && r.level == 0;
    let entered = |r: &&mut &mut Record| r.kind == EventKind::Enter && r.level == EntryReason::Slot as u8;
    assert!(!broken(&|_| {}));
    assert!(!broken(&|all| all.iter_mut().filter(entered).for_each(|r| r.job += 1)), "another job");
    assert!(broken(&|all| all.iter_mut().filter(loaded).for_each(|r| r.arg += 1)), "another load");
    assert!(broken(&|all| all.iter_mut().filter(loaded).for_each(|r| r.job += 1)), "another slot");
    assert!(broken(&|all| all.iter_mut().filter(loaded).for_each(|r| r.kind = EventKind::SlotUnloaded)), "another end");
    let value = |r: &&mut &mut Record| r.kind == EventKind::SlotTask;
    assert!(broken(&|all| all.iter_mut().filter(value).for_each(|r| r.arg += 1)), "another value");
    assert!(broken(&|all| all.iter_mut().filter(entered).for_each(|r| r.task = Some(TaskId(99)))), "another task");
    assert!(broken(&|all| all.iter_mut().filter(entered).for_each(|r| r.level = 1)), "another reason");
}

/// The values of the tasks of a program that fits but for its deadlines, whatever admission says of them.
fn without_admission(system: &System, offer: &SlotOffer, load: &Load) -> Option<Vec<SlotTaskValues>> {
    let LoadKind::Load { bytes, .. } = &load.what else { return None };
    if offer.supply.budget.is_zero() {
        // Nobody knows what a job costs there.
        return None;
    }
    let slot = &system.slots[load.slot];
    let (period, blackout) = (offer.supply.period, Duration::ZERO);
    let all = SlotOffer { supply: Supply { budget: period, period, blackout }, ..*offer };
    let keys = [TrustedKey::new(signer().public()).expect("a key")];
    let judged = judge(bytes, &keys, &all.judged(slot, &[], 0), Work::OF_AN_ADMISSION);
    let candidate = judged.ok()?;
    let tasks = candidate.manifest.tasks.iter().zip(slot.tasks.clone());
    let values = tasks.map(|(task, n)| SlotTaskValues {
        task: TaskId(n as u16),
        execution: task.demand.execution + offer.cost_of_job,
        demand: task.demand.execution,
        period: task.demand.period,
        deadline: task.demand.deadline,
        priority: u32::MAX - task.demand.priority,
    });
    Some(values.collect())
}

/// A plan whose loader loads what admission refuses; tells in which slots.
fn switch_admission_off(system: &System, plan: &mut RunPlan) -> Vec<bool> {
    let mut forced = vec![false; system.slots.len()];
    let Some(loader) = &mut plan.loader else { return forced };
    let mut full = vec![false; system.slots.len()];
    for (load, planned) in system.loads.iter().zip(&mut loader.loads) {
        let full = &mut full[load.slot];
        planned.told = match (planned.told.clone(), *full) {
            (SlotTold::Refused(SlotRefusal::Unschedulable), false) => {
                match without_admission(system, &plan.slots[load.slot], load) {
                    Some(tasks) => {
                        forced[load.slot] = true;
                        SlotTold::Loaded(tasks)
                    }
                    None => SlotTold::Refused(SlotRefusal::Unschedulable),
                }
            }
            (SlotTold::Loaded(_) | SlotTold::Restored { .. }, true) => SlotTold::Refused(SlotRefusal::Full),
            (SlotTold::Refused(SlotRefusal::Empty), true) => SlotTold::Unloaded,
            (told, _) => told,
        };
        match planned.told {
            SlotTold::Loaded(_) | SlotTold::Restored { .. } => *full = true,
            SlotTold::Unloaded | SlotTold::Saved(_) => *full = false,
            SlotTold::Refused(_) | SlotTold::Update(_) => {}
        }
    }
    for load in plan.view.slots.iter_mut().flat_map(|slot| &mut slot.loads) {
        load.told = loader.loads[load.number].told.clone();
    }
    forced
}

/// With admission switched off, what it refuses is loaded and misses deadlines, and the judge says so. Nobody outside is late, and no
/// program in another slot.
#[test]
fn what_is_loaded_without_admission_is_found_late_and_harms_nobody_else() {
    let (mut late, mut others, mut beside) = (0, 0, 0);
    for seed in 0..240 {
        let chance = &mut Random::new(seed);
        let overheads = seed % 2 == 1;
        let system = random_system(chance, overheads);
        let costs = costs(chance, overheads);
        let check = tactus_analysis::check(&system, &costs);
        if !check.accepted {
            continue;
        }
        let mut plan = tactus_plan::plan(&system, &check, &costs);
        let forced = switch_admission_off(&system, &mut plan);
        let trace = simulated(&system, &plan, &costs, seed);
        let summary = tactus_trace::judge(&plan.view, &trace);
        let mut missed = 0;
        for (n, task) in summary.tasks.iter().enumerate() {
            match system.slot_of(n) {
                Some(slot) if forced[slot] => missed += task.jobs.missed,
                inside => {
                    *(if inside.is_some() { &mut beside } else { &mut others }) += task.jobs.completed;
                    assert_eq!(task.jobs.missed, 0, "seed {seed}: {}: {:?}", task.name, summary.verdict);
                }
            }
        }
        late += missed;
        let broken = matches!(summary.verdict, Verdict::Broken(_));
        assert_eq!(broken, missed > 0, "seed {seed}: {:?}", summary.verdict);
    }
    println!("{late} deadlines missed; jobs in other slots {beside}, outside {others}");
    assert!(late > 20 && others > 1_000 && beside > 50, "{late} {others} {beside}");
}

/// A server that a late notice lets overrun at the end of its budget, and at the end of a period: the job that runs then goes on until the
/// period is noticed. Each is one time's lateness, and no rule is broken by both.
#[test]
fn a_server_may_be_noticed_late_at_both_ends_of_a_budget() {
    let text = "[system]\nname = 'late'\ncores = 1\nduration = '50 ms'\n[policy]\nkind = 'partitioned-edf'\n\
        [[server]]\nname = 'own'\ncores = [0]\nkind = 'deferrable'\nbudget = '1 ms'\nperiod = '5 ms'\npolicy = 'partitioned-edf'\n\
        [[task]]\nname = 'late'\nserver = 'own'\ncore = 0\nperiod = '25 ms'\noffset = '4900 us'\nexecution = '4 ms'\n";
    let system = System::parse_toml(text, Path::new("late.toml")).expect("a good file");
    let (release, schedule) = (Duration::from_nanos(2_000), Duration::from_nanos(100));
    let costs = Costs { release, schedule, ..Costs::default() };
    let check = tactus_analysis::check(&system, &costs);
    let plan = tactus_plan::plan(&system, &check, &costs);
    let trace = simulated(&system, &plan, &costs, 0);
    let view = plan.view.tree.as_ref().expect("servers");
    let broken = |tolerance: Duration| !tactus_trace::check::servers(view, &trace, tolerance).is_empty();
    assert!(!broken(release + schedule * 2) && broken(release - Duration::from_nanos(1)));
}
