//! The systems that are measured, as text.

use std::fmt::Write;

/// The policies, by the names of a system file.
pub const POLICIES: [&str; 5] = ["partitioned-edf", "partitioned-rm", "global-edf", "global-rm", "mc2"];

/// How many components are made to fault.
pub const VICTIMS: usize = 48;
/// The same where the machine is followed step by step: so few tasks that the measuring components do everything a few times
/// only ([`tactus_bench_book::is_followed`]).
pub const FEW_VICTIMS: usize = 8;

/// Where the measuring components' crate lies, seen from the root.
const CRATE: &str = "os/components/bench";

fn head(name: &str, cores: usize, duration: &str, policy: &str) -> String {
    format!(
        "[system]\nname = \"{name}\"\ncores = {cores}\nduration = \"{duration}\"\nmemory = \"128 MiB\"\n\
         [machine]\ninstruction = \"1 ns\"\noverheads = false\n[policy]\nkind = \"{policy}\"\n"
    )
}

fn component(text: &mut String, name: &str, more: &str) {
    let _ = writeln!(text, "[[component]]\nname = \"{name}\"\ncrate = \"{CRATE}\"\n{more}");
}

/// The system of the measuring scheduler, which decides nothing, and the programs of its components in order.
pub fn calls(cores: usize, victims: usize) -> (String, Vec<&'static str>) {
    let mut text = head("bench-kernel", cores, "1 s", "partitioned-edf");
    let services = ["nothing", "sum", "nothing_wide", "sum_wide", "make", "trigger", "tick"];
    let uses = services.map(|it| format!("{it} = \"server.{it}\"")).join(", ");
    component(&mut text, "client", &format!("threads = 1\nuses = {{ {uses} }}"));
    component(&mut text, "server", &format!("threads = 1\nbrands = 2\nticks = \"50 us\"\nprovides = {services:?}"));
    component(&mut text, "listener", "");
    let mut programs = vec!["bench-client", "bench-server", "bench-listener"];
    let mut tasks = vec!["client".to_string(), "listener".to_string()];
    for number in 0..victims {
        let name = format!("victim-{number}");
        component(&mut text, &name, "");
        programs.push("bench-victim");
        tasks.push(name);
    }
    for name in tasks {
        let _ = writeln!(
            text,
            "[[task]]\nname = \"{name}\"\ncomponent = \"{name}\"\ncore = 0\nperiod = \"1 s\"\nexecution = \"1 ms\""
        );
    }
    (text, programs)
}

/// A system of so many tasks under a real policy on one core, and the programs of its components in order: one task
/// that notes when it is woken, two that follow each other, the rest the built-in workload at 30 % in all. One that is followed step by step is short.
pub fn periodic(policy: &str, tasks: usize, followed: bool) -> (String, Vec<&'static str>) {
    periodic_with(policy, tasks, followed, false)
}

/// As [`periodic`] under partitioned EDF; the two that follow each other have floating point.
pub fn floating(tasks: usize, followed: bool) -> (String, Vec<&'static str>) {
    periodic_with(POLICIES[0], tasks, followed, true)
}

fn periodic_with(policy: &str, tasks: usize, followed: bool, floating: bool) -> (String, Vec<&'static str>) {
    let duration = if followed { "12 ms" } else { "1 s" };
    let mut text = head(&format!("bench-{policy}-{tasks}"), 1, duration, policy);
    component(&mut text, "woken", "");
    component(&mut text, "pair", if floating { "floating-point = true" } else { "" });
    let (mixed, global) = (policy == "mc2", policy.starts_with("global"));
    let mut task = |name: &str, level: &str, times: &str, takes: u64, body: &str| {
        let _ = writeln!(text, "[[task]]\nname = \"{name}\"\n{times}\n{body}");
        if mixed {
            let _ = writeln!(text, "level = \"{level}\"");
            let levels: Vec<_> = ["A", "B", "C", "D"].into_iter().skip_while(|l| *l != level).collect();
            let execution = match level {
                "D" => format!("\"{takes} us\""),
                _ => {
                    let each: Vec<_> = levels.iter().map(|l| format!("{l} = \"{takes} us\"")).collect();
                    format!("{{ {} }}", each.join(", "))
                }
            };
            let _ = writeln!(text, "execution = {execution}");
        } else {
            let _ = writeln!(text, "execution = \"{takes} us\"");
        }
        if !global && (!mixed || level < "C") {
            let _ = writeln!(text, "core = 0");
        }
    };
    let often = "period = \"1 ms\"\ndeadline = \"300 us\"";
    let implicit = "period = \"1 ms\"";
    let often = if mixed { implicit } else { often };
    task("woken", "B", often, 20, "component = \"woken\"");
    let halfway = format!("{often}\noffset = \"500 us\"");
    task("first", "B", &halfway, 20, "component = \"pair\"");
    task("second", "B", &halfway, 20, "component = \"pair\"");
    let rest = (tasks - 3) as u64;
    for number in 0..rest {
        let level = match number % 10 {
            0 => "A",
            1 | 2 => "B",
            9 => "D",
            _ => "C",
        };
        // Periods that share no releases but those of the mixed system's tables, whose cycle must stay short.
        let period = match (followed, mixed && level < "C") {
            (true, _) => 8,
            (false, true) => 20 + 20 * (number % 2),
            (false, false) => 10 + number * 7 % 41,
        };
        let times = format!("period = \"{period} ms\"");
        task(&format!("filler-{number}"), level, &times, (period * 300 / rest).max(5), "");
    }
    (text, vec!["bench-periodic", if floating { "bench-floating-pair" } else { "bench-pair" }])
}

