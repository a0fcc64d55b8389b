//! A new version takes over from the old one on the booted system: it goes on where that ended, or gives way if it fails.

use crate::slots::{by_job, free_frames, Shop, LOADER_STEP};
use tactus_record::{EventKind, Record, SlotSwitch};
use tactus_scenarios::{file, Finished};

/// A pair of slots beside a promised task, a service that keeps state, and an update.
fn system(versions: &[(u64, &str)]) -> String {
    let mut text = format!(
        "[system]\ncores = 1\nduration = '2200 ms'\npool = '512 KiB'\n[machine]\ninstruction = '1 ns'\n[policy]\nkind = 'partitioned-edf'\n\
         [[component]]\nname = 'loader'\ncrate = '{}'\nloader = true\n\
         [[component]]\nname = 'console'\ncrate = '{}'\nconsole = true\nprovides = ['write']\n\
         [[component]]\nname = 'keeper'\ncrate = '{}'\nprovides = ['exchange']\n\
         [[task]]\nname = 'load'\ncomponent = 'loader'\ncore = 0\nperiod = '5 ms'\nexecution = '{LOADER_STEP} ns'\n\
         [[task]]\nname = 'control'\ncore = 0\nperiod = '4 ms'\nexecution = '500 us'\n\
         [[load]]\nat = '20 ms'\nslot = 'left'\npackage = 'first.package'\n",
        file("os/components/loader").display(),
        file("os/components/services").display(),
        file("examples/update/craft").display(),
    );
    for slot in ["left", "right"] {
        text += &format!(
            "[[server]]\nname = 'for-{slot}'\ncores = [0]\nkind = 'deferrable'\nbudget = '1 ms'\nperiod = '10 ms'\npolicy = 'partitioned-edf'\n\
             [[slot]]\nname = '{slot}'\nserver = 'for-{slot}'\nclass = 'app'\nmemory = '128 KiB'\ntasks = 2\n\
             uses = {{ console = 'console.write', keep = 'keeper.exchange' }}\nkeys = ['dev.pub']\n"
        );
    }
    for (at, package) in versions {
        text += &format!(
            "[[update]]\nat = '{at} ms'\nslots = ['left', 'right']\npackage = '{package}.package'\nstate = 'keep'\ntrial = 5\n"
        );
    }
    text
}

/// What became of each update: its kind and the slot in use.
fn switches(run: &Finished) -> Vec<(u8, u32)> {
    let records = &run.trace().cores[0];
    records.iter().filter(|r| r.kind == EventKind::SlotSwitched).map(|r| (r.level, r.job)).collect()
}

/// The numbers of jobs that the program has counted, in order.
fn counted(run: &Finished) -> Vec<u64> {
    let number = |line: &str| line.split_once(": job ").and_then(|(_, number)| number.trim().parse().ok());
    run.said.output.lines().filter_map(number).collect()
}

