//! A program that is saved at any instant and restored later goes on as if it had not been stopped: what it says is what it says in a run
//! of its own, but for the gaps.

use crate::slots::{ask, load, system, Shop};
use std::collections::BTreeMap;
use tactus_record::{EventKind, Record, SlotRefusal};
use tactus_scenarios::Finished;

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
fn random(mut state: u64) -> impl FnMut(u64) -> u64 {
    move |limit| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (mixed ^ (mixed >> 31)) % limit
    }
}

fn shop(name: &str) -> Shop {
    let shop = Shop::new(name);
    let keeper = [("fast", "400 us", "33 ms"), ("slow", "1500 us", "57 ms")];
    shop.pack(("tests/scenarios/guests", "keeper"), "keeper", &keeper, "dev");
    shop
}

/// How many saves came about, were refused, and met a job under way.
#[derive(Default, Debug)]
struct Saves {
    saved: usize,
    refused: usize,
    under_way: usize,
}

fn count(records: &[Record], all: &mut Saves) {
    for (n, it) in records.iter().enumerate() {
        match it.kind {
            EventKind::SlotUnloaded if it.level == 1 => {
                all.saved += 1;
                let after = &records[n + 1..];
                let own = after.iter().take_while(|it| it.kind != EventKind::Enter);
                all.under_way += usize::from(own.filter(|it| it.kind == EventKind::Dropped).count() > 0);
            }
            EventKind::SlotRefused => {
                assert_eq!(SlotRefusal::from_u8(it.level), Some(SlotRefusal::Unsavable));
                all.refused += 1;
            }
            _ => {}
        }
    }
}

/// A run with saves and restores at random instants says what a run without them says; returns what became of the saves.
fn goes_on(shop: &Shop, whole: &BTreeMap<String, Vec<String>>, seed: u64, saves: usize, all: &mut Saves) {
    let mut below = random(seed);
    let mut at = 40;
    let mut loads = vec![load(20, "guest", "keeper")];
    for _ in 0..saves {
        at += 20 + below(150);
        loads.push(ask("save", at, "guest"));
        at += 1 + below(250);
        loads.push(ask("restore", at, "guest"));
        at += 250;
    }
    let text = system(&format!("{} ms", at + 200), "guest", &loads);
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
    count(&trace.cores[0], all);
    for task in ["control", "load"] {
        let share = run.summary.task(task).worst_over_bound().expect("a promise");
        assert!(share <= 1.0, "seed {seed}: {task} is at {share} of its bound");
    }
}

/// A run of the program alone.
fn whole(shop: &Shop, duration: &str) -> BTreeMap<String, Vec<String>> {
    let path = shop.scratch.write("whole.toml", &system(duration, "guest", &[load(20, "guest", "keeper")]));
    let run = Finished::run(&path, &[]);
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
    said(&run)
}

#[test]
fn a_program_that_is_saved_at_random_instants_goes_on_as_if_it_had_not_been() {
    let shop = shop("saves");
    let whole = whole(&shop, "4 s");
    let mut all = Saves::default();
    goes_on(&shop, &whole, 1, 10, &mut all);
    println!("{all:?}");
    assert!(all.saved >= 8 && all.under_way >= 2, "{all:?}");
}

/// `TACTUS_SAVES` saves, 1,000 if it is not set.
#[test]
#[ignore = "a campaign of some minutes"]
fn a_thousand_saves_at_random_instants() {
    let shop = shop("saves-many");
    let whole = whole(&shop, "12 s");
    let most: usize = std::env::var("TACTUS_SAVES").ok().and_then(|text| text.parse().ok()).unwrap_or(1_000);
    let mut all = Saves::default();
    for seed in (0..).take_while(|seed| *seed < most as u64 / 20) {
        goes_on(&shop, &whole, 100 + seed, 20, &mut all);
        println!("seed {seed}: {all:?}");
    }
}
