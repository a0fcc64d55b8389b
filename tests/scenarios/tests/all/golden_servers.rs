//! The worked examples of every order and every kind of server, which `crates/policy/tests/golden` draws for the policies
//! alone, once more from a system file: in the simulator, and on the machine with the system's own work. (Rate-monotonic and
//! EDF, by cores and global, and MC² are in `golden.rs`.)
//!
//! A column of those drawings is a millisecond; here it is five. Jobs need a little less than a column's multiple, so that the
//! system's own work on their behalf, microseconds, does not push them over the end of a budget. What is compared is who
//! runs in the middle of each column.

use std::fs;
use std::path::PathBuf;
use tactus_record::{EventKind, Record};
use tactus_scenarios::{file, Finished, Scratch};
use tactus_time::{Duration, Instant};
use tactus_trace::Trace;

/// One column, in milliseconds.
const COLUMN: u64 = 5;
/// The same.
const UNIT: Duration = Duration::from_millis(COLUMN);

/// What jobs need less than their columns, in microseconds.
const LESS: u64 = 40;

/// Who has a core in each column, by number.
type Row = Vec<Option<u16>>;

/// What the drawing says of each core.
fn golden(name: &str) -> Vec<Row> {
    let path = file("crates/policy/tests/golden").join(name);
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let cores = text.lines().filter(|line| line.starts_with("core ") && line.contains('|'));
    let row = |line: &str| {
        let mut last = None;
        let cells: Vec<&str> = line.trim_end_matches('|').split('|').skip(1).collect();
        cells
            .into_iter()
            .map(|cell| {
                match cell.trim() {
                    "" => last = None,
                    "··" => {}
                    name => last = Some(name[1..].parse::<u16>().expect("tasks are T1, T2 …") - 1),
                }
                last
            })
            .collect()
    };
    cores.map(row).collect()
}

/// Who has each core in the middle of each column.
fn seen(trace: &Trace, columns: usize) -> Vec<Row> {
    let at = |records: &[Record], column: usize| {
        let middle = Instant::ZERO + UNIT * column as u64 + UNIT / 2;
        let given = records.iter().rfind(|r| r.kind == EventKind::Leave && r.time <= middle);
        given.and_then(|r| r.task).map(|task| task.0)
    };
    trace.cores.iter().map(|records| (0..columns).map(|column| at(records, column)).collect()).collect()
}

/// As in the drawings.
fn drawn(rows: &[Row]) -> String {
    let cell = |task: &Option<u16>| task.map_or("  ".into(), |task| format!("T{}", task + 1));
    rows.iter().map(|row| format!("|{}|\n", row.iter().map(cell).collect::<Vec<_>>().join("|"))).collect()
}

/// Column by column, on whatever core.
fn sorted(rows: &[Row]) -> Vec<Row> {
    let column = |n: usize| {
        let mut all: Row = rows.iter().map(|row| row[n]).collect();
        all.sort();
        all
    };
    (0..rows[0].len()).map(column).collect()
}

/// A system file, piece by piece, and files beside it.
struct Example {
    scratch: Scratch,
    text: String,
    lists: usize,
    /// How much later than at the column the next task is released (µs).
    late: u64,
    any_core: bool,
    /// The last of the tasks' first deadlines (ms): no run is shorter.
    least: u64,
}

/// A task: offset, period, deadline and assumed execution, in columns.
type Times = [u64; 4];

impl Example {
    /// `policy`: the lines under `[policy]`.
    fn new(cores: usize, policy: &str) -> Example {
        let text = format!(
            "[system]\nname = \"example\"\ncores = {cores}\nduration = \"10 s\"\n[machine]\ninstruction = \"4 ns\"\n\
             [policy]\n{policy}\n"
        );
        Example { scratch: Scratch::new("golden-servers"), text, lists: 0, late: 0, any_core: false, least: 0 }
    }

    fn server(mut self, name: &str, kind: &str, supply: [u64; 2], more: &str) -> Example {
        let [budget, period] = supply.map(|columns| columns * COLUMN);
        self.text += &format!("[[server]]\nname = \"{name}\"\nkind = \"{kind}\"\n{more}\n");
        if kind != "pibs" {
            self.text += &format!("budget = \"{budget} ms\"\nperiod = \"{period} ms\"\n");
        }
        self
    }

