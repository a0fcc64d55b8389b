//! Where a package fits: the bounds in each slot, or why it is refused there.

use std::fs;
use std::path::Path;
use tactus_model::network::Network;
use tactus_model::{Costs, System};
use tactus_network::field::Happened;
use tactus_network::verdict::judge;
use tactus_package::admission::Demand;
use tactus_package::manifest::{List, Manifest, PackageTask, Processor, Right, RightKind};
use tactus_package::write::{digest, package, SigningKey};
use tactus_plan::network::admit;
use tactus_plan::{slot_fits, Fitting, SlotFit};
use tactus_record::SlotRefusal;
use tactus_time::{Duration, Instant};

/// Fixed priorities with a service, earliest deadline first without, and a slot of another class.
const SLOTS: &str = r#"
[system]
name = "slots"
cores = 1
duration = "100 ms"
pool = "1 MiB"

[policy]
kind = "partitioned-edf"

[[component]]
name = "console"
crate = "CRATE"
console = true
provides = ["write"]

[[component]]
name = "loader"
crate = "CRATE"
loader = true

[[task]]
name = "load"
component = "loader"
core = 0
period = "5 ms"
execution = "3400 us"

[[server]]
name = "guests"
kind = "periodic"
cores = [0]
budget = "1 ms"
period = "10 ms"
policy = "partitioned-fp"

[[slot]]
name = "guest"
server = "guests"
memory = "64 KiB"
tasks = 2
class = "app"
uses = { console = "console.write" }
keys = ["dev.pub"]

[[server]]
name = "mutes"
kind = "periodic"
cores = [0]
budget = "1 ms"
period = "10 ms"
policy = "partitioned-edf"

[[slot]]
name = "mute"
server = "mutes"
memory = "64 KiB"
tasks = 2
class = "app"
keys = ["dev.pub"]

[[server]]
name = "videos"
kind = "periodic"
cores = [0]
budget = "1 ms"
period = "10 ms"
policy = "partitioned-edf"

[[slot]]
name = "video"
server = "videos"
memory = "64 KiB"
tasks = 2
keys = ["dev.pub"]
"#;

/// The smallest program: a page of code.
fn program() -> Vec<u8> {
    let mut file = vec![0x7f, b'E', b'L', b'F', 2, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 62, 0, 1, 0, 0, 0];
    for word in [0x20_0000_u64, 64, 0] {
        file.extend(word.to_le_bytes());
    }
    file.extend([0; 4]);
    for half in [64_u16, 56, 1, 64, 0, 0] {
        file.extend(half.to_le_bytes());
    }
    for word in [1_u32, 5] {
        file.extend(word.to_le_bytes());
    }
    for word in [120_u64, 0x20_0000, 0x20_0000, 1, 1, 4096] {
        file.extend(word.to_le_bytes());
    }
    file.push(0x90);
    file
}

