//! A program that is saved at any instant and restored later goes on as if it had not been stopped: what it says is what it says in a run
//! of its own, but for the gaps. It holds a lock, computes with floating point, and has messages that wait, from itself and from outside.

use crate::slots::{ask, by_job, free_frames, load, system, Shop};
use std::collections::BTreeMap;
use tactus_record::{EventKind, Record, SlotRefusal};
use tactus_scenarios::{file, tactus, Finished};
use tactus_time::TaskId;

/// What the keeper's tasks say, in the order of their jobs.
fn said(run: &Finished) -> BTreeMap<String, Vec<String>> {
    let mut all: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in run.said.output.lines() {
        let Some((_, words)) = line.split_once("keeper ") else { continue };
        let Some((task, rest)) = words.split_once(' ') else { continue };
        all.entry(task.into()).or_default().push(rest.into());
    }
    all
}

/// Numbers below a limit (SplitMix64).
pub(crate) fn random(mut state: u64) -> impl FnMut(u64) -> u64 {
    move |limit| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

fn shop(name: &str) -> Shop {
    let shop = Shop::new(name);
    let keeper = [("fast", "400 us", "33 ms"), ("slow", "2 ms", "57 ms")];
    let lines = "uses = ['console', 'post']\nheap = '16 KiB'\n";
    shop.pack_with(("tests/scenarios/guests", "keeper"), ("keeper", lines), &keeper, "dev");
    shop
}

/// The system with somebody who sends post.
fn with_post(duration: &str, loads: &[String]) -> String {
    let uses = "uses = { console = 'console.write', post = 'post.take' }";
    let text = system(duration, "guest", loads).replace("uses = { console = 'console.write' }", uses);
    let folder = file("tests/scenarios/parts");
    let post = format!("[[component]]\nname = 'post'\ncrate = '{}'\nprovides = ['take']\n", folder.display());
    format!(
        "{text}{post}[[task]]\nname = 'send'\ncomponent = 'post'\ncore = 0\nperiod = '100 ms'\nexecution = '50 us'\n"
    )
}

/// How many saves came about, were refused, and met a job under way; and how many of these met the one that holds the lock.
#[derive(Default, Debug)]
struct Saves {
    saved: usize,
    refused: usize,
    under_way: usize,
    locked: usize,
}

fn count(records: &[Record], slow: impl Fn(TaskId) -> bool, all: &mut Saves) {
    let mut unsaved = false;
    for (n, it) in records.iter().enumerate() {
        match it.kind {
            EventKind::SlotUnloaded if it.level == 1 => {
                all.saved += 1;
                let after = &records[n + 1..];
                let own = after.iter().take_while(|it| it.kind != EventKind::Enter);
                let dropped: Vec<_> = own.filter(|it| it.kind == EventKind::Dropped).map(|it| it.task).collect();
                all.under_way += usize::from(!dropped.is_empty());
                all.locked += usize::from(dropped.iter().flatten().any(|task| slow(*task)));
            }
            // Inside of a service; so it is there when it should come back.
            EventKind::SlotRefused => {
                let why = if unsaved { SlotRefusal::Full } else { SlotRefusal::Unsavable };
                assert_eq!(SlotRefusal::from_u8(it.level), Some(why));
                unsaved = !unsaved;
                all.refused += usize::from(unsaved);
            }
            _ => {}
        }
    }
}

/// A second slot, in which what was saved of the first one can go on: another server, fewer pages, more keys.
const OTHER: &str = "[[server]]\nname = 'more'\ncores = [0]\nkind = 'deferrable'\nbudget = '1200 us'\nperiod = '9 ms'\n\
    policy = 'partitioned-fp'\n[[slot]]\nname = 'other'\nserver = 'more'\nclass = 'app'\nmemory = '64 KiB'\nheap = '16 KiB'\ntasks = 2\n\
    uses = { console = 'console.write', post = 'post.take' }\nkeys = ['stranger.pub', 'dev.pub']\nolder = true\n";

/// A run with saves and restores at random instants says what a run without them says; returns what became of the saves. `moves`: each restore
/// is in the other one of two slots.
fn goes_on(
    shop: &Shop,
    whole: &BTreeMap<String, Vec<String>>,
    (seed, saves, moves): (u64, usize, bool),
    all: &mut Saves,
) {
    let mut below = random(seed);
    let mut at = 40;
    let mut loads = vec![load(20, "guest", "keeper")];
    let (mut slot, mut next) = ("guest", if moves { "other" } else { "guest" });
    for _ in 0..saves {
        at += 20 + below(150);
        loads.push(ask("save", at, slot));
        at += 1 + below(250);
        loads.push(ask("restore", at, next) + &if moves { format!("from = '{slot}'\n") } else { String::new() });
        (slot, next) = (next, slot);
        at += 250;
    }
    let text = with_post(&format!("{} ms", at + 200), &loads);
    let slower = || {
        text.replace("core = 0\nperiod = '5 ms'", "core = 0\nperiod = '7 ms'")
            .replace("'2 ms'\nperiod = '10 ms'", "'1500 us'\nperiod = '10 ms'")
            + OTHER
    };
    let text = if moves { slower() } else { text };
    let path = shop.scratch.write(&format!("saves-{seed}.toml"), &text);
    let run = Finished::run(&path, &[]);
    assert_eq!(run.summary.outcome(), "held", "seed {seed}: {}", run.said.output);
    assert!(run.said.output.contains("decisions is the policy's own"), "seed {seed}: {}", run.said.output);
    let now = said(&run);
    for (task, lines) in whole {
        let own = now.get(task).map_or(&[][..], Vec::as_slice);
        assert!(own.len() > 3 * saves, "seed {seed}: task {task} says {} lines", own.len());
        let same = own.iter().zip(lines).take_while(|(own, line)| own == line).count();
        assert_eq!(same, own.len().min(lines.len()), "seed {seed}: task {task} says {:?}", own.get(same));
    }
    let trace = run.trace();
    let names: Vec<String> = run.summary.tasks().map(|task| task.name().to_string()).collect();
    let slow = |task: TaskId| ["guest.1", "other.1"].contains(&names[task.index()].as_str());
    count(&trace.cores[0], slow, all);
    for task in ["control", "load"] {
        let share = run.summary.task(task).worst_over_bound().expect("a promise");
        assert!(share <= 1.0, "seed {seed}: {task} is at {share} of its bound");
    }
}

/// A run of the program alone.
fn whole(shop: &Shop, duration: &str) -> BTreeMap<String, Vec<String>> {
    let path = shop.scratch.write("whole.toml", &with_post(duration, &[load(20, "guest", "keeper")]));
    let run = Finished::run(&path, &[]);
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
    said(&run)
}

#[test]
fn a_program_that_is_saved_at_random_instants_goes_on_as_if_it_had_not_been() {
    let shop = shop("saves");
    let whole = whole(&shop, "4 s");
    let mut all = Saves::default();
    goes_on(&shop, &whole, (1, 10, false), &mut all);
    println!("{all:?}");
    assert!(all.saved >= 8 && all.under_way >= 2 && all.locked >= 1, "{all:?}");
    // And where it goes on in another slot each time, with another server.
    let mut all = Saves::default();
    goes_on(&shop, &whole, (2, 10, true), &mut all);
    println!("{all:?}");
    assert!(all.saved >= 8 && all.under_way >= 1, "{all:?}");
}

/// `TACTUS_SAVES` saves, 1,000 if it is not set; with `TACTUS_MOVES` each goes on in another slot.
#[test]
#[ignore = "a campaign of some minutes"]
fn a_thousand_saves_at_random_instants() {
    let moves = std::env::var("TACTUS_MOVES").is_ok();
    let shop = shop("saves-many");
    let whole = whole(&shop, "12 s");
    let most: usize = std::env::var("TACTUS_SAVES").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000);
    let mut all = Saves::default();
    for seed in (0..).take_while(|seed| *seed < most as u64 / 20) {
        goes_on(&shop, &whole, (100 + seed, 20, moves), &mut all);
        println!("seed {seed}: {all:?}");
    }
}