    /// `more`: where it is. `jobs`: what jobs take, in columns; the last ones like the last that is told.
    fn task(mut self, more: &str, times: Times, jobs: &[u64]) -> Example {
        let [offset, period, deadline, execution] = times.map(|columns| columns * COLUMN);
        self.lists += 1;
        let need = |columns: &u64| format!("{} us\n", columns * COLUMN * 1_000 - LESS);
        let last = jobs.last().into_iter().cycle().take(60);
        let list: String = jobs.iter().chain(last).map(need).collect();
        let list = self.scratch.write(&format!("jobs-{}.txt", self.lists), &list);
        // What a level assumes is told by whoever has levels.
        let execution = match more.contains("execution") {
            true => String::new(),
            false => format!("execution = \"{execution} ms\"\n"),
        };
        self.text += &format!(
            "[[task]]\nname = \"T{}\"\n{more}\noffset = \"{} us\"\nperiod = \"{period} ms\"\n\
             deadline = \"{deadline} ms\"\n{execution}actual = {{ file = {:?} }}\n",
            self.lists,
            offset * 1_000 + self.late,
            list.display().to_string()
        );
        self.least = self.least.max(offset + self.late.div_ceil(1_000) + deadline);
        self.late = 0;
        self
    }

    /// The next task's releases come so much later: where another event falls into the same instant, and would come first
    /// without the system's own work.
    fn later(mut self, micros: u64) -> Example {
        self.late = micros;
        self
    }

    /// Where nothing but who is served first tells two cores apart.
    fn on_any_core(mut self) -> Example {
        self.any_core = true;
        self
    }

    /// Simulates and runs it, and holds both against the drawing. Gives what both showed.
    fn is(self, name: &str) -> Vec<Row> {
        let wanted = golden(name);
        let columns = wanted[0].len();
        let path: PathBuf = self.scratch.write("example.toml", &self.text);
        // Beyond the drawing where a first deadline would not fall into the run.
        let length = format!("{} ms", (columns as u64 * COLUMN).max(self.least));
        let more = ["--duration", length.as_str()];
        for (verb, results) in [("simulate", Finished::simulate(&path, &more)), ("run", Finished::run(&path, &more))] {
            let seen = seen(&results.trace(), columns);
            let alike = if self.any_core { sorted(&seen) == sorted(&wanted) } else { seen == wanted };
            assert!(
                alike,
                "{verb} differs from {name}: it shows\n{}instead of\n{}{}\n{}",
                drawn(&seen),
                drawn(&wanted),
                self.text,
                results.said.output
            );
        }
        wanted
    }
}

/// Three tasks on one core: 2 of 8 from 2, 4 of 12 from 0 with deadline 10, 3 of 12 from 1 with deadline 6.
fn ordered(order: &str) {
    let quantum = if matches!(order, "llf" | "rr" | "fp-rr") {
        format!("\nquantum = \"{} ms\"", 2 * COLUMN)
    } else {
        String::new()
    };
    let more = |priority: u32| match order {
        "fp" => format!("core = 0\npriority = {priority}"),
        // Two of them are equal.
        "fp-rr" => format!("core = 0\npriority = {}", if priority == 2 { 1 } else { priority }),
        _ => "core = 0".to_string(),
    };
    let example = Example::new(1, &format!("kind = \"partitioned-{order}\"{quantum}"));
    // T2's turn ends at that instant.
    let example = if order.ends_with("rr") { example.later(200) } else { example };
    example
        .task(&more(2), [2, 8, 8, 2], &[2])
        .task(&more(1), [0, 12, 10, 4], &[4])
        .task(&more(3), [1, 12, 6, 3], &[3])
        .is(&format!("order_{}.txt", order.replace('-', "_")));
}

/// Trap: the larger number is the more urgent one, as in POSIX and unlike in EPOS.
#[test]
fn orders_that_a_task_keeps_draw_their_worked_examples() {
    ordered("fp");
    ordered("dm");
    ordered("sjf");
    ordered("sm");
    ordered("fifo");
}