#[test]
fn a_good_version_goes_on_counting_and_bad_ones_give_way_to_the_state_that_was() {
    let shop = Shop::new("updates");
    for (n, (program, package)) in
        [("counts", "first"), ("counts", "second"), ("panics", "third"), ("hangs", "fourth")].into_iter().enumerate()
    {
        shop.pack_version(program, package, &format!("1.0.{n}"));
    }
    let path = shop.scratch.write("updates.toml", &system(&[(200, "second"), (800, "third"), (1400, "fourth")]));
    let run = Finished::run(&path, &[]);
    let output = &run.said.output;
    let [over, kept, stopped, missed] =
        [SlotSwitch::Over, SlotSwitch::Kept, SlotSwitch::Stopped, SlotSwitch::Missed].map(|it| it as u8);
    assert_eq!(
        switches(&run),
        [(over, 1), (kept, 1), (over, 0), (stopped, 1), (over, 0), (missed, 1)],
        "{output}\n{}",
        run.log
    );
    // No number is left out and none comes twice: not even those whose job failed, since the old version goes on from its own.
    let counted = counted(&run);
    assert!(counted.len() > 45, "{counted:?}");
    let repeated = counted.windows(2).filter(|pair| pair[1] != pair[0] + 1).count();
    // After each failure the old version counts on from its own last job.
    assert_eq!(repeated, 2, "{counted:?}");
    for task in ["control", "load"] {
        let task = run.summary.task(task);
        assert!(task.worst_over_bound().is_some_and(|share| share <= 1.0) && task.missed() == 0, "{output}");
    }
    for words in ["took over from left at", "stays since", "it was stopped", "a job missed its deadline", "lost: job"] {
        assert!(output.contains(words), "{words}: {output}");
    }
    assert!(output.contains("decisions is the policy's own"), "{output}");
    // One program is in the pair at the end, whatever came and went: as without updates.
    let free = free_frames(&Finished::run_checked(&path, &[]));
    let alone = shop.scratch.write("alone.toml", &system(&[]));
    assert_eq!(free, free_frames(&Finished::run_checked(&alone, &[])));
    let simulated = Finished::simulate(&path, &[]);
    let hand_overs = |run: &Finished| by_job(run).into_iter().map(|it| (it.0 & 0xffff, it.1, it.3)).collect::<Vec<_>>();
    assert_eq!(hand_overs(&run), hand_overs(&simulated));
}

/// `examples/update` beside keys and packages of its own, with this version as the new one.
fn flight(version: &str) -> Finished {
    let shop = Shop::new("flight");
    for n in 1..=3 {
        let manifest = file(&format!("examples/update/fly-{n}.toml"));
        shop.pack_manifest("examples/update/craft", &manifest, &format!("fly-{n}"));
    }
    let text = std::fs::read_to_string(file("examples/update/update.toml")).expect("the example");
    let text = text.replace("\"../../os/", &format!("\"{}/", file("os").display()));
    let text = text.replace("\"craft\"", &format!("\"{}\"", file("examples/update/craft").display()));
    let text = text.replace("fly-2.package\"", &format!("{version}.package\""));
    let path = shop.scratch.write("update.toml", &text);
    let run = Finished::run(&path, &[]);
    assert!(run.said.output.contains("landed at"), "{}", run.said.output);
    run
}

#[test]
fn the_craft_lands_with_a_controller_that_was_replaced_in_flight() {
    let run = flight("fly-2");
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
    assert_eq!(switches(&run), [(SlotSwitch::Over as u8, 1), (SlotSwitch::Kept as u8, 1)], "{}", run.said.output);
    assert!(run.said.output.contains("fly-2 2.0.0 in right took over from left at"), "{}", run.said.output);
    assert!(run.said.output.contains("no job lost"), "{}", run.said.output);
}

#[test]
fn the_craft_lands_with_its_old_controller_where_the_new_one_panics_in_flight() {
    let run = flight("fly-3");
    assert_eq!(switches(&run), [(SlotSwitch::Over as u8, 1), (SlotSwitch::Stopped as u8, 0)], "{}", run.said.output);
    assert!(run.said.output.contains("it was stopped, lost: job"), "{}", run.said.output);
}

/// What a run of many updates brings in: the package, its program, its key, its period, and the words of the reason why it does not stay.
const VERSIONS: [(&str, &str, &str, &str, &str); 10] = [
    ("good", "counts", "dev", "30 ms", ""),
    ("panics", "panics", "dev", "30 ms", "it was stopped"),
    ("hangs", "hangs", "dev", "30 ms", "a job missed its deadline"),
    ("overruns", "overruns", "dev", "30 ms", "a job took longer than declared"),
    ("never-ready", "waits", "dev", "30 ms", "a job missed its deadline"),
    ("garbage", "spoils", "dev", "30 ms", "it was stopped"),
    ("named", "alarms", "dev", "30 ms", "it was stopped"),
    ("forged", "counts", "stranger", "30 ms", "signed"),
    ("large", "large", "dev", "30 ms", "memory"),
    ("slower", "counts", "dev", "40 ms", "period"),
];
/// A period of the program that is updated, which is its deadline too (ns).
const PERIOD: u64 = 30_000_000;