/// The same system with another loader, the program of this crate.
fn with_loader(text: &str, folder: &str, lines: &str) -> String {
    let own = format!("crate = '{}'", file("os/components/loader").display());
    text.replace(&own, &format!("crate = '{}'\n{lines}", file(folder).display()))
}

/// Nobody outside the slot is late.
fn others_are_on_time(run: &Finished) {
    for task in ["control", "load"] {
        let task = run.summary.task(task);
        let share = task.worst_over_bound().expect("a promise");
        assert!(share <= 1.0 && task.missed() == 0, "{} is at {share}: {}", task.name(), run.said.output);
    }
}

/// A loader that gives threads of its slot registers that no component has: each is refused and leaves what was there, and so is what is not
/// the slot's. What the kernel takes runs into its fault with a component's rights, and nobody else is late.
#[test]
fn a_loader_that_forges_registers_and_pages_is_refused_and_harms_nobody() {
    let shop = Shop::new("saves-forged");
    let uses = "uses = { console = 'console.write' }";
    let text = with_loader(&system("1 s", "guest", &[]), "tests/scenarios/forger", uses);
    let path = shop.scratch.write("forged.toml", &text);
    let run = Finished::run(&path, &[]);
    let lines = run.said.output.lines();
    let said: Vec<&str> = lines.filter_map(|line| line.split_once("console  loader: ")).map(|it| it.1).collect();
    println!("{said:?}");
    let [first, shown, last] = said[..] else { panic!("{}", run.said.output) };
    assert_eq!((first, shown), ("prepared Ok(0), good Ok(())", "shown true"));
    let counts: Vec<u64> = last.split([' ', ',']).filter_map(|word| word.parse().ok()).collect();
    assert!(matches!(counts[..], [taken, refused] if taken > 2_000 && refused > 4_000), "{last}");
    // What it let run was in the slot, and faulted there.
    let (components, stopped) = (run.components(), run.summary.stopped());
    assert!(stopped.len() > 40, "{}", run.said.output);
    assert!(stopped.iter().all(|it| components[it.component as usize] == "guest"), "{}", run.said.output);
    others_are_on_time(&run);
    // All frames but the two that it keeps.
    let (free, all) = free_frames(&Finished::run_checked(&path, &[]));
    assert_eq!(free + 2, all);
}