/// Trap: EPOS looks at laxity only at release; strict least laxity changes its mind while a job waits.
#[test]
fn orders_that_change_with_time_draw_their_worked_examples() {
    ordered("llf");
    ordered("llf-at-release");
    ordered("rr");
    ordered("fp-rr");
}

/// A server of 2 of 5 before a task of 3 of 10. Requests to the server: 1 at `first`, and 3 ten later each time.
fn beside_a_task(kind: &str, first: u64) {
    let example = Example::new(1, "kind = \"partitioned-rm\"");
    let example = match kind {
        // Its period is that of another server, which has no work and so takes nothing.
        "pibs" => example.server("S0", "deferrable", [1, 5], "policy = \"partitioned-edf\"").server(
            "S1",
            kind,
            [2, 5],
            "policy = \"partitioned-edf\"\nshare = 0.4\nfor = \"S0\"",
        ),
        _ => example.server("S1", kind, [2, 5], "policy = \"partitioned-edf\""),
    };
    example
        .task("core = 0", [0, 10, 10, 3], &[3])
        .task("server = \"S1\"\ncore = 0", [first, 10, 10, 3], &[1, 3])
        .is(&format!("server_{}.txt", kind.replace('-', "_")));
}

/// Traps: a polling server's budget is gone when it finds no work; a periodic one's goes by; a deferrable one's two budgets
/// may come back to back.
#[test]
fn servers_that_are_full_at_each_period_draw_their_worked_examples() {
    beside_a_task("polling", 1);
    beside_a_task("sporadic-polling", 1);
    beside_a_task("periodic", 1);
    beside_a_task("deferrable", 3);
}

/// Trap: what is used comes back one period after it could be used first, not after it was used up; of a
/// priority-inheriting server in proportion to what was used.
#[test]
fn servers_that_get_back_what_they_used_draw_their_worked_examples() {
    beside_a_task("sporadic", 2);
    beside_a_task("pibs", 2);
}

/// Trap: a hard server waits for its deadline though the core idles, a soft one goes on at once with a later deadline.
#[test]
fn constant_bandwidth_servers_draw_their_worked_examples() {
    for kind in ["cbs-soft", "cbs-hard"] {
        Example::new(1, "kind = \"partitioned-edf\"")
            .server("S1", kind, [2, 6], "policy = \"partitioned-edf\"")
            .task("core = 0", [0, 7, 7, 3], &[3])
            .task("server = \"S1\"\ncore = 0", [0, 8, 8, 3], &[3, 1, 5])
            .is(&format!("server_{}.txt", kind.replace('-', "_")));
    }
}

/// Trap: what is active changes while a server runs: the end of its budget is where the rates of the time between say.
#[test]
fn reclaiming_servers_draw_their_worked_example() {
    let inside = "policy = \"partitioned-edf\"";
    Example::new(1, "kind = \"partitioned-edf\"")
        .server("S1", "grub", [2, 8], inside)
        .server("S2", "grub", [2, 8], inside)
        .server("S3", "grub", [8, 16], inside)
        .task("server = \"S1\"\ncore = 0", [0, 24, 24, 3], &[3])
        .task("server = \"S2\"\ncore = 0", [0, 24, 24, 1], &[1])
        .task("server = \"S3\"\ncore = 0", [0, 24, 24, 13], &[13])
        .is("server_grub.txt");
}

/// The system of Figure 4 of West, Li and Missimer, OSPERT 2012, with background service off.
fn figure_4() -> Row {
    let inside = "policy = \"partitioned-edf\"";
    let rows = Example::new(1, "kind = \"partitioned-rm\"")
        .server("V0", "sporadic", [10, 40], inside)
        .server("V1", "sporadic", [20, 50], inside)
        .server("IO", "pibs", [2, 50], &format!("{inside}\nshare = 0.04\nfor = \"V1\""))
        .task("server = \"V0\"\ncore = 0", [1, 40, 40, 10], &[10])
        .task("server = \"V1\"\ncore = 0", [0, 40, 40, 18], &[18])
        .task("server = \"IO\"\ncore = 0", [28, 40, 40, 2], &[2])
        .is("server_sporadic_figure4.txt");
    rows[0].clone()
}