/// As [`system`], with more work beside the pair, and a monitor for each slot that stops who calls what it should not.
fn crowded(versions: &[(u64, &str)], duration: u64) -> String {
    let text = system(versions)
        .replace("duration = '2200 ms'", &format!("duration = '{duration} ms'"))
        .replace("keep = 'keeper.exchange' }", "keep = 'keeper.exchange', alarm = 'keeper.exchange' }")
        .replace("trial = 5", "trial = 4");
    let monitor = |slot: &str| {
        format!(
            "[[monitor]]\nname = 'for-{slot}'\nproperty = 'always (not called)'\nevents = {{ called = 'call {slot}.alarm' }}\n\
             on-violation = 'restart {slot}'\nreset = true\n"
        )
    };
    text + "[[task]]\nname = 'crowd'\ncore = 0\nperiod = '12 ms'\nexecution = '2 ms'\n"
        + &monitor("left")
        + &monitor("right")
}

/// What a run of many updates has shown.
#[derive(Default, Debug)]
struct Shown {
    good: usize,
    back: usize,
    refused: usize,
    lost: usize,
    /// The longest gap where the new version stayed, and where it did not (ns).
    gaps: [u64; 2],
    /// From the release of a job that failed until the old version went on, at most (ns).
    until_back: u64,
}

/// This number of updates in one run, of which each fifth is bad, each in another way.
fn many(seed: u64, updates: usize, shop: &Shop, shown: &mut Shown) {
    let mut random = crate::saves::random(seed);
    let bad = |n: usize| 1 + (n / 5 + seed as usize) % (VERSIONS.len() - 1);
    let kinds: Vec<usize> = (0..updates).map(|n| if n % 5 == 4 { bad(n) } else { 0 }).collect();
    let versions: Vec<(u64, &str)> =
        kinds.iter().enumerate().map(|(n, kind)| (200 + 300 * n as u64 + random(30), VERSIONS[*kind].0)).collect();
    let path = shop.scratch.write("many.toml", &crowded(&versions, 200 + 300 * updates as u64 + 500));
    let run = Finished::run(&path, &[]);
    let summary: serde_json::Value = serde_json::from_str(&run.text("summary.json")).expect("JSON");
    let loads = summary["slots"][0]["loads"].as_array().expect("a list");
    let said = &run.said.output;
    assert_eq!(loads.len(), updates + 1);
    for (load, kind) in loads[1..].iter().zip(&kinds) {
        let (name, .., why) = VERSIONS[*kind];
        let update = &load["update"];
        let gap = update["gap_ns"].as_u64();
        match load["fate"].as_str() {
            Some("updated") if *kind == 0 => {
                assert_eq!(update["lost"].as_array().map(Vec::len), Some(0), "{load}");
                // The last job before may be complete at once, the first one after at its deadline.
                let gap = gap.expect("a gap");
                assert!(gap <= 2 * PERIOD, "{load}");
                shown.gaps[0] = shown.gaps[0].max(gap);
                shown.good += 1;
            }
            Some("went-back") if *kind > 0 => {
                assert!(update["back"].as_str().is_some_and(|it| it.contains(why)), "{name}: {load}");
                let (lost, gap) = (update["lost"].as_array().map_or(0, Vec::len), gap.expect("a gap"));
                assert!(lost <= 1 && gap <= 3 * PERIOD, "{name}: {load}");
                shown.gaps[1] = shown.gaps[1].max(gap);
                shown.lost += lost;
                shown.back += 1;
            }
            Some("refused") if *kind > 6 => {
                assert!(load["why"].as_str().is_some_and(|it| it.contains(why)), "{name}: {load}");
                shown.refused += 1;
            }
            _ => panic!("{name}: {load}\n{said}"),
        }
    }
    for task in ["control", "crowd", "load"] {
        let task = run.summary.task(task);
        assert!(task.worst_over_bound().is_some_and(|share| share <= 1.0) && task.missed() == 0, "{said}");
    }
    assert!(said.contains("decisions is the policy's own"), "{said}");
    one_sequence_of_jobs(&run, shown);
    // Each number comes after the one before, or after that of the old version where the new one has counted in vain.
    let counted = counted(&run);
    for pair in counted.windows(2) {
        assert!(pair[1] == pair[0] + 1 || (pair[1] <= pair[0] && pair[0] - pair[1] < 4), "{pair:?} in {counted:?}");
    }
    let again = counted.windows(2).filter(|pair| pair[1] <= pair[0]).count();
    assert!(again <= kinds.iter().filter(|kind| (1..7).contains(*kind)).count(), "{counted:?}");
}

