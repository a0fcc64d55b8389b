//! The quadrotor's controller is saved at any instant of the flight and goes on later as if it had not been stopped. The craft flies on
//! meanwhile, so its sensors show other numbers than in a flight without gaps: what a job gives must follow, bit for bit, from the numbers that
//! it says it took and from what went on from the jobs before, and the craft must land.

#[path = "../../guests/src/ahead.rs"]
mod ahead;
#[allow(dead_code)]
#[path = "../../../../examples/update/craft/src/law.rs"]
mod law;

use crate::saves::random;
use crate::slots::{ask, load, Shop};
use tactus_record::{EventKind, SlotRefusal};
use tactus_scenarios::{file, Finished};
use tactus_time::TaskId;

/// A period of the controller (ns).
const PERIOD: u64 = 20_000_000;

/// What begins a line of the controller's.
const SAID: &str = "console  left: flies ";

/// The example's system with these loads in place of its own. The loader and the controller have periods that drift against each other, and the
/// server is so small that a job often waits in its middle.
fn system(duration: u64, loads: &[String]) -> String {
    let text = std::fs::read_to_string(file("examples/update/update.toml")).expect("the example");
    let (text, _) = text.split_once("[[load]]").expect("its loads");
    let mut text = text.to_string();
    for (old, new) in [
        ("\"../../os/", format!("\"{}/", file("os").display())),
        ("\"craft\"", format!("\"{}\"", file("examples/update/craft").display())),
        ("duration = \"5 s\"", format!("duration = \"{duration} ms\"")),
        (
            "component = \"loader\"\ncore = 0\nperiod = \"5 ms\"",
            "component = \"loader\"\ncore = 0\nperiod = \"5300 us\"".into(),
        ),
        ("pool = \"512 KiB\"", "pool = \"1 MiB\"".into()),
        ("budget = \"600 us\"", "budget = \"900 us\"".into()),
    ] {
        assert!(text.contains(old), "{old}");
        text = text.replace(old, &new);
    }
    text + &loads.concat()
}

fn shop(name: &str) -> Shop {
    let shop = Shop::new(name);
    let manifest =
        "name = 'flies'\nversion = '1.0.0'\nclass = 'flight'\nuses = ['console', 'sense', 'drive', 'keep']\n\
                    [[task]]\nname = 'control'\nperiod = '20 ms'\nexecution = '1200 us'\n";
    let manifest = shop.scratch.write("flies.toml", manifest);
    shop.pack_manifest("tests/scenarios/guests", &manifest, "flies");
    shop
}

/// What became of the saves.
#[derive(Default, Debug)]
struct Saves {
    saved: usize,
    /// Met a job under way.
    under_way: usize,
    /// Inside of a service.
    refused: usize,
    /// Jobs whose numbers were computed again.
    jobs: usize,
}

/// A flight with this number of saves, at random instants.
fn flight(shop: &Shop, seed: u64, saves: usize, all: &mut Saves) {
    let mut below = random(seed);
    let mut at = 40;
    let mut loads = vec![load(20, "left", "flies")];
    for _ in 0..saves {
        at += 40 + below(70);
        loads.push(ask("save", at, "left"));
        at += 1 + below(40);
        loads.push(ask("restore", at, "left"));
        at += 90;
    }
    let path = shop.scratch.write(&format!("flight-{seed}.toml"), &system(at + 4_500, &loads));
    let run = Finished::run(&path, &[]);
    let said = &run.said.output;
    assert_eq!(run.summary.outcome(), "held", "seed {seed}: {said}");
    assert!(said.contains("decisions is the policy's own") && said.contains("landed at"), "seed {seed}: {said}");
    for task in ["plant", "load"] {
        let task = run.summary.task(task);
        assert!(task.worst_over_bound().is_some_and(|share| share <= 1.0) && task.missed() == 0, "seed {seed}: {said}");
    }
    let (jobs, in_flight) = follows(&run);
    all.jobs += jobs;
    let last = releases(&run, all);
    assert!(
        last < in_flight,
        "seed {seed}: the last restore comes after {last} jobs, and it has landed after {in_flight}"
    );
}