/// Trap: an I/O VCPU's next budget comes after what it used ÷ its share.
#[test]
fn figure_4_of_quest_v_on_the_machine_gives_vcpu1_its_40_of_100() {
    let of = |row: &Row, task: u16, from: usize, to: usize| row[from..to].iter().filter(|t| **t == Some(task)).count();
    let right = figure_4();
    assert_eq!((of(&right, 1, 0, 100), of(&right, 1, 50, 100)), (40, 21));
    assert_eq!((of(&right, 2, 68, 78), of(&right, 2, 78, 80)), (0, 2));
}

/// Trap: background service lies behind everything that has budget, a task without a server included.
#[test]
fn background_platforms_and_trees_draw_their_worked_examples() {
    Example::new(1, "kind = \"partitioned-fp\"")
        .server("S1", "deferrable", [2, 10], "policy = \"partitioned-edf\"\npriority = 2\nbackground = true")
        .task("core = 0\npriority = 1", [1, 10, 10, 4], &[4])
        .task("server = \"S1\"\ncore = 0", [0, 20, 20, 8], &[8])
        .is("server_background.txt");
    // Trap: both virtual processors of a platform have the whole budget, and what is inside may run on either.
    Example::new(2, "kind = \"partitioned-edf\"")
        .server("S1", "cbs-hard", [3, 6], "policy = \"global-fp\"")
        .task("server = \"S1\"\npriority = 3", [0, 12, 12, 2], &[2])
        .task("server = \"S1\"\npriority = 2", [0, 12, 12, 5], &[5])
        .task("server = \"S1\"\npriority = 1", [1, 12, 12, 3], &[3])
        .on_any_core()
        .is("server_platform_alone.txt");
    let turn = format!("policy = \"partitioned-rr\"\nquantum = \"{COLUMN} ms\"\nparent = \"S1\"\npriority = 1");
    Example::new(1, "kind = \"partitioned-edf\"")
        .server("S1", "cbs-hard", [6, 10], "policy = \"partitioned-fp\"")
        .server("S2", "sporadic", [2, 5], "policy = \"partitioned-edf\"\nparent = \"S1\"\npriority = 2")
        .server("S3", "deferrable", [2, 10], &turn)
        .task("server = \"S2\"\ncore = 0", [0, 10, 10, 3], &[3])
        .task("server = \"S3\"\ncore = 0", [0, 20, 20, 3], &[3])
        .task("server = \"S3\"\ncore = 0", [1, 20, 20, 3], &[3])
        .task("core = 0", [2, 10, 10, 3], &[3])
        .is("server_tree.txt");
}

/// Trap: a job that is killed really ends: the next one begins at the beginning.
#[test]
fn the_rules_for_overruns_draw_their_worked_example() {
    let mut example = Example::new(4, "kind = \"partitioned-edf\"");
    for (core, rule) in ["continue", "skip", "stop", "kill"].into_iter().enumerate() {
        example = example.task(&format!("core = {core}\noverrun = \"{rule}\""), [0, 4, 4, 2], &[5, 2]);
    }
    example.is("overruns.txt");
}

/// Traps: LO jobs that are released while their level is given up are not kept for later; a core goes back when nothing is
/// left to do, not when the job that took too long has ended.
#[test]
fn two_levels_of_criticality_draw_their_worked_examples() {
    let level = |level: &str, columns: [u64; 2], more: &str| {
        let [low, high] = columns.map(|columns| columns * COLUMN);
        let high = if level == "A" { format!("A = \"{high} ms\", ") } else { String::new() };
        format!("core = 0\nlevel = \"{level}\"\nexecution = {{ {high}B = \"{low} ms\" }}\n{more}")
    };
    Example::new(1, "kind = \"amc\"")
        .task(&level("B", [2, 2], "priority = 3"), [0, 5, 5, 2], &[2])
        .task(&level("A", [2, 5], "priority = 2"), [0, 10, 10, 5], &[5, 2])
        .task(&level("B", [2, 2], "priority = 1"), [0, 10, 10, 2], &[2])
        .is("amc.txt");
    let virtual_deadline = format!("virtual-deadline = \"{} ms\"", 4 * COLUMN);
    Example::new(1, "kind = \"edf-vd\"")
        .task(&level("B", [4, 4], ""), [0, 10, 10, 4], &[4])
        .task(&level("A", [2, 8], &virtual_deadline), [0, 10, 10, 8], &[8, 2])
        .is("edf_vd.txt");
}