/// Said from the records alone: whichever slot they are in, jobs are released one period after another, none is lost or comes twice, and each is
/// complete by its deadline but for the last one of a version that gives way.
fn one_sequence_of_jobs(run: &Finished, shown: &mut Shown) {
    let trace = run.trace();
    let names: Vec<&str> = run.summary.tasks().map(|task| task.name()).collect();
    let is_of_pair = |name: &str| ["left.0", "right.0"].contains(&name);
    let of_pair = |r: &&Record| r.task.is_some_and(|task| is_of_pair(names[task.index()]));
    let own = || trace.cores[0].iter().filter(of_pair);
    let releases: Vec<&Record> = own().filter(|r| r.kind == EventKind::Release).collect();
    for pair in releases.windows(2) {
        assert_eq!(pair[1].arg, pair[0].arg + PERIOD, "{pair:?}");
    }
    let backs: Vec<&Record> = trace.cores[0]
        .iter()
        .filter(|r| r.kind == EventKind::SlotSwitched && SlotSwitch::from_u8(r.level).is_some_and(SlotSwitch::is_back))
        .collect();
    // The last one may be under way at the end.
    for released in &releases[..releases.len() - 1] {
        let end = own().find(|r| r.kind == EventKind::Complete && (r.task, r.job) == (released.task, released.job));
        let in_time = end.is_some_and(|end| end.time.as_nanos() <= released.arg + PERIOD);
        if in_time {
            continue;
        }
        let back = backs.iter().find(|back| back.time.as_nanos() > released.arg).expect("the old version goes on");
        let until = back.time.as_nanos() - released.arg;
        // As late as its deadline, and an entry of the scheduler's.
        assert!(until <= PERIOD + 100_000, "{until} ns after the release of {released:?}");
        shown.until_back = shown.until_back.max(until);
    }
}

/// `TACTUS_UPDATES=250 cargo test --release -p tactus-scenarios --test all updates::many -- --ignored --nocapture`
#[test]
#[ignore = "many minutes"]
fn many_updates_under_load_lose_no_promised_job_and_bad_ones_go_back_in_time() {
    let count: usize = std::env::var("TACTUS_UPDATES").map_or(50, |text| text.parse().expect("a number"));
    let shop = Shop::new("updates-many");
    for (package, program, key, period, _) in VERSIONS {
        let tasks = [("count", "300 us", period)];
        let uses = "uses = ['console', 'keep', 'alarm']\n";
        shop.pack_with(("tests/scenarios/guests", program), (package, uses), &tasks, key);
    }
    let first = shop.scratch.path().join("first.package");
    std::fs::copy(shop.scratch.path().join("good.package"), first).expect("a copy");
    let mut shown = Shown::default();
    for seed in 0..count.div_ceil(50) {
        many(seed as u64, (count - 50 * seed).min(50), &shop, &mut shown);
        println!("{shown:?}");
    }
}