/// Each job's numbers follow from what it took and from the jobs before it; returns how many there are, and how many before the craft landed.
fn follows(run: &Finished) -> (usize, usize) {
    let gains = law::Gains { stiffness: 30.0, damping: 9.0 };
    let mut flight = law::Flight { jobs: 0, integral: 0.0 };
    for line in run.said.output.lines().filter_map(|line| line.split_once(SAID)).map(|it| it.1) {
        let mut words = line.split(' ');
        let job: u64 = words.next().and_then(|word| word.parse().ok()).unwrap_or_else(|| panic!("{line}"));
        let steps: u64 = words.next().and_then(|word| word.parse().ok()).unwrap_or_else(|| panic!("{line}"));
        let bits: Vec<u32> = words.filter_map(|word| u32::from_str_radix(word, 16).ok()).collect();
        let (sensed, told) = bits.split_at_checked(6).unwrap_or_else(|| panic!("{line}"));
        let sensed = <[u32; 6]>::try_from(sensed).expect("six").map(f32::from_bits);
        let [thrust, roll, pitch] = flight.step(gains, sensed);
        let expected = [thrust, roll, pitch, ahead::ahead(sensed[0], sensed[1], steps)].map(f32::to_bits);
        assert_eq!((flight.jobs, &expected[..]), (job, told), "{line}");
    }
    let before = run.said.output.split_once("landed at").map_or("", |it| it.0);
    (flight.jobs as usize, before.matches(SAID).count())
}

/// With the time of the gaps taken away, a job is released each period, but for those that were under way.
/// Returns how many had been released before the last restore.
fn releases(run: &Finished, all: &mut Saves) -> usize {
    let control = run.summary.tasks().position(|task| task.name() == "left.0").expect("the controller");
    let (mut gaps, mut dropped, mut released, mut last) = (0, false, 0, 0);
    let (mut since, mut saved_at, mut before): (Option<u64>, Option<u64>, Option<u64>) = (None, None, None);
    for it in &run.trace().cores[0] {
        let own = it.task == Some(TaskId(control as u16));
        match it.kind {
            EventKind::SlotUnloaded if it.level == 1 => {
                (since, saved_at, dropped) = (Some(it.time.as_nanos()), Some(it.time.as_nanos() - gaps), false);
                all.saved += 1;
            }
            EventKind::Dropped if own => {
                all.under_way += 1;
                dropped = true;
            }
            EventKind::SlotLoaded if it.level == 1 => {
                last = released;
                gaps += it.time.as_nanos() - since.take().expect("it was saved");
            }
            EventKind::SlotRefused => {
                all.refused += usize::from(SlotRefusal::from_u8(it.level) == Some(SlotRefusal::Unsavable));
            }
            EventKind::Release if own => {
                let time = it.arg - gaps;
                // A job that was under way is released again where it was saved, and the next one a period later.
                let expected = match std::mem::take(&mut dropped) {
                    true => saved_at,
                    false => before.map(|before| before + PERIOD),
                };
                assert_eq!(expected.unwrap_or(time), time, "job {} of {expected:?} (ns), without gaps", it.job);
                before = Some(time);
                released += 1;
            }
            _ => {}
        }
    }
    last
}

#[test]
fn a_controller_that_is_saved_in_flight_goes_on_by_its_law_and_lands_the_craft() {
    let mut all = Saves::default();
    flight(&shop("in-flight"), 1, 10, &mut all);
    println!("{all:?}");
    assert!(all.saved >= 8 && all.under_way >= 1 && all.jobs > 180, "{all:?}");
}

/// `TACTUS_SAVES` saves, 1,000 if it is not set.
#[test]
#[ignore = "a campaign of some minutes"]
fn a_thousand_saves_in_flight() {
    let shop = shop("in-flight-many");
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    let (most, from) = (number("TACTUS_SAVES").unwrap_or(1_000), number("TACTUS_SAVES_FROM").unwrap_or(100));
    let mut all = Saves::default();
    for seed in from..from + most / 20 {
        flight(&shop, seed, 20, &mut all);
        println!("seed {seed}: {all:?}");
    }
}