/// A system in which a device's interrupts and a component's messages release jobs, on one core beside five others, and the programs of
/// its components in order. `server`: those jobs have the budget of a sporadic server each. They come every millisecond and may come a
/// little earlier, so that none is delayed. One that is followed step by step is short.
pub fn released(server: bool, followed: bool) -> (String, Vec<&'static str>) {
    let name = if server { "bench-released-in-servers" } else { "bench-released" };
    let mut text = head(name, 1, if followed { "12 ms" } else { "1 s" }, "partitioned-edf");
    component(&mut text, "device", "");
    component(&mut text, "sender", "uses = { attach = \"memory.attach\" }");
    component(&mut text, "receiver", "uses = { attach = \"memory.attach\" }");
    component(&mut text, "memory", "memory-manager = true\nprovides = [\"attach\"]");
    text.push_str(
        "[[buffer]]\nname = \"messages\"\nsize = \"4 KiB\"\nbetween = [\"sender\", \"receiver\"]\n\
         [[device]]\nname = \"timer\"\ncomponent = \"device\"\nkind = \"memory\"\naddress = 0xfed00000\nsize = \"4 KiB\"\n",
    );
    let mut task = |name: &str, times: (&str, &str), more: &str| {
        let (period, deadline) = times;
        let _ = writeln!(
            text,
            "[[task]]\nname = \"{name}\"\ncore = 0\nperiod = \"{period} us\"\ndeadline = \"{deadline} us\"\nexecution = \"20 us\"\n{more}"
        );
    };
    let of = |name: &str| if server { format!("server = \"{name}\"\n") } else { String::new() };
    task("woken", ("900", "300"), &format!("component = \"device\"\ninterrupt = 20\n{}", of("one")));
    task("receives", ("900", "200"), &format!("component = \"receiver\"\nmessage = \"messages\"\n{}", of("other")));
    task("sends", ("1000", "900"), "component = \"sender\"\noffset = \"600 us\"");
    for number in 0..5 {
        let _ = writeln!(
            text,
            "[[task]]\nname = \"filler-{number}\"\ncore = 0\nperiod = \"{} ms\"\nexecution = \"500 us\"",
            if followed { 8 } else { 10 + 7 * number }
        );
    }
    for name in ["one", "other"].into_iter().filter(|_| server) {
        let _ = writeln!(
            text,
            "[[server]]\nname = \"{name}\"\ncores = [0]\nkind = \"sporadic\"\nbudget = \"100 us\"\nperiod = \"900 us\"\npolicy = \"partitioned-edf\""
        );
    }
    (text, vec!["bench-interrupt", "bench-sender", "bench-receiver", "memory"])
}

/// Partitions whose windows follow each other on one core; each has a task that runs whenever it may, and idle ones beside it. One that is
/// followed is short.
pub fn partitions(followed: bool) -> (String, Vec<&'static str>) {
    let (duration, period, execution) = if followed { ("12 ms", 10, 4) } else { ("500 ms", 400, 150) };
    let mut text = head("bench-partitions", 1, duration, "partitions") + "major-frame = \"2 ms\"\n";
    for (number, name) in ["one", "other"].into_iter().enumerate() {
        component(&mut text, name, "");
        let _ = writeln!(
            text,
            "[[partition]]\nname = \"{name}\"\npolicy = \"partitioned-fp\"\n\
             windows = [{{ core = 0, start = \"{number} ms\", length = \"1 ms\" }}]\n\
             components = [\"{name}\"]\n[[task]]\nname = \"{name}\"\ncomponent = \"{name}\"\npriority = 9\n\
             period = \"{period} ms\"\nexecution = \"{execution} ms\""
        );
        for filler in 0..4 {
            let _ = writeln!(
                text,
                "[[task]]\nname = \"{name}-{filler}\"\npartition = \"{name}\"\npriority = {filler}\n\
                 period = \"{period} ms\"\nexecution = \"100 us\""
            );
        }
    }
    (text, vec!["bench-window"; 2])
}

