//! Random systems with slots on the machine, into which packages of all sizes come and from which they go: what becomes of each load is what
//! becomes of it simulated, in the same job of the loader, and nobody is late.

use crate::slots::{by_job, load, unload, Shop};
use std::collections::BTreeMap;
use std::path::PathBuf;
use tactus_record::EventKind;
use tactus_scenarios::{file, Finished};

/// Numbers that look random, the same for the same seed.
struct Chance(u64);

impl Chance {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % limit
    }

    fn one<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }
}

/// What comes into random slots: its name, its program, whether it is meant to come in, and about how many jobs of the loader it takes.
const PACKAGES: [(&str, bool, u64); 9] = [
    ("steady", true, 9),
    ("steady-2", true, 9),
    ("other", true, 9),
    ("middle", true, 17),
    ("large", true, 88),
    ("greedy", false, 2),
    ("forged", false, 1),
    ("crowd", false, 1),
    ("foreign", false, 1),
];

/// These packages, in a shop of this name.
fn all_packages(name: &str) -> Shop {
    let shop = Shop::new(name);
    let guests = |bin: &'static str| ("tests/scenarios/guests", bin);
    shop.pack(guests("steady"), "steady", &[("a", "300 us", "60 ms")], "dev");
    shop.pack(guests("steady"), "steady-2", &[("a", "300 us", "90 ms"), ("b", "300 us", "130 ms")], "dev");
    shop.pack(guests("other"), "other", &[("work", "100 us", "40 ms")], "dev");
    shop.pack(guests("middle"), "middle", &[("look", "200 us", "50 ms")], "dev");
    shop.pack(guests("large"), "large", &[("look", "200 us", "70 ms")], "dev");
    shop.pack(guests("other"), "greedy", &[("work", "19 ms", "20 ms")], "dev");
    shop.pack(guests("other"), "forged", &[("work", "300 us", "40 ms")], "stranger");
    let crowd = ["a", "b", "c", "d", "e"].map(|name| (name, "10 us", "90 ms"));
    shop.pack(guests("steady"), "crowd", &crowd, "dev");
    let foreign = ("foreign", "uses = ['console']\nheap = '64 KiB'\n");
    shop.pack_with(guests("other"), foreign, &[("work", "300 us", "40 ms")], "dev");
    shop
}

/// A random system of this number of cores with up to three slots on one of them, where the loader is too, and packages of all sizes that come and go;
/// and of each load or unload whether it is meant to take place as far as the file goes, where admission allows it.
fn random_system(shop: &Shop, (cores, home): (u64, u64), chance: &mut Chance) -> (String, Vec<Meant>) {
    let kind = chance.one(&["partitioned-edf", "partitioned-rm"]);
    // Where cores take turns, a step takes the others' turns too.
    let (period, execution) =
        if cores == 1 { (5 + chance.below(3), "1700 us") } else { (12 + chance.below(5), "3400 us") };
    let duration = period * (100 + chance.below(120));
    let mut text = format!(
        "[system]\ncores = {cores}\nduration = '{duration} ms'\n[machine]\ninstruction = '1 ns'\n[policy]\nkind = '{kind}'\n\
         [[component]]\nname = 'loader'\ncrate = '{}'\nloader = true\n\
         [[component]]\nname = 'console'\ncrate = '{}'\nconsole = true\nprovides = ['write']\n\
         [[task]]\nname = 'load'\ncomponent = 'loader'\ncore = {home}\nperiod = '{period} ms'\nexecution = '{execution}'\n",
        file("os/components/loader").display(),
        file("os/components/services").display(),
    );
    for core in 0..cores {
        for n in 0..1 + chance.below(2) {
            let period = 4 + chance.below(30);
            let execution = period * (10 + chance.below(60));
            text += &format!(
                "[[task]]\nname = 't{core}-{n}'\ncore = {core}\nperiod = '{period} ms'\nexecution = '{execution} us'\n"
            );
        }
    }
    let count = [1, 1, 1, 2, 2, 3][chance.below(6) as usize];
    // Of each slot's server, in thousandths of a core: mostly enough for all that comes, sometimes for some of it or none.
    let share = if chance.below(8) == 0 { 60 } else { (250 + chance.below(200)) / count };
    let mut rooms = Vec::new();
    for n in 0..count {
        let period = [10, 20][chance.below(2) as usize];
        let (server, order) =
            (chance.one(&["deferrable", "periodic", "sporadic"]), chance.one(&["partitioned-edf", "partitioned-fp"]));
        let budget = period * (share * (7 + chance.below(4)) / 10);
        rooms.push([64, 256, 1_280][chance.below(3) as usize]);
        text += &format!(
            "[[server]]\nname = 's{n}'\ncores = [{home}]\nkind = '{server}'\nbudget = '{budget} us'\nperiod = '{period} ms'\n\
             policy = '{order}'\n[[slot]]\nname = 'slot{n}'\nserver = 's{n}'\nclass = 'app'\nmemory = '{} KiB'\nheap = '16 KiB'\n\
             tasks = {}\nuses = {{ console = 'console.write' }}\nkeys = ['dev.pub']\nolder = true\n",
            rooms[n as usize],
            2 + chance.below(3),
        );
    }
    let (mut at, mut full, mut meant) = (chance.below(40), vec![false; count as usize], Vec::new());
    while at < duration - 10 * period {
        let n = chance.below(count) as usize;
        // One in ten makes no sense: a load into a full slot, an unload of an empty one.
        let loads = full[n] == (chance.below(10) == 0);
        let name = format!("slot{n}");
        let jobs = if loads {
            let (package, comes, jobs) = PACKAGES[chance.below(PACKAGES.len() as u64) as usize];
            let fits = match package {
                "large" => rooms[n] > 1_024,
                "middle" => rooms[n] > 128,
                _ => true,
            };
            text += &load(at, &name, package);
            meant.push(if comes && fits && !full[n] { Meant::Load } else { Meant::Refuse });
            full[n] |= comes && fits;
            // One that is refused ends soon.
            meant.last().filter(|it| **it == Meant::Load).map_or(2, |_| jobs)
        } else {
            text += &unload(at, &name);
            meant.push(if full[n] { Meant::Unload } else { Meant::Refuse });
            full[n] = false;
            2
        };
        // Most come when the one before them is over, some before.
        at += if chance.below(4) == 0 { 1 } else { jobs * period + chance.below(60) };
    }
    (shop.scratch.write("random.toml", &text).display().to_string(), meant)
}