fn made(signer: &SigningKey, rights: &[Right<'_>], second: u64) -> Vec<u8> {
    let program = program();
    let task = |name, execution, period, priority| PackageTask {
        name,
        demand: Demand {
            execution: Duration::from_micros(execution),
            period: Duration::from_millis(period),
            deadline: Duration::from_millis(period),
            priority,
        },
    };
    let manifest = Manifest {
        name: "blink",
        sequence_number: 1_002_003,
        class: "app",
        processor: Processor::X86_64.number(),
        image_digest: digest(&program),
        image_size: program.len() as u64,
        heap: 0,
        tasks: List::of(&[task("keen", 300, 50, 1), task("calm", second, 100, 2)]).expect("two"),
        rights: List::of(rights).expect("few"),
    };
    package(&manifest, &program, signer)
}

/// The file's system, with this number of tasks in its first slot.
fn system(folder: &Path, tasks: u64) -> System {
    let signer = SigningKey::from_seed([7; 32]).expect("a seed");
    fs::write(folder.join("dev.pub"), signer.public_text()).expect("a file");
    let any = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/slots/blink-1");
    let text = SLOTS.replace("CRATE", &any.display().to_string());
    let text = text.replacen("tasks = 2", &format!("tasks = {tasks}"), 1);
    System::parse_toml(&text, &folder.join("slots.toml")).unwrap_or_else(|it| panic!("{it}"))
}

/// The longest entry that was seen on the machine, by the program's number of tasks (ns), `docs/measured/slots.md`.
#[test]
fn an_entry_is_charged_as_the_one_that_hands_over_the_tasks_of_a_program() {
    let folder = tempfile::tempdir().expect("a folder");
    for (tasks, seen) in [(1, 2_750), (2, 3_640), (4, 5_600), (8, 9_340), (16, 17_500), (32, 35_400)] {
        let mut system = system(folder.path(), tasks);
        system.machine.shift = 0;
        let costs = tactus_plan::costs::named("measured", &system).expect("it was measured");
        assert!(costs.schedule.as_nanos() * 10 >= seen * 14, "{tasks}: {costs:?}");
    }
}

#[test]
fn a_package_is_told_its_bound_in_each_slot_that_it_fits_and_its_reason_elsewhere() {
    let folder = tempfile::tempdir().expect("a folder");
    let signer = SigningKey::from_seed([7; 32]).expect("a seed");
    let system = system(folder.path(), 2);
    let of = |package: &[u8]| -> Vec<(String, Result<Fitting, String>)> {
        let told = |fit: SlotFit| (fit.slot, fit.result.map_err(|why| why.to_string()));
        slot_fits(&system, &Costs::default(), package).into_iter().map(told).collect()
    };
    let told = of(&made(&signer, &[Right { kind: RightKind::Service, name: "console" }], 600));
    assert_eq!(told.iter().map(|it| it.0.as_str()).collect::<Vec<_>>(), ["guest", "mute", "video"]);
    let fitting = told[0].1.as_ref().expect("it fits");
    assert_eq!((fitting.program.as_str(), fitting.pages), ("blink 1.2.3", 1));
    // Vouched, admitted, digest, segments, 35 or more steps of the kernel 16 at a time, a page, handed over.
    assert!((9..=11).contains(&fitting.jobs), "{}", fitting.jobs);
    // Nothing for the blackout, then the budget: 0.3 ms of it, and 0.9 ms together, one period suffices.
    let [keen, calm] = &fitting.tasks[..] else { panic!("two tasks") };
    assert_eq!(calm.bound.as_nanos() - keen.bound.as_nanos(), 600_000);
    assert!(keen.bound > Duration::from_millis(10) && calm.bound < Duration::from_millis(30), "{fitting:?}");
    assert_eq!(told[1].1, Err("it may not have service `console` in this slot".into()));
    assert_eq!(told[2].1, Err("made for slots of class `app`".into()));

    // Without a wish it fits where nobody offers anything; there the deadline is the bound.
    let told = of(&made(&signer, &[], 600));
    let mute = told[1].1.as_ref().expect("it fits");
    assert!(told[0].1.is_ok() && mute.tasks.iter().all(|task| task.bound == task.deadline));
    // More than the server gives: refused in every slot of its class.
    let told = of(&made(&signer, &[], 9_900));
    assert!(told[..2].iter().all(|it| it.1.as_ref().is_err_and(|why| why.contains("the slot"))), "{told:?}");
    // Whoever is not trusted is refused before anything else is looked at.
    let told = of(&made(&SigningKey::from_seed([8; 32]).expect("a seed"), &[], 600));
    assert!(told
        .iter()
        .all(|it| it.1.as_ref().is_err_and(|why| why.starts_with("signed by a key that is not trusted"))));
}

#[test]
fn a_network_asks_the_slots_of_each_node_and_its_owner_learns_which_task_is_refused_where() {
    let folder = tempfile::tempdir().expect("a folder");
    let signer = SigningKey::from_seed([7; 32]).expect("a seed");
    fs::write(folder.path().join("dev.pub"), signer.public_text()).expect("a file");
    let any = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/slots/blink-1");
    let text = SLOTS.replace("CRATE", &any.display().to_string());
    let network = |file: &str| Network::parse(file, &folder.path().join("n.toml"));
    let once = "[network]\nduration = '60 s'\nbyte = '1 us'\n[[node]]\nname = 'n'\nat = [0, 0]\nsystem = 'once.toml'\n[[application]]\n\
        name = 'blink'\nsize = '1 KiB'\ndeliver = ['n']\n";
    fs::write(folder.path().join("once.toml"), &text).expect("a file");
    let refused = network(once).expect_err("slots that take no older version").to_string();
    assert!(refused.contains("slot \"guest\" of its system takes nothing of a smaller version"), "{refused}");
    let text = text.replace("keys =", "older = true\nkeys =");
    fs::write(folder.path().join("slots.toml"), &text).expect("a file");
    // A server that gives too little for the second task, and slots for one task.
    fs::write(folder.path().join("slow.toml"), text.replace("budget = \"1 ms\"", "budget = \"600 us\""))
        .expect("a file");
    fs::write(folder.path().join("small.toml"), text.replace("tasks = 2", "tasks = 1")).expect("a file");
    fs::write(folder.path().join("blink.package"), made(&signer, &[], 7_000)).expect("a file");
    let mut file =
        "[network]\nduration = '60 s'\nbyte = '1 us'\nhears = 1.5\nloss = 0.1\n[[application]]\nname = 'blink'\n\
        package = 'blink.package'\ndeliver = ['n0']\n"
            .to_string();
    for (n, system) in ["slots", "small", "slots", "slow"].iter().enumerate() {
        file += &format!("[[node]]\nname = 'n{n}'\nat = [{n}, 0]\nsystem = '{system}.toml'\n");
    }
    let mut network = network(&file).unwrap_or_else(|it| panic!("{it}"));
    assert_eq!((network.systems.len(), &network.system_of[..]), (3, &[Some(0), Some(1), Some(0), Some(2)][..]));
    admit(&mut network, &[Costs::default(); 3]);
    let run = network.field.run();
    assert_eq!(judge(&network.field, &run, &network.within).wrong, []);
    let installed = |it: &(Instant, usize, Happened)| matches!(it.2, Happened::Installed(..)).then_some(it.1);
    assert_eq!(run.events.iter().filter_map(installed).collect::<Vec<_>>(), [0, 2]);
    let mut told: Vec<_> = run
        .events
        .iter()
        .filter_map(|it| match it.2 {
            Happened::Reported(_, _, node, why) => Some((it.1, node, why.reason, why.task)),
            _ => None,
        })
        .collect();
    told.sort_unstable();
    let [size, late] = [SlotRefusal::Size, SlotRefusal::Unschedulable].map(|it| it as u8);
    assert_eq!(told, [(0, 1, size, None), (0, 3, late, Some(1))]);
    assert_eq!(network.field.run(), run, "the same file and seed give the same run");
}
