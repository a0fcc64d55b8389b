//! The tasks of JUNIPER D3.6 (Tables 1 to 3) on the machine: two virtual platforms keep every deadline, alone and beside a background that
//! would outrank them in a plain order, and beside a thread that never ends.

use std::fs;
use tactus_scenarios::{file, tactus, Scratch, Summary};

/// Table 3: plain priorities come behind all deadlines, so these tasks live on what the platforms leave.
fn background() -> String {
    let server =
        "[[server]]\nname = 'rest'\nkind = 'cbs-hard'\nbudget = '50 us'\nperiod = '10 s'\npolicy = 'partitioned-fp'\n\
                  background = true\n";
    let task = |(n, (priority, execution, period, core)): (usize, (u32, u32, u32, u32))| {
        format!(
            "[[task]]\nname = 'b{n}'\nserver = 'rest'\npriority = {priority}\nexecution = '{execution} ms'\n\
             period = '{period} ms'\ncore = {core}\n"
        )
    };
    let tasks = [(18, 25, 100, 0), (17, 50, 200, 1), (16, 100, 400, 0)];
    server.to_string() + &tasks.into_iter().enumerate().map(task).collect::<String>()
}

/// A thread of the second application that outranks its others and does not end within the run.
const ROGUE: &str =
    "[[task]]\nname = 'rogue'\nserver = 'y2'\npriority = 99\nperiod = '1 s'\nexecution = '1 ms'\nactual = '9 s'\n";

/// Runs the example with something added. The summary, and whether the run ended with 0.
fn run(added: &str) -> (Summary, bool) {
    let scratch = Scratch::new("platforms");
    let text = fs::read_to_string(file("examples/platforms.toml")).expect("the example");
    let system = scratch.write("platforms.toml", &format!("{text}\n{added}"));
    let out = scratch.path().join("out");
    let words = ["run".as_ref(), system.as_os_str(), "--duration".as_ref(), "2 s".as_ref(), "--out".as_ref()];
    let said = tactus(words.into_iter().chain([out.as_os_str()]));
    assert!(said.status < 2, "{}{}", said.output, said.errors);
    let summary = fs::read_to_string(out.join("summary.json")).expect("the run leaves a summary");
    (Summary::read(&summary), said.status == 0)
}

/// Misses of tasks of the example.
fn missed(summary: &Summary, names: &[&str]) -> Vec<u64> {
    let of = |name: &&str| {
        let task = summary.task(name);
        assert!(task.completed() >= 2, "{name} ran {} times", task.completed());
        task.missed()
    };
    names.iter().map(of).collect()
}

#[test]
fn platforms_on_the_machine_miss_nothing_with_a_background_and_without() {
    let all = ["t1", "t2", "t3", "t4", "t5"];
    let (alone, held) = run("");
    assert!(held && alone.held(), "{}", alone.json["verdict"]);
    assert_eq!(missed(&alone, &all), [0; 5]);
    let (beside, _) = run(&background());
    assert_eq!(missed(&beside, &all), [0; 5]);
    assert_eq!(missed(&beside, &["b0", "b1", "b2"]).len(), 3, "the background runs");
}

#[test]
fn a_thread_that_never_ends_costs_the_other_platform_no_deadline() {
    let (summary, _) = run(ROGUE);
    assert_eq!(missed(&summary, &["t1", "t2", "t3"]), [0; 3], "the other platform's");
    // It has one of its platform's two virtual processors; the less urgent of the others is the one that suffers.
    assert!(summary.task("t5").missed() > 0, "the rogue does harm in its own");
}