/// Two tasks of one component that share a resource under this protocol; the more urgent one is released while the other one holds it.
/// One that is followed step by step is short.
pub fn sections(protocol: &str, followed: bool) -> (String, Vec<&'static str>) {
    let duration = if followed { "12 ms" } else { "1 s" };
    let mut text = head(&format!("bench-sections-{protocol}"), 1, duration, "partitioned-fp");
    component(&mut text, "sections", "");
    let _ = writeln!(text, "[[resource]]\nname = \"table\"\nprotocol = \"{protocol}\"");
    for (name, priority, offset, execution, section) in [("high", 2, 50, 30, 20), ("low", 1, 0, 150, 120)] {
        let _ = writeln!(
            text,
            "[[task]]\nname = \"{name}\"\ncomponent = \"sections\"\ncore = 0\nperiod = \"1 ms\"\npriority = {priority}\n\
             offset = \"{offset} us\"\nexecution = \"{execution} us\"\n\
             sections = [{{ resource = \"table\", after = \"1 us\", length = \"{section} us\" }}]"
        );
    }
    (text, vec!["bench-sections"])
}

/// The system in which the scheduler library measures itself, and the programs of its components in order. One that is followed
/// step by step is short, and knows it by that.
pub fn library(followed: bool) -> (String, Vec<&'static str>) {
    let text = include_str!("../../../examples/sched-bench/sched-bench.toml").replace("../../os/", "os/");
    let text = if followed { text.replace("\"1 s\"", "\"12 ms\"") } else { text };
    (text, vec!["sched-bench", "sched-bench-pair"])
}

/// The system with a task more, and another one in a server; `has_slot`: with an empty slot in the place of the latter, and the former is its
/// loader's.
pub fn beside((mut text, mut programs): (String, Vec<&'static str>), has_slot: bool) -> (String, Vec<&'static str>) {
    text.push_str(
        "[[server]]\nname = \"apps\"\ncores = [0]\nkind = \"deferrable\"\nbudget = \"1 ms\"\nperiod = \"20 ms\"\n\
         policy = \"partitioned-edf\"\n\
         [[task]]\nname = \"load\"\ncore = 0\nperiod = \"20 ms\"\nexecution = \"1700 us\"\n",
    );
    text = text.replacen("name = \"bench-", "name = \"bench-beside-", 1);
    if !has_slot {
        // A server in which nothing is would be left out.
        text.push_str(
            "[[task]]\nname = \"guest\"\nserver = \"apps\"\ncore = 0\nperiod = \"1 s\"\nexecution = \"20 us\"\n",
        );
    } else {
        text.push_str(
            "component = \"loader\"\n[[component]]\nname = \"loader\"\ncrate = \"os/components/loader\"\nloader = true\n\
             [[slot]]\nname = \"guest\"\nserver = \"apps\"\nmemory = \"64 KiB\"\ntasks = 1\nkeys = [\"lab/bench/slot.pub\"]\n",
        );
        programs.push("tactus-loader");
    }
    (text, programs)
}

/// A system of two tasks on one core, in a machine of so many MiB.
pub fn small(memory: u64) -> (String, Vec<&'static str>) {
    let mut text = head("bench-small", 1, "100 ms", "partitioned-edf")
        .replace("memory = \"128 MiB\"", &format!("memory = \"{memory} MiB\""));
    for name in ["first", "second"] {
        let _ = writeln!(text, "[[task]]\nname = \"{name}\"\ncore = 0\nperiod = \"10 ms\"\nexecution = \"1 ms\"");
    }
    (text, Vec::new())
}

/// The system whose memory is told: four cores, 120 tasks of all levels, and a user's component with a service.
pub fn large() -> (String, Vec<&'static str>) {
    let mut text = head("bench-memory", 4, "2 s", "mc2").replace("1 ns", "2 ns");
    component(&mut text, "client", "");
    let mut programs = vec!["bench-periodic"];
    component(&mut text, "pair", "");
    programs.push("bench-pair");
    for number in 0..120_u64 {
        let level = match number % 10 {
            0 => "A",
            1 | 2 => "B",
            9 => "D",
            _ => "C",
        };
        let core = 1 + number % 3;
        let takes = 400 + 10 * (number % 40);
        let _ = writeln!(text, "[[task]]\nname = \"task-{number}\"\nlevel = \"{level}\"");
        let _ = match level {
            "A" => writeln!(
                text,
                "period = \"50 ms\"\ncore = {core}\nexecution = {{ A = \"{takes} us\", B = \"{takes} us\", C = \"{takes} us\", D = \"{takes} us\" }}"
            ),
            "B" => writeln!(
                text,
                "period = \"50 ms\"\ncore = {core}\nexecution = {{ B = \"{takes} us\", C = \"{takes} us\", D = \"{takes} us\" }}"
            ),
            "C" => writeln!(
                text,
                "period = \"{} ms\"\nexecution = {{ C = \"{takes} us\", D = \"{takes} us\" }}",
                20 + number % 50
            ),
            _ => writeln!(text, "period = \"100 ms\"\nexecution = \"{takes} us\""),
        };
        match number {
            3 => {
                let _ = writeln!(text, "component = \"client\"");
            }
            4 | 5 => {
                let _ = writeln!(text, "component = \"pair\"");
            }
            _ => {}
        }
    }
    (text, programs)
}