/// What memory errors can do to a snapshot (`os/components/loader/src/wear.rs`): five kinds to pages, the others to states of threads.
const ERRORS: usize = 5 + 14;

/// From one load of the worn program to the next (ms).
const ROUND: u64 = 320;

/// What is kept of a program changes by itself: nothing of it comes back, the reason is told, and the slot takes the next program.
#[test]
fn a_snapshot_that_memory_errors_changed_is_refused_and_leaves_nothing() {
    let shop = shop("saves-worn");
    let mut loads = Vec::new();
    for n in 0..ERRORS as u64 {
        let at = 20 + ROUND * n;
        loads.extend([load(at, "guest", "keeper"), ask("save", at + 130, "guest"), ask("restore", at + 220, "guest")]);
    }
    let end = 20 + ROUND * ERRORS as u64;
    loads.push(load(end, "guest", "keeper"));
    let text = with_post(&format!("{} ms", end + 400), &loads);
    let path = shop.scratch.write("worn.toml", &with_loader(&text, "tests/scenarios/worn-loader", ""));
    let run = Finished::run(&path, &[]);
    let refused = (EventKind::SlotRefused, SlotRefusal::Damaged as u8);
    let each = [(EventKind::SlotLoaded, 0), (EventKind::SlotUnloaded, 1), refused];
    let fates: Vec<(EventKind, u8)> = by_job(&run).iter().map(|it| (it.1, it.2)).collect();
    assert_eq!(fates[..3 * ERRORS], each.repeat(ERRORS), "{}", run.said.output);
    assert_eq!(fates[3 * ERRORS..], [(EventKind::SlotLoaded, 0)], "{}", run.said.output);
    assert!(run.said.output.contains("decisions is the policy's own"), "{}", run.said.output);
    assert_eq!(run.summary.stopped(), [], "{}", run.said.output);
    // Each begins as the first one did: nothing of what was kept is in it.
    let said = run.said.output.lines().filter(|line| line.contains("keeper 0 1 ")).count();
    assert_eq!(said, ERRORS + 1, "{}", run.said.output);
    others_are_on_time(&run);
    // The program is in the slot at the end, and the last snapshot beside it: as where there was no other.
    let once = [&loads[..2], &[load(20 + ROUND, "guest", "keeper")]].concat();
    let once = shop.scratch.write("once.toml", &with_post(&format!("{} ms", 20 + ROUND + 400), &once));
    assert_eq!(free_frames(&Finished::run_checked(&path, &[])), free_frames(&Finished::run_checked(&once, &[])));
}

