//! Programs that come to a booted system and go again: their tasks run between load and unload and never else, nothing is lost by it,
//! and what is hostile harms nobody else.

use std::collections::BTreeMap;
use std::path::PathBuf;
use tactus_record::{EventKind, Record, SlotRefusal};
use tactus_scenarios::{file, tactus, Finished, Scratch};
use tactus_time::TaskId;

/// A folder with keys and packages.
pub(crate) struct Shop {
    pub(crate) scratch: Scratch,
}

impl Shop {
    /// With the keys of one who is trusted and one who is not.
    pub(crate) fn new(name: &str) -> Shop {
        let shop = Shop { scratch: Scratch::new(name) };
        for key in ["dev", "stranger"] {
            shop.call(&["key", "new", &shop.path(key).display().to_string()]);
        }
        shop
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    fn call(&self, words: &[&str]) {
        let said = tactus(words);
        assert_eq!(said.status, 0, "{words:?}: {}\n{}", said.output, said.errors);
    }

    /// A version of a program that uses the console and a service that keeps state.
    pub(crate) fn pack_version(&self, program: &str, package: &str, version: &str) {
        let text = format!(
            "name = '{program}'\nversion = '{version}'\nclass = 'app'\nuses = ['console', 'keep']\n\
             [[task]]\nname = 'count'\nexecution = '300 us'\nperiod = '40 ms'\n"
        );
        self.pack_text("tests/scenarios/guests", package, &text, "dev");
    }

    /// A package of a crate by a manifest of its own.
    pub(crate) fn pack_manifest(&self, folder: &str, manifest: &std::path::Path, package: &str) {
        let [key, out] = [self.path("dev.key"), self.path(&format!("{package}.package"))];
        let [folder, manifest, key, out] = [&file(folder), manifest, &key, &out].map(|path| path.display().to_string());
        self.call(&["pack", &folder, "--manifest", &manifest, "--key", &key, "--out", &out]);
    }

    /// A package of the program of this name in a crate, with tasks of `(name, execution, period)`, signed by `key`.
    pub(crate) fn pack(&self, program: (&str, &str), package: &str, tasks: &[(&str, &str, &str)], key: &str) {
        self.pack_with(program, (package, "uses = ['console']\nheap = '16 KiB'\n"), tasks, key);
    }

    /// As [`pack`](Shop::pack), with these lines in its manifest.
    pub(crate) fn pack_with(
        &self,
        (folder, program): (&str, &str),
        (package, lines): (&str, &str),
        tasks: &[(&str, &str, &str)],
        key: &str,
    ) {
        let mut text = format!("name = '{program}'\nversion = '1.0.0'\nclass = 'app'\n{lines}");
        for (task, execution, period) in tasks {
            text += &format!("[[task]]\nname = '{task}'\nexecution = '{execution}'\nperiod = '{period}'\n");
        }
        self.pack_text(folder, package, &text, key);
    }

    /// A package of this program with this manifest.
    fn pack_text(&self, folder: &str, package: &str, text: &str, key: &str) {
        let manifest = self.scratch.write(&format!("{package}.toml"), text).display().to_string();
        let (key, out) = (self.path(&format!("{key}.key")), self.path(&format!("{package}.package")));
        let [folder, key, out] = [file(folder), key, out].map(|path| path.display().to_string());
        self.call(&["pack", &folder, "--manifest", &manifest, "--key", &key, "--out", &out]);
    }
}

/// The shortest execution of a loader (ns, at an instruction each): a shorter one is refused.
pub(crate) const LOADER_STEP: u64 = 1_700_000;

/// One core: a promised task in nobody's server, a loader, a console, and a slot with a server.
pub(crate) fn system(duration: &str, slot: &str, loads: &[String]) -> String {
    format!(
        "[system]\ncores = 1\nduration = '{duration}'\n[machine]\ninstruction = '1 ns'\n[policy]\nkind = 'partitioned-edf'\n\
         [[component]]\nname = 'loader'\ncrate = '{}'\nloader = true\n\
         [[component]]\nname = 'console'\ncrate = '{}'\nconsole = true\nprovides = ['write']\n\
         [[task]]\nname = 'load'\ncomponent = 'loader'\ncore = 0\nperiod = '5 ms'\nexecution = '{LOADER_STEP} ns'\n\
         [[task]]\nname = 'control'\ncore = 0\nperiod = '4 ms'\nexecution = '500 us'\n\
         [[server]]\nname = 'apps'\ncores = [0]\nkind = 'deferrable'\nbudget = '2 ms'\nperiod = '10 ms'\npolicy = 'partitioned-edf'\n\
         [[slot]]\nname = '{slot}'\nserver = 'apps'\nclass = 'app'\nmemory = '128 KiB'\nheap = '16 KiB'\ntasks = 2\n\
         uses = {{ console = 'console.write' }}\nkeys = ['dev.pub']\nolder = true\n{}",
        file("os/components/loader").display(),
        file("os/components/services").display(),
        loads.concat(),
    )
}

pub(crate) fn load(at: u64, slot: &str, package: &str) -> String {
    format!("[[load]]\nat = '{at} ms'\nslot = '{slot}'\npackage = '{package}.package'\n")
}

pub(crate) fn unload(at: u64, slot: &str) -> String {
    ask("unload", at, slot)
}

/// An unload, a save or a restore.
pub(crate) fn ask(what: &str, at: u64, slot: &str) -> String {
    format!("[[{what}]]\nat = '{at} ms'\nslot = '{slot}'\n")
}

/// What became of each load: its number, the kind of record, its instant (ns), the reason of a refusal.
fn changes(records: &[Record]) -> Vec<(u64, EventKind, u64, u8)> {
    let kinds = [EventKind::SlotLoaded, EventKind::SlotUnloaded, EventKind::SlotRefused];
    let own = records.iter().filter(|it| kinds.contains(&it.kind));
    own.map(|it| (it.arg, it.kind, it.time.as_nanos(), it.level)).collect()
}

#[test]
fn tasks_of_programs_run_between_load_and_unload_and_the_run_is_replayed() {
    let shop = Shop::new("slots");
    let guests = |bin: &'static str| ("tests/scenarios/guests", bin);
    shop.pack(guests("steady"), "steady", &[("fast", "300 us", "40 ms"), ("slow", "300 us", "80 ms")], "dev");
    shop.pack(guests("other"), "other", &[("work", "300 us", "40 ms")], "dev");
    shop.pack(guests("other"), "forged", &[("work", "300 us", "40 ms")], "stranger");
    shop.pack(guests("other"), "greedy", &[("work", "9 ms", "10 ms")], "dev");
    let loads = [
        load(20, "guest", "steady"),
        // The slot is full.
        load(150, "guest", "other"),
        unload(200, "guest"),
        load(230, "guest", "forged"),
        load(240, "guest", "greedy"),
        load(250, "guest", "other"),
        unload(400, "guest"),
        load(420, "guest", "steady"),
        unload(600, "guest"),
        unload(610, "guest"),
    ];
    let path = shop.scratch.write("slots.toml", &system("700 ms", "guest", &loads));
    let run = Finished::run(&path, &[]);
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
    assert!(run.said.output.contains("decisions is the policy's own"), "{}", run.said.output);
    let trace = run.trace();
    let records = &trace.cores[0];
    let done = changes(records);
    let kinds: Vec<_> = done.iter().map(|(load, kind, _, why)| (*load, *kind, *why)).collect();
    let refused = |load: u64, why: SlotRefusal| (load, EventKind::SlotRefused, why as u8);
    let (loaded, unloaded) = (EventKind::SlotLoaded, EventKind::SlotUnloaded);
    assert_eq!(
        kinds,
        [
            (0, loaded, 0),
            refused(1, SlotRefusal::Full),
            (2, unloaded, 0),
            refused(3, SlotRefusal::Signature),
            refused(4, SlotRefusal::Unschedulable),
            (5, loaded, 0),
            (6, unloaded, 0),
            (7, loaded, 0),
            (8, unloaded, 0),
            refused(9, SlotRefusal::Empty),
        ]
    );
    // Between which instants a program was in the slot.
    let at = |load: u64| done.iter().find(|it| it.0 == load).map_or(0, |it| it.2);
    let there = [(at(0), at(2)), (at(5), at(6)), (at(7), at(8))];
    let names: Vec<String> = run.summary.tasks().map(|task| task.name().to_string()).collect();
    let mut ran: BTreeMap<&str, [usize; 3]> = BTreeMap::new();
    let own =
        records.iter().filter(|it| matches!(it.kind, EventKind::Release | EventKind::Dispatch | EventKind::Complete));
    for record in own {
        let Some(name) = record.task.map(|task| names[task.index()].as_str()).filter(|name| name.starts_with("guest"))
        else {
            continue;
        };
        let time = record.time.as_nanos();
        let place = there.iter().position(|(from, to)| (*from..=*to).contains(&time));
        let place = place
            .unwrap_or_else(|| panic!("{name} has {:?} at {time}, while no program was there: {there:?}", record.kind));
        ran.entry(name).or_default()[place] += usize::from(record.kind == EventKind::Complete);
    }
    println!("jobs of each task while each program was there: {ran:?}; there: {there:?}");
    let counts: Vec<[usize; 3]> = ran.values().copied().collect();
    // The second program has one task.
    assert!(counts[0].iter().all(|jobs| *jobs >= 3), "{ran:?}");
    assert!(counts[1][0] >= 1 && counts[1][1] == 0 && counts[1][2] >= 1, "{ran:?}");
    // Each came with its own memory, whatever was there before.
    let said = |words: &str| run.said.output.lines().filter(|line| line.ends_with(words)).count();
    assert_eq!((said("guest: steady after 0"), said("guest: other has 1207801")), (2, 1), "{}", run.said.output);
    // Of its two tasks it tells which one a job is of, in both its lives.
    assert_eq!((said("steady has task 0"), said("steady has task 1")), (2, 2), "{}", run.said.output);
    for task in ["control", "load"] {
        assert!(run.summary.task(task).worst_over_bound().is_some_and(|share| share <= 1.0), "{task}");
    }
    // In the simulator the same comes of each load, in the same job of the loader.
    let simulated = Finished::simulate(&path, &[]);
    assert_eq!(by_job(&run), by_job(&simulated));
    let jobs = records.iter().filter(|it| it.kind == EventKind::Complete && it.task == Some(TaskId(0)));
    let dearest = jobs.map(|it| it.arg).max().unwrap_or(0);
    println!("the loader's dearest job: {dearest} ns, at an instruction each");
    assert!((LOADER_STEP / 2..LOADER_STEP).contains(&dearest), "{dearest}");
    let shorter = std::fs::read_to_string(&path).expect("the file").replace(&format!("{LOADER_STEP} ns"), "1699999 ns");
    let said = tactus(["check", &shop.scratch.write("shorter.toml", &shorter).display().to_string()]);
    assert!(said.status != 0 && said.errors.contains("1700000 instructions; write execution"), "{}", said.errors);
    frames_are_back(&Finished::run_checked(&path, &[]));
}

/// What becomes of each load, and in which job of the loader (its second task).
pub(crate) fn by_job(run: &Finished) -> Vec<(u64, EventKind, u8, usize)> {
    let trace = run.trace();
    let mut jobs = 0;
    let mut found = Vec::new();
    for record in trace.cores.iter().flatten() {
        match record.kind {
            EventKind::Complete if record.task == Some(TaskId(0)) => jobs += 1,
            EventKind::SlotLoaded | EventKind::SlotUnloaded | EventKind::SlotRefused | EventKind::SlotUpdate => {
                found.push((record.arg, record.kind, record.level, jobs));
            }
            _ => {}
        }
    }
    found
}

/// What the wild program does from its fourth job on, by the number in its slot's name, and whether it is stopped for that: it writes to
/// its code, writes to the kernel, executes its heap, overflows its stack, never ends, calls the kernel at random, calls what it was granted at random.
const WILD: [(u8, bool); 7] = [(1, true), (3, true), (6, true), (10, true), (12, false), (13, false), (15, false)];

#[test]
fn a_hostile_program_in_a_slot_harms_nobody_else_and_leaves_the_slot_to_the_next_one() {
    wild("slots-hostile", &WILD);
}

/// `cargo test -p tactus-scenarios --test all slots::every_hostile -- --ignored --nocapture`
#[test]
#[ignore = "a minute"]
fn every_hostile_program_in_a_slot_harms_nobody_else() {
    let stopped = |kind: u8| !(12..=17).contains(&kind);
    wild("slots-every-hostile", &(0..20).map(|kind| (kind, stopped(kind))).collect::<Vec<_>>());
}

/// Each of these comes, does its harm and goes, and an honest program comes after it.
fn wild(name: &str, kinds: &[(u8, bool)]) {
    let shop = Shop::new(name);
    shop.pack(("tests/scenarios/wild", "wild"), "wild", &[("go", "100 us", "40 ms")], "dev");
    shop.pack(("tests/scenarios/guests", "steady"), "steady", &[("go", "300 us", "40 ms")], "dev");
    for &(kind, is_stopped) in kinds {
        let slot = format!("wild-{kind}");
        let loads = [load(10, &slot, "wild"), unload(400, &slot), load(420, &slot, "steady"), unload(600, &slot)];
        let path = shop.scratch.write(&format!("{slot}.toml"), &system("700 ms", &slot, &loads));
        let run = Finished::run(&path, &[]);
        for task in ["control", "load"] {
            let task = run.summary.task(task);
            let share = task.worst_over_bound().expect("a promise");
            println!("{slot}: {} at most {share:.3} of its bound", task.name());
            assert!(share <= 1.0 && task.missed() == 0, "{slot}: {}", run.said.output);
        }
        let done: Vec<_> = by_job(&run).iter().map(|it| it.1).collect();
        let (loaded, unloaded) = (EventKind::SlotLoaded, EventKind::SlotUnloaded);
        assert_eq!(done, [loaded, unloaded, loaded, unloaded], "{slot}");
        // It alone is stopped, if it faults; what comes next runs there.
        let (components, stopped) = (run.components(), run.summary.stopped());
        let names: Vec<&str> = stopped.iter().map(|it| components[it.component as usize].as_str()).collect();
        assert_eq!(names, if is_stopped { vec![slot.as_str()] } else { Vec::new() }, "{}", run.said.output);
        // Its stack lies by its place in the slot, and is known for one.
        assert_eq!(stopped.iter().any(|it| it.fault == "stack overflow"), kind == 10, "{slot}: {}", run.said.output);
        let said = run.said.output.lines().filter(|line| line.ends_with("steady after 0")).count();
        assert_eq!(said, 1, "{slot}: {}", run.said.output);
        frames_are_back(&Finished::run_checked(&path, &[]));
    }
}

/// All frames are free at the end, as they were at the start, by the kernel's own count.
fn frames_are_back(run: &Finished) {
    let (free, all) = free_frames(run);
    assert!(free == all && all > 0, "{free} of {all} frames are free");
}

/// Free frames at the end, and all of the pool, by the kernel's own count.
pub(crate) fn free_frames(run: &Finished) -> (u64, u64) {
    let line = run.log.lines().find(|line| line.contains(" frames of the pool are free")).expect("the kernel counts");
    println!("{line}");
    let mut numbers = line.split(' ').filter_map(|word| word.parse().ok());
    (numbers.next().expect("free"), numbers.next().expect("all"))
}

/// A program that is unloaded in the middle of a call of its console: the call ends when its thread runs again, with the next program, which
/// begins as it should; others call the console meanwhile.
#[test]
fn a_program_that_is_unloaded_inside_a_service_leaves_service_and_slot_to_others() {
    let shop = Shop::new("slots-inside");
    shop.pack(("tests/scenarios/guests", "chatty"), "chatty", &[("chat", "300 us", "40 ms")], "dev");
    shop.pack(("tests/scenarios/guests", "steady"), "steady", &[("go", "300 us", "40 ms")], "dev");
    const ROUNDS: u64 = 4;
    let loads = (0..ROUNDS).flat_map(|n| {
        // Each time somewhere else in a job.
        let at = 10 + 400 * n;
        [
            load(at, "guest", "chatty"),
            unload(at + 130 + n, "guest"),
            load(at + 160, "guest", "steady"),
            unload(at + 340, "guest"),
        ]
    });
    let loads: Vec<String> = loads.collect();
    let path = shop.scratch.write("inside.toml", &system("1700 ms", "guest", &loads));
    let run = Finished::run(&path, &[]);
    for task in ["control", "load"] {
        let task = run.summary.task(task);
        let share = task.worst_over_bound().expect("a promise");
        assert!(share <= 1.0 && task.missed() == 0, "{}", run.said.output);
    }
    let kinds: Vec<EventKind> = by_job(&run).iter().map(|it| it.1).collect();
    let pair = [EventKind::SlotLoaded, EventKind::SlotUnloaded];
    assert_eq!(kinds, pair.repeat(2 * ROUNDS as usize), "{}", run.said.output);
    let said = |words: &str| run.said.output.lines().filter(|line| line.ends_with(words)).count();
    assert_eq!(said("steady after 0"), ROUNDS as usize, "{}", run.said.output);
    assert!(said("guest: chat") > 50, "{}", run.said.output);
    frames_are_back(&Finished::run_checked(&path, &[]));
}

/// A monitor that restarts a slot stops the program that does what it must not, and the loader leaves the slot to the next one.
#[test]
fn a_monitor_that_restarts_a_slot_ends_its_program_and_the_next_one_runs() {
    let shop = Shop::new("slots-monitored");
    let uses = "uses = ['console', 'alarm']\n";
    shop.pack_with(("tests/scenarios/guests", "alarms"), ("alarms", uses), &[("count", "300 us", "40 ms")], "dev");
    shop.pack(("tests/scenarios/guests", "steady"), "steady", &[("go", "300 us", "40 ms")], "dev");
    let loads = [load(20, "guest", "alarms"), unload(300, "guest"), load(320, "guest", "steady"), unload(500, "guest")];
    let text =
        system("600 ms", "guest", &loads).replace("console.write' }", "console.write', alarm = 'console.write' }");
    let monitor =
        "[[monitor]]\nname = 'quiet'\nproperty = 'always (not called)'\nevents = { called = 'call guest.alarm' }\n\
                   on-violation = 'restart guest'\n";
    let path = shop.scratch.write("monitored.toml", &(text + monitor));
    let run = Finished::run(&path, &[]);
    let output = &run.said.output;
    let (components, stopped) = (run.components(), run.summary.stopped());
    let names: Vec<&str> = stopped.iter().map(|it| components[it.component as usize].as_str()).collect();
    // By the monitor, and its thread when it comes back from the call.
    assert_eq!(names, ["guest"; 2], "{output}");
    assert!(output.contains("component guest was stopped: a monitor found a property violated"), "{output}");
    let said = |words: &str| output.lines().filter(|line| line.ends_with(words)).count();
    assert_eq!((said("guest: job 2"), said("guest: job 3"), said("steady after 0")), (1, 0, 1), "{output}");
    let pair = [EventKind::SlotLoaded, EventKind::SlotUnloaded];
    assert_eq!(by_job(&run).iter().map(|it| it.1).collect::<Vec<_>>(), pair.repeat(2), "{output}");
    assert!(output.contains("decisions is the policy's own"), "{output}");
    for task in ["control", "load"] {
        let task = run.summary.task(task);
        assert!(task.worst_over_bound().is_some_and(|share| share <= 1.0) && task.missed() == 0, "{output}");
    }
}

/// This number of programs come and go in one run, and the kernel finds all in order at its end: each page table, each frame, each
/// thread and each brand, as its own check looks at them.
fn come_and_go(programs: usize) {
    let shop = Shop::new("slots-many");
    shop.pack(
        ("tests/scenarios/guests", "steady"),
        "steady",
        &[("a", "300 us", "40 ms"), ("b", "300 us", "80 ms")],
        "dev",
    );
    shop.pack(("tests/scenarios/guests", "other"), "other", &[("work", "300 us", "40 ms")], "dev");
    // All are due at once, so each begins when the one before it is over.
    let pair = |n: usize| [load(10, "guest", if n % 2 == 0 { "steady" } else { "other" }), unload(10, "guest")];
    let loads: Vec<String> = (0..programs).flat_map(pair).collect();
    let duration = format!("{} ms", 100 + programs * 100);
    let path = shop.scratch.write("many.toml", &system(&duration, "guest", &loads));
    let run = Finished::run(&path, &[]);
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
    let done = by_job(&run);
    let loaded = done.iter().filter(|it| it.1 == EventKind::SlotLoaded).count();
    let unloaded = done.iter().filter(|it| it.1 == EventKind::SlotUnloaded).count();
    println!("{loaded} loads, {unloaded} unloads in {} jobs of the loader", done.last().map_or(0, |it| it.3));
    assert_eq!((loaded, unloaded), (programs, programs), "{}", run.said.output);
    frames_are_back(&Finished::run_checked(&path, &[]));
}

#[test]
fn fifty_programs_come_and_go_and_nothing_is_lost() {
    come_and_go(50);
}

/// `cargo test --release -p tactus-scenarios --test all slots::ten_thousand -- --ignored --nocapture`
#[test]
#[ignore = "many minutes"]
fn ten_thousand_programs_come_and_go_and_nothing_is_lost() {
    come_and_go(10_000);
}
