//! Updates: a new version takes over between two jobs, and gives way again if it fails. A good one costs no job; a bad one costs those that
//! it had under way, and the old version goes on with the next.
//!
//! `TACTUS_UPDATES=10000 cargo test --release -p tactus-sim --test all updates::` works through that number of systems.

use crate::slots::{program, signer};
use std::path::{Path, PathBuf};
use tactus_generate::Random;
use tactus_model::{Body, Component, Costs, Grant, Load, LoadKind, Rights, Slot, System};
use tactus_package::admission::Demand;
use tactus_package::manifest::{List, Manifest, PackageTask, Processor, Right, RightKind};
use tactus_package::write::package;
use tactus_plan::RunPlan;
use tactus_record::EventKind;
use tactus_task::{SlotFault, SlotTold};
use tactus_time::Duration;
use tactus_trace::{LoadFate, Summary, Trace, Verdict};

/// Updates of one run.
const UPDATES: u64 = 12;
/// Good jobs of each task of a version that stays, about.
const TRIAL: u32 = 6;

fn us(micros: u64) -> Duration {
    Duration::from_micros(micros)
}

/// A version of the program: with these periods, and executions that differ from version to version.
fn version(chance: &mut Random, periods: &[u64], share: u64, number: u64) -> Vec<u8> {
    let program = program(1 + chance.below(3) as usize);
    let task = |(n, period): (usize, &u64)| {
        let execution = us((period * share / 100 / periods.len() as u64 * (50 + chance.below(50)) / 100).max(5));
        let demand = Demand { execution, period: us(*period), deadline: us(*period), priority: n as u32 };
        PackageTask { name: ["a", "b", "c"][n], demand }
    };
    let tasks: Vec<PackageTask<'_>> = periods.iter().enumerate().map(task).collect();
    let manifest = Manifest {
        name: "fly",
        sequence_number: number,
        class: "fly",
        processor: Processor::X86_64.number(),
        image_digest: hmac_sha256::Hash::hash(&program),
        image_size: program.len() as u64,
        heap: 0,
        tasks: List::of(&tasks).expect("few"),
        rights: List::of(&[Right { kind: RightKind::Service, name: "keep" }]).expect("one"),
    };
    package(&manifest, &program, &signer())
}

/// A pair of slots beside tasks that are promised something, and updates one after another.
fn random_system(chance: &mut Random) -> System {
    let order = ["partitioned-edf", "partitioned-fp"][chance.below(2) as usize];
    let kind = ["deferrable", "periodic", "polling", "sporadic", "cbs-hard"][chance.below(5) as usize];
    let period = [1_000, 2_000, 5_000][chance.below(3) as usize];
    let budget = period * (12 + chance.below(12)) / 100;
    let mut text = "[system]\nname = 'updates'\ncores = 1\nduration = '6 s'\n[policy]\nkind = 'partitioned-edf'\n\
                    [machine]\noverheads = false\n"
        .to_string();
    for name in ["left", "right"] {
        text += &format!(
            "[[server]]\nname = '{name}'\ncores = [0]\nkind = '{kind}'\nbudget = '{budget} us'\nperiod = '{period} us'\npolicy = '{order}'\n"
        );
    }
    for n in 0..2 {
        let own = 2_000 + chance.below(20) * 1_000;
        let execution = own * (5 + chance.below(10)) / 100;
        text += &format!("[[task]]\nname = 't{n}'\ncore = 0\nperiod = '{own} us'\nexecution = '{execution} us'\n");
    }
    text += "[[task]]\nname = 'load'\ncore = 0\nperiod = '2 ms'\nexecution = '60 us'\n";
    let mut system =
        System::parse_toml(&text, Path::new("updates.toml")).unwrap_or_else(|problems| panic!("{problems}\n{text}"));
    let component = |name: &str, slot: Option<usize>, rights: Rights, uses: Vec<Grant>| Component {
        name: name.into(),
        path: PathBuf::new(),
        slot,
        provides: Vec::new(),
        uses,
        rights,
        line: 1,
    };
    system.components.push(component("loader", None, Rights { loader: true, ..Rights::default() }, Vec::new()));
    let loader = system.tasks.iter().position(|task| task.name == "load").expect("the loader's task");
    system.tasks[loader].body = Body::Component(0);
    system.scheduling.places.resize(system.tasks.len(), Default::default());
    let count = 1 + chance.below(3) as usize;
    for (n, name) in ["left", "right"].into_iter().enumerate() {
        let server = system.scheduling.servers.iter().position(|it| it.name == name).expect("its server");
        let keep = Grant { name: "keep".into(), provider: 0, service: "exchange".into() };
        system.components.push(component(name, Some(n), Rights::default(), vec![keep]));
        let first = system.tasks.len();
        for k in 0..count {
            let mut task = system.tasks[loader].clone();
            task.name = format!("{name}.{k}");
            (task.period, task.deadline, task.offset) = (us(period), us(period), Duration::ZERO);
            task.execution = [Some(us(budget)); 4];
            task.demand = tactus_model::Demand::Fixed(us(budget));
            task.body = Body::Component(n + 1);
            system.tasks.push(task);
            let place = tactus_model::TaskPlacement { server: Some(server), ..Default::default() };
            system.scheduling.places.push(place);
        }
        system.slots.push(Slot {
            name: name.into(),
            component: n + 1,
            server,
            tasks: first..first + count,
            pages: 8,
            heap: 0,
            class: "fly".into(),
            keys: vec![signer().public()],
            older: false,
            line: 1,
        });
    }
    let periods: Vec<u64> = (0..count).map(|_| period * (4 + chance.below(5))).collect();
    let share = budget * 100 / period / 2;
    let path = || PathBuf::from("fly.package");
    for n in 0..=UPDATES {
        let bytes = version(chance, &periods, share, n + 1).into();
        let what = match n {
            0 => LoadKind::Load { path: path(), bytes },
            _ => LoadKind::Update { path: path(), bytes, other: 1, state: "keep".into(), trial: TRIAL * count as u32 },
        };
        // Some come while another one is under way.
        let at = Duration::from_millis(10 + n * (250 + chance.below(100)));
        system.loads.push(Load { at, slot: 0, what, line: n as usize + 1 });
    }
    // In some the first version is saved and goes on before it is updated.
    if chance.below(2) == 0 {
        for (at, what) in [(150, LoadKind::Save), (180, LoadKind::Restore { from: 0 })] {
            system.loads.push(Load { at: Duration::from_millis(at), slot: 0, what, line: system.loads.len() + 1 });
        }
    }
    system.loads.sort_by_key(|load| load.at);
    system
}

