//! The systems that are run: each of several cores that share something.

use tactus_machine::console::panics;

/// A system whose cores are to execute at the same time.
pub struct Subject {
    /// Its name, for the command's option and its lines.
    pub name: &'static str,
    /// The file that its text is in, or beside which it would lie, seen from the root.
    pub file: &'static str,
    /// Its text; of a number of the run, and of the text of the file.
    pub text: fn(u32, &str) -> String,
    /// What is wrong with what its components say, by what they tell on the console.
    pub says: fn(&str) -> Option<String>,
}

/// Where components lie that find out by themselves whether what they share is whole.
const CONCURRENT: &str = "tests/scenarios/concurrent/Cargo.toml";

/// All of them.
pub const SUBJECTS: [Subject; 12] = [
    // Every call of the kernel, by a tree of schedulers, clients, a driver, a memory manager and those who restart.
    Subject { name: "arena", file: "examples/hostile/arena.toml", text: seeded, says: witness },
    // Triggers and notifications from one core to another.
    Subject { name: "relay", file: "os/components/checklist/relay.toml", text: as_it_is, says: relay },
    // A queue that four cores share.
    Subject { name: "global-queue", file: "examples/global-edf.toml", text: short, says: no_panic },
    // Channels of three kinds from one core to another.
    Subject { name: "channels", file: CONCURRENT, text: channels, says: no_panic },
    // A resource of three cores, and what it guards.
    Subject { name: "resource", file: CONCURRENT, text: resource, says: no_panic },
    // Frames of a pool that three cores take, map, and give back.
    Subject { name: "frames", file: CONCURRENT, text: frames, says: no_panic },
    // A component that runs on two cores, faults on one and restarts.
    Subject { name: "restarts", file: CONCURRENT, text: restarts, says: planned_panics },
    // Requests and answers of two services, each on another core than some of its clients.
    Subject { name: "services", file: "examples/services.toml", text: short, says: no_panic },
    // Monitors whose events happen on two cores.
    Subject { name: "monitors", file: "examples/monitored-loop/monitored-loop.toml", text: short, says: no_panic },
    // Components that do harm, on the cores of MC², whose level C all cores share.
    Subject { name: "saboteurs", file: "examples/hostile/hostile.toml", text: short, says: nothing },
    // A scheduler in the third level of a tree that makes calls without end, and one that rewrites what the kernel reads.
    Subject { name: "siege", file: "os/components/checklist/siege-4-hostile.toml", text: short, says: nothing },
    Subject { name: "rewrite", file: "os/components/checklist/siege-4-rewrite.toml", text: short, says: nothing },
];

fn as_it_is(_: u32, text: &str) -> String {
    text.to_string()
}

/// Another seed in each run.
fn seeded(run: u32, text: &str) -> String {
    text.replace("\"arena-1\"", &format!("\"arena-{}\"", run + 1)).replace("\"200 ms\"", "\"1 s\"")
}

/// A part of it.
fn short(_: u32, text: &str) -> String {
    let lines = text.lines().map(|line| match line.starts_with("duration = ") {
        true => "duration = \"400 ms\"",
        false => line,
    });
    lines.fold(String::new(), |all, line| all + line + "\n")
}

/// Its components judge nothing.
fn nothing(_: &str) -> Option<String> {
    None
}

/// No component has found anything wrong.
fn no_panic(log: &str) -> Option<String> {
    panics(log).into_iter().map(|(_, text)| text).next()
}

/// As [`no_panic`], but for the end of a life, which its first piece tells by its line: the run may end before the others come.
fn planned_panics(log: &str) -> Option<String> {
    panics(log).into_iter().map(|(_, text)| text).find(|text| !text.contains("faulty.rs:18:"))
}

/// The witness kept its memory and its registers.
fn witness(log: &str) -> Option<String> {
    let line = log.lines().find(|line| line.starts_with("broken: "))?;
    (line != "broken: memory 0, read-only pages 0, registers 0, told 0").then(|| line.to_string())
}