/// The figures of `docs/measured/slots.md`: what the loader's jobs for a load, a save and so on take together, and the dearest of them.
///
/// `cargo test -p tactus-scenarios --test all saves::what -- --ignored --nocapture`
#[test]
#[ignore = "prints figures"]
fn what_loads_saves_and_restores_cost() {
    let shop = shop("saves-costs");
    shop.pack(("tests/scenarios/guests", "large"), "large", &[("look", "300 us", "40 ms")], "dev");
    for package in ["keeper", "large"] {
        let asked = ["load", "save", "restore", "unload", "load"];
        let steps = asked.iter().zip(0..).map(|(what, n)| match *what {
            "load" => load(20 + 1_000 * n, "guest", package),
            what => ask(what, 20 + 1_000 * n, "guest"),
        });
        let text = |duration: &str, loads: &[String]| {
            with_post(duration, loads).replace("memory = '128 KiB'", "memory = '1280 KiB'")
        };
        let steps: Vec<String> = steps.collect();
        let path = shop.scratch.write("costs.toml", &text("5020 ms", &steps));
        let file = shop.scratch.path().join(format!("{package}.package")).display().to_string();
        println!("{}", tactus(["pack", "--check", &path.display().to_string(), &file]).output);
        let saved = shop.scratch.write("saved.toml", &text("1900 ms", &steps[..2]));
        let (free, all) = free_frames(&Finished::run_checked(&saved, &[]));
        println!("{package}: {} pages are kept", all - free);
        let run = Finished::run(&path, &[]);
        assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
        let trace = run.trace();
        let of_loader = |it: &&Record| it.kind == EventKind::Complete && it.task == Some(TaskId(0));
        let jobs: Vec<(u64, u64)> =
            trace.cores[0].iter().filter(of_loader).map(|it| (it.time.as_nanos() / 1_000_000, it.arg)).collect();
        let nothing = jobs.iter().map(|it| it.1).min().unwrap_or(0);
        for (what, at) in asked.iter().zip((20..).step_by(1_000)) {
            let own = jobs.iter().filter(|it| (at..at + 1_000).contains(&it.0)).map(|it| it.1 - nothing);
            let own: Vec<u64> = own.filter(|it| *it > 2_000).collect();
            let (all, most) = (own.iter().sum::<u64>(), own.iter().max().unwrap_or(&0));
            println!("{package}: {what}: {} jobs, {all} instructions, {most} in the dearest: {own:?}", own.len());
        }
    }
}