/// Lets the versions fail: some of them, in one of their first jobs.
fn sabotage(chance: &mut Random, plan: &mut RunPlan) {
    for load in plan.loader.iter_mut().flat_map(|loader| &mut loader.loads) {
        let SlotTold::Update(trial) = &mut load.told else { continue };
        let values = trial.tasks[0];
        let job = chance.below(2) as u32;
        trial.fault = match chance.below(4) {
            0 => Some((job, SlotFault::Stops)),
            1 => Some((job, SlotFault::Takes(Duration::from_millis(3_600_000)))),
            2 => Some((job, SlotFault::Takes(values.execution + us(1 + chance.below(40))))),
            _ => None,
        };
    }
}

#[derive(Default, Debug)]
struct Seen {
    systems: u64,
    good: u64,
    bad: [u64; 3],
    refused: u64,
    pending: u64,
    restored: u64,
    lost: usize,
}

fn one(seed: u64, bad: bool, seen: &mut Seen) -> Result<(), String> {
    let chance = &mut Random::new(seed);
    let system = random_system(chance);
    let check = tactus_analysis::check(&system, &Costs::default());
    let mut plan = tactus_plan::plan(&system, &check, &Costs::default());
    if bad {
        sabotage(chance, &mut plan);
    }
    let demand = |task: tactus_time::TaskId, _| system.tasks[task.index()].execution[0].expect("a time");
    let steps = plan.job_steps(&system);
    let trace =
        tactus_sim::simulate_with_steps(&plan.setup, system.duration, (demand, Vec::new()), steps, &Costs::default())
            .map_err(|error| format!("seed {seed}: {error:?}"))?;
    let summary: Summary = tactus_trace::judge(&plan.view, &trace);
    let wrong = |what: &str| format!("seed {seed}: {what}: {:?}\n{:#?}", summary.verdict, summary.slots);
    let rules = tactus_trace::check::all(&plan.view, &trace, Duration::ZERO);
    if let Some(first) = rules.first() {
        return Err(wrong(&format!("{first:?}")));
    }
    match tactus_sim::lockstep::lockstep(&plan.setup, |_, _| None, &trace, Duration::from_millis(1)) {
        Ok(Ok(_)) => {}
        other => return Err(wrong(&format!("the replay differs: {other:?}"))),
    }
    seen.systems += 1;
    let faults: Vec<_> = plan.loader.iter().flat_map(|it| &it.loads).map(fault_of).collect();
    let (mut lost, mut failed) = (0, false);
    for (load, fault) in summary.slots.iter().flat_map(|slot| &slot.loads).zip(faults) {
        match (load.fate, fault) {
            (LoadFate::Loaded | LoadFate::Saved, None) => {}
            (LoadFate::Restored, None) => seen.restored += 1,
            (LoadFate::Updated, None) => seen.good += 1,
            (LoadFate::WentBack, Some(fault)) => {
                let update = load.update.as_ref().ok_or_else(|| wrong("no update"))?;
                let (kind, why) = match fault {
                    SlotFault::Stops => (0, ["it was stopped", "it was stopped"]),
                    SlotFault::Takes(long) if long > Duration::from_millis(1_000) => {
                        (1, ["a job missed its deadline", "a job missed its deadline"])
                    }
                    SlotFault::Takes(_) => (2, ["a job took longer than declared", "a job missed its deadline"]),
                };
                if !update.back.as_deref().is_some_and(|back| why.contains(&back)) {
                    return Err(wrong("another reason"));
                }
                seen.bad[kind] += 1;
                // At most the job that failed, and those of its sisters that were under way.
                if update.lost.len() > system.slots[0].tasks.len() {
                    return Err(wrong("more jobs are lost than one of each task"));
                }
                (lost, failed) = (lost + update.lost.len(), true);
            }
            (LoadFate::Refused, _) => seen.refused += 1,
            (LoadFate::Pending, _) => seen.pending += 1,
            _ => return Err(wrong("an update ends as it should not")),
        }
    }
    seen.lost += lost;
    let kept = !summary.tasks.iter().any(|task| task.jobs.missed > 0) && matches!(summary.verdict, Verdict::Held);
    if !failed && check.accepted && !kept {
        return Err(wrong("a job that was promised is late"));
    }
    if check.accepted && summary.tasks[..3].iter().any(|task| task.jobs.missed > 0) {
        return Err(wrong("somebody else is late"));
    }
    none_is_lost_or_comes_twice(&system, &trace, lost).map_err(|what| wrong(&what))
}