/// The same while the system changes: T3 ends and T4 begins after T1 has made the core give up level B, T1 gets more time
/// while both levels are served and a higher priority, and T5 is refused.
#[test]
fn two_levels_of_criticality_that_change_draw_their_worked_example() {
    let level = |level: &str, columns: [u64; 2], priority: u32| {
        let [low, high] = columns.map(|columns| columns * COLUMN);
        let high = if level == "A" { format!("A = \"{high} ms\", ") } else { String::new() };
        format!("core = 0\nlevel = \"{level}\"\nexecution = {{ {high}B = \"{low} ms\" }}\npriority = {priority}")
    };
    let mut example = Example::new(1, "kind = \"amc\"")
        .task(&level("A", [2, 5], 1), [0, 10, 10, 5], &[2, 5, 2])
        .task(&level("B", [2, 2], 3), [0, 10, 10, 2], &[2])
        .task(&level("B", [2, 2], 2), [0, 20, 20, 2], &[2])
        .task(&level("A", [1, 2], 4), [0, 10, 10, 2], &[1])
        .task(&level("B", [8, 8], 0), [0, 10, 10, 8], &[8]);
    example.text += &change(13, "remove = \"T3\"");
    example.text += &change(13, "add = \"T4\"");
    let times = format!("execution = {{ B = \"{} ms\" }}", 3 * COLUMN);
    example.text += &change(24, &format!("task = \"T1\"\n{times}\npriority = 5"));
    example.text += &change(31, "add = \"T5\"");
    example.is("change-amc.txt");
}

/// The same by virtual deadlines, which change with those who compete: T1 ends and T3 begins after T2 has made the core give up the
/// other level, and T4 is refused.
#[test]
fn virtual_deadlines_that_change_draw_their_worked_example() {
    let level = |level: &str, [low, high]: [u64; 2]| {
        let high = if level == "A" { format!("A = \"{} ms\", ", high * COLUMN) } else { String::new() };
        format!("core = 0\nlevel = \"{level}\"\nexecution = {{ {high}B = \"{} ms\" }}", low * COLUMN)
    };
    let mut example = Example::new(1, "kind = \"edf-vd\"")
        .task(&level("B", [4, 4]), [0, 10, 10, 4], &[4])
        .task(&level("A", [2, 8]), [0, 10, 10, 8], &[2, 8, 2])
        .task(&level("B", [6, 6]), [0, 20, 20, 6], &[6])
        .task(&level("B", [8, 8]), [0, 10, 10, 8], &[8]);
    example.text += &change(13, "remove = \"T1\"");
    example.text += &change(13, "add = \"T3\"");
    example.text += &change(33, "add = \"T4\"");
    example.is("change-edf-vd.txt");
}

/// MC² while the system changes: T3 of level C ends, T5 of level A begins on a core that had no table, T2 of level B has more,
/// and T6 is refused.
#[test]
fn mc2_that_changes_draws_its_worked_example() {
    let level = |level: &str, core: Option<u8>, columns: u64| {
        let time = columns * COLUMN;
        let core = core.map_or(String::new(), |core| format!("core = {core}\n"));
        format!("{core}level = \"{level}\"\nexecution = \"{time} ms\"")
    };
    let mut example = Example::new(2, "kind = \"mc2\"\nslack-shifting = false")
        .task(&level("A", Some(0), 2), [0, 10, 10, 2], &[2])
        .task(&level("B", Some(0), 3), [0, 10, 10, 3], &[3, 3, 3, 4])
        .task(&level("C", None, 6), [0, 20, 20, 6], &[6])
        .task(&level("B", Some(1), 2), [0, 10, 10, 2], &[2])
        .task(&level("A", Some(1), 3), [0, 10, 10, 3], &[3])
        .task(&level("C", None, 9), [0, 10, 10, 9], &[9]);
    example.text += &change(13, "remove = \"T3\"");
    example.text += &change(13, "add = \"T5\"");
    example.text += &change(23, &format!("task = \"T2\"\nexecution = \"{} ms\"", 4 * COLUMN));
    example.text += &change(31, "add = \"T6\"");
    example.on_any_core().is("change-mc2.txt");
}