/// What should come of a load or an unload.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Meant {
    Load,
    Unload,
    /// Refused whatever the slot's share is.
    Refuse,
}

/// The first random system of this seed, simulated, in which most loads take place that the file means to; of every ninth seed the first one,
/// whatever its servers have.
fn one_system(shop: &Shop, seed: u64) -> (PathBuf, Vec<Meant>, Finished) {
    let chance = &mut Chance(seed);
    // Half have one core; the slots of the others lie on either of two.
    let place = [(1, 0), (2, 1), (1, 0), (2, 0)][(seed % 4) as usize];
    for _ in 0..200 {
        let (path, meant) = random_system(shop, place, chance);
        let path = PathBuf::from(path);
        let simulated = Finished::simulate(&path, &[]);
        let (loaded, loads) = (count(&by_job(&simulated), EventKind::SlotLoaded), meant_loads(&meant));
        if seed % 9 == 8 || (loads > 1 && 5 * loaded >= 4 * loads) {
            return (path, meant, simulated);
        }
    }
    panic!("seed {seed} gives no system into which programs come");
}

fn count(done: &[(u64, EventKind, u8, usize)], kind: EventKind) -> usize {
    done.iter().filter(|it| it.1 == kind).count()
}

fn meant_loads(meant: &[Meant]) -> usize {
    meant.iter().filter(|it| **it == Meant::Load).count()
}

/// Random systems with slots on the machine: each decision is the policy's own, each load ends in the same job of the loader as simulated,
/// nobody outside is late where the check accepts the file, and no program that was admitted.
fn random_systems(from: u64, systems: u64) {
    let shop = all_packages(&format!("slots-random-{from}"));
    let (mut held, mut loads, mut loaded, mut unloaded, mut large, mut pending) = (0, 0, 0, 0, 0, 0);
    let mut refused: BTreeMap<u8, usize> = BTreeMap::new();
    for seed in from..from + systems {
        let (path, meant, simulated) = one_system(&shop, seed);
        let text = std::fs::read_to_string(&path).expect("the file");
        let told = || format!("seed {seed}: {text}");
        let run = Finished::run(&path, &[]);
        assert!(run.said.output.contains("decisions is the policy's own"), "{}\n{}", told(), run.said.output);
        let done = by_job(&run);
        assert_eq!(done, by_job(&simulated), "{}", told());
        let outcome = run.summary.outcome();
        assert!(["held", "refused"].contains(&outcome), "{outcome}: {}\n{}", told(), run.said.output);
        if outcome == "held" {
            held += 1;
            assert!(run.summary.tasks().all(|task| task.missed() == 0), "{}\n{}", told(), run.said.output);
        }
        loads += meant_loads(&meant);
        pending += meant.len() - done.len();
        loaded += count(&done, EventKind::SlotLoaded);
        unloaded += count(&done, EventKind::SlotUnloaded);
        let said = run.said.output.lines();
        large += said.filter(|it| it.ends_with("large has 1048576")).count();
        let reasons = done.iter().filter(|it| it.1 == EventKind::SlotRefused);
        reasons.for_each(|it| *refused.entry(it.2).or_default() += 1);
        println!("{seed}: {outcome}, {} decisions", done.len());
    }
    println!(
        "{systems} systems, {held} held; {loaded} loads of {loads} meant took place ({large} of a program of 1 MiB ran), {unloaded} unloads, \
         {pending} still to come; refused by reason: {refused:?}"
    );
    assert!(2 * held >= systems && 2 * loaded >= loads && loaded as u64 >= systems, "{held} {loaded} {loads}");
    assert!(refused.values().sum::<usize>() as u64 >= systems, "{refused:?}");
}

#[test]
fn two_systems_do_on_the_machine_what_they_do_simulated() {
    random_systems(0, 2);
}

/// `TACTUS_SLOTS=300 cargo test --release -p tactus-scenarios --test all slots_random::many -- --ignored --nocapture`, from
/// `TACTUS_SLOTS_FROM` on.
#[test]
#[ignore = "many minutes"]
fn many_systems_do_on_the_machine_what_they_do_simulated() {
    let number = |name: &str, usual: u64| std::env::var(name).ok().map_or(usual, |it| it.parse().expect("a number"));
    random_systems(number("TACTUS_SLOTS_FROM", 0), number("TACTUS_SLOTS", 300));
}