fn fault_of(load: &tactus_task::SlotLoad) -> Option<SlotFault> {
    match &load.told {
        SlotTold::Update(trial) => trial.fault.map(|(_, fault)| fault),
        _ => None,
    }
}

/// The jobs of each task of the pair, in whichever slot they are, are released period after period, and all but those that are lost are
/// complete: said without the judge.
fn none_is_lost_or_comes_twice(system: &System, trace: &Trace, lost: usize) -> Result<(), String> {
    let [left, right] = [0, 1].map(|n| system.slots[n].tasks.clone());
    let mut unfinished = 0;
    // From where the first version begins, or goes on.
    let begins = trace.cores[0].iter().rposition(|r| r.kind == EventKind::SlotLoaded).unwrap_or(0);
    for (a, b) in left.zip(right) {
        let own =
            || trace.cores[0][begins..].iter().filter(|r| r.task.is_some_and(|task| [a, b].contains(&task.index())));
        let releases: Vec<u64> = own().filter(|r| r.kind == EventKind::Release).map(|r| r.arg).collect();
        let complete = own().filter(|r| r.kind == EventKind::Complete).count();
        let gaps: Vec<u64> = releases.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
        if gaps.windows(2).any(|pair| pair[0] != pair[1]) || gaps.first() == Some(&0) {
            return Err(format!("releases are not one period after each other: {gaps:?}"));
        }
        unfinished += releases.len() - complete;
    }
    // At the end of the run one of each task may be under way.
    match unfinished <= lost + system.slots[0].tasks.len() {
        true => Ok(()),
        false => Err(format!("{unfinished} jobs are not complete, {lost} were lost")),
    }
}

fn campaign(bad: bool) -> Seen {
    let count = std::env::var("TACTUS_UPDATES").ok().map_or(8, |text| text.parse().expect("a number"));
    let (mut seen, mut wrong) = (Seen::default(), Vec::new());
    for seed in 0..count {
        wrong.extend(one(seed, bad, &mut seen).err());
        if wrong.len() > 2 {
            break;
        }
    }
    println!("{seen:?}");
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    seen
}

#[test]
fn updates_under_load_lose_no_job_that_was_promised() {
    let seen = campaign(false);
    assert!(seen.good >= 6 * seen.systems && seen.lost == 0 && seen.bad == [0; 3] && seen.restored > 0, "{seen:?}");
}

#[test]
fn bad_versions_give_way_and_cost_no_more_than_the_jobs_that_they_had_under_way() {
    let seen = campaign(true);
    assert!(seen.bad.iter().all(|kind| *kind > seen.systems), "{seen:?}");
    assert!(seen.good > seen.systems && seen.lost as u64 <= 3 * seen.bad.iter().sum::<u64>(), "{seen:?}");
}