fn change(column: u64, what: &str) -> String {
    format!("[[change]]\nat = \"{} ms\"\n{what}\n", column * COLUMN)
}

/// The system that changes: T2 ends and T4 begins, T5 is refused, and the server gets a larger budget.
#[test]
fn a_system_that_changes_while_it_runs_draws_its_worked_example() {
    let server = "cores = [0]\npolicy = \"partitioned-edf\"";
    let mut example = Example::new(1, "kind = \"partitioned-edf\"")
        .server("S1", "cbs-hard", [2, 10], server)
        .task("core = 0", [0, 10, 10, 2], &[2])
        .task("core = 0", [0, 20, 20, 7], &[7])
        .task("core = 0\nserver = \"S1\"", [0, 30, 30, 3], &[3])
        .task("core = 0", [0, 10, 10, 4], &[4])
        .task("core = 0", [0, 20, 20, 8], &[8]);
    example.text += &change(22, "remove = \"T2\"");
    example.text += &change(22, "add = \"T4\"");
    example.text += &change(40, "add = \"T5\"");
    example.text += &change(51, &format!("server = \"S1\"\nbudget = \"{} ms\"", 3 * COLUMN));
    example.is("change.txt");
}

/// The tree that changes: the inner server gets a larger budget, then the outer one ends with all that is in it, and T4 begins.
#[test]
fn a_tree_that_changes_while_it_runs_draws_its_worked_example() {
    let inside = "cores = [0]\npolicy = \"partitioned-edf\"";
    let mut example = Example::new(1, "kind = \"partitioned-edf\"")
        .server("S1", "cbs-hard", [7, 10], inside)
        .server("S2", "cbs-hard", [2, 10], &format!("parent = \"S1\"\n{inside}"))
        .task("core = 0", [0, 10, 10, 2], &[2])
        .task("core = 0\nserver = \"S1\"", [0, 20, 20, 2], &[2])
        .task("core = 0\nserver = \"S2\"", [0, 45, 45, 4], &[4])
        .task("core = 0", [0, 10, 10, 5], &[5]);
    example.text += &change(13, &format!("server = \"S2\"\nbudget = \"{} ms\"", 3 * COLUMN));
    example.text += &change(46, "remove = \"S1\"");
    example.text += &change(46, "add = \"T4\"");
    example.is("change_nested.txt");
}

/// The platform that changes: it gets a larger budget on both cores, T4 begins beside it, and T2 in it ends.
#[test]
fn a_platform_that_changes_while_it_runs_draws_its_worked_example() {
    let mut example = Example::new(2, "kind = \"partitioned-edf\"")
        .server("S1", "cbs-hard", [3, 10], "cores = [0, 1]\npolicy = \"global-fp\"")
        .task("server = \"S1\"\npriority = 2", [0, 40, 40, 5], &[5])
        .task("server = \"S1\"\npriority = 1", [0, 40, 40, 3], &[3])
        .task("core = 0", [0, 20, 20, 5], &[5])
        .task("core = 1", [0, 10, 10, 3], &[3])
        .on_any_core();
    example.text += &change(7, &format!("server = \"S1\"\nbudget = \"{} ms\"", 4 * COLUMN));
    example.text += &change(7, "add = \"T4\"");
    example.text += &change(41, "remove = \"T2\"");
    // Admitted, whatever several schedulers cost.
    example.text = example.text.replacen("[machine]\n", "[machine]\noverheads = false\n", 1);
    example.is("change_platform.txt");
}