/// Each trigger ran one upcall, and each notification was received.
fn relay(log: &str) -> Option<String> {
    (!log.contains("relay: held")).then(|| "a trigger or a notification was lost".to_string())
}

fn head(name: &str, cores: usize, policy: &str) -> String {
    format!("[system]\nname = \"{name}\"\ncores = {cores}\nduration = \"400 ms\"\n[policy]\nkind = \"{policy}\"\n")
}

/// A component of its own crate.
fn component(name: &str, more: &str) -> String {
    format!("[[component]]\nname = \"{name}\"\ncrate = \".\"\n{more}\n")
}

/// The memory manager, with these services.
fn memory(services: &str) -> String {
    format!(
        "[[component]]\nname = \"memory\"\ncrate = \"../../../os/components/services\"\nmemory-manager = true\n\
         provides = [{services}]\n"
    )
}

/// A task of a component: core, and period and execution time in microseconds.
fn task(name: &str, component: &str, core: usize, [period, execution]: [u64; 2], more: &str) -> String {
    format!(
        "[[task]]\nname = \"{name}\"\ncomponent = \"{component}\"\ncore = {core}\nperiod = \"{period} us\"\n\
         execution = \"{execution} us\"\n{more}\n"
    )
}

fn channels(_: u32, _: &str) -> String {
    let attach = "uses = { attach = \"memory.attach\" }";
    head("channels", 2, "partitioned-edf")
        + &component("writer", attach)
        + &component("reader", attach)
        + &memory("\"attach\"")
        + "[[buffer]]\nname = \"words\"\nsize = \"4 KiB\"\nbetween = [\"writer\", \"reader\"]\n"
        + &task("writes", "writer", 0, [1_000, 800], "")
        + &task("reads", "reader", 1, [1_000, 800], "")
        + "[[channel]]\nname = \"queue\"\nkind = \"queuing\"\nsource = \"writes\"\ndestinations = [\"reads\"]\nsize = \"64 B\"\n\
           depth = 8\n[[channel]]\nname = \"newest\"\nkind = \"sampling\"\nsource = \"writes\"\ndestinations = [\"reads\"]\n\
           size = \"64 B\"\nrefresh-period = \"1 s\"\n"
}

fn resource(_: u32, _: &str) -> String {
    let sections =
        [5, 25, 45, 65].map(|after| format!("{{ resource = \"table\", after = \"{after} us\", length = \"15 us\" }}"));
    let sections = format!("sections = [{}]", sections.join(", "));
    let tasks = (0..3).flat_map(|core| [("often", core, 700, 2), ("seldom", core, 1_900, 1)]);
    let tasks = tasks.map(|(name, core, period, priority)| {
        task(&format!("{name}-{core}"), "holder", core, [period, 100], &format!("priority = {priority}\n{sections}"))
    });
    head("resource", 3, "partitioned-fp")
        + &component("holder", "")
        + "[[resource]]\nname = \"table\"\nprotocol = \"msrp\"\n"
        + &tasks.collect::<String>()
}

fn frames(_: u32, _: &str) -> String {
    let parts = ["first", "second", "third"].into_iter().enumerate().map(|(core, name)| {
        format!("[[buffer]]\nname = \"{name}\"\nsize = \"4 KiB\"\nbetween = [\"mapper\"]\n")
            + &task(name, "mapper", core, [1_000, 800], "")
    });
    head("frames", 3, "partitioned-edf")
        + &component("mapper", "uses = { attach = \"memory.attach\", detach = \"memory.detach\" }")
        + &memory("\"attach\", \"detach\"")
        + &parts.collect::<String>()
}

fn restarts(_: u32, _: &str) -> String {
    head("restarts", 2, "partitioned-edf")
        + &component("faulty", "restarted-by = \"root\"\nrestarts = { most = 1000, per = \"1 ms\" }")
        + &task("first", "faulty", 0, [1_000, 50], "offset = \"200 us\"")
        + &task("long", "faulty", 1, [1_000, 500], "")
}
