//! Files as SchedCAT, SimSo and people write them. The texts here are in the tools' forms, made for these tests; the tools' own
//! files are read and written by `oracle/others.py`.

use std::path::Path;
use tactus_formats::{parse, Format, Options, TaskSet};
use tactus_time::Duration;

fn read(text: &str, format: Format) -> Vec<TaskSet> {
    parse(text, Path::new("x"), format, &Options::default()).unwrap_or_else(|fault| panic!("{fault}"))
}

const fn us(n: u64) -> Duration {
    Duration::from_micros(n)
}

#[test]
fn a_schedcat_test_point_has_several_sets_in_microseconds() {
    let text = r#"<testpoint><config ucap="1.5"/>
      <taskset><properties count="2"/>
        <task period="92000" wcet="77458"/>
        <task id="7" period="100.0" wcet="12.5" deadline="80" partition="1" wss="3">
          <resources/><affinity><cpu id="1"/></affinity></task>
      </taskset>
      <taskset><task id="None" period="5" wcet="1" partition="None"/></taskset>
    </testpoint>"#;
    let sets = read(text, Format::SchedCat);
    assert_eq!(sets.len(), 2);
    let [first, second] = &sets[0].tasks[..] else { panic!("{sets:?}") };
    assert_eq!((first.execution, first.period, first.deadline, first.core), (us(77_458), us(92_000), us(92_000), None));
    assert_eq!((second.name.as_str(), second.core, second.memory), ("t7", Some(1), 3 << 10));
    assert_eq!((second.execution, second.period, second.deadline), (Duration::from_nanos(12_500), us(100), us(80)));
}

const SIMSO: &str = r#"<?xml version="1.0" ?>
<simulation cycles_per_ms="1000000" duration="420000000" etm="wcet">
	<sched class="simso.schedulers.FP" overhead="0" overhead_activate="0" overhead_terminate="0"/>
	<caches memory_access_time="100"/>
	<processors><processor cl_overhead="0" cs_overhead="0" id="1" name="CPU 1" speed="1.0"/>
	<processor cl_overhead="0" cs_overhead="0" id="2" name="CPU 2" speed="1.0"/></processors>
	<tasks><field name="priority" type="int"/>
		<task ACET="0.0" WCET="3.0" abort_on_miss="yes" activationDate="0.5" base_cpi="1.0" deadline="7" et_stddev="0.0"
		 id="1" instructions="0" list_activation_dates="" mix="0.5" name="TASK T1" period="7.00" preemption_cost="0"
		 task_type="Periodic" priority="9"/>
		<task ACET="0.0" WCET="1.0000000001" abort_on_miss="no" activationDate="0" base_cpi="1.0" deadline="12" et_stddev="0.0"
		 id="2" instructions="0" list_activation_dates="" mix="0.5" name="TASK T2" period="12" preemption_cost="0"
		 task_type="Periodic" priority="3"/>
	</tasks>
</simulation>"#;

#[test]
fn a_simso_configuration_tells_tasks_cores_policy_and_duration() {
    let sets = read(SIMSO, Format::SimSo);
    let set = &sets[0];
    assert_eq!((set.cores, set.policy.as_deref()), (Some(2), Some("global-fp")));
    assert_eq!(set.duration, Some(Duration::from_millis(420)));
    let [first, second] = &set.tasks[..] else { panic!("{set:?}") };
    assert_eq!((first.execution, first.period, first.offset), (us(3_000), us(7_000), us(500)));
    assert_eq!((first.priority, second.priority), (Some(9), Some(3)));
    assert_eq!(second.execution, Duration::from_nanos(1_000_001));
    let notes = set.notes.join("\n");
    assert!(notes.contains("1 tasks are aborted") && notes.contains("1 times were finer"), "{notes}");
    let system = set.system().expect("a system");
    assert_eq!(system.tasks[0].name, "TASK-T1");
}

#[test]
fn csv_takes_units_from_the_value_the_column_or_the_caller() {
    let text = "# drawn by hand\nname, wcet ,period_ms,Deadline,core\na,250,10,\"2.5 ms\",0\nb, 1 ms ,20,,\n";
    let sets = read(text, Format::Csv);
    let [a, b] = &sets[0].tasks[..] else { panic!("{sets:?}") };
    assert_eq!((a.execution, a.period, a.deadline, a.core), (us(250), us(10_000), us(2_500), Some(0)));
    assert_eq!((b.execution, b.period, b.deadline, b.core), (us(1_000), us(20_000), us(20_000), None));
    let sets = read("set,execution,period\nx,1,10\ny,2,20\nx,3,30\n", Format::Csv);
    assert_eq!(sets.iter().map(|set| (set.name.as_str(), set.tasks.len())).collect::<Vec<_>>(), [("x", 2), ("y", 1)]);
}

/// What is said about a broken text.
fn told(text: &str, format: Format) -> String {
    let fault = parse(text, Path::new("x"), format, &Options::default()).expect_err("a broken file");
    fault.to_string()
}

#[test]
fn broken_schedcat_files_are_told_with_line_value_and_remedy() {
    for (text, said) in [
        ("<taskset>", "x:1: this is not XML"),
        ("<taskset/>", "x:1: set \"x\" has no task; add it"),
        ("<testpoint/>", "the test point has no taskset"),
        ("<other/>", "the XML is a <other>"),
        ("<taskset>\n<task period='5'/></taskset>", "x:2: task 1 has no attribute wcet"),
        ("<taskset><task id='9' period='5' wcet='-1'/></taskset>", "x:1: task 9: wcet is \"-1\"; write a number"),
        ("<taskset><task period='0' wcet='1'/></taskset>", "task \"t1\": period is \"0\"; write more than nothing"),
        ("<taskset><task period='1e30' wcet='1'/></taskset>", "up to the length of a day"),
        ("<taskset><task period='5' wcet='1' partition='x'/></taskset>", "task 1: partition is \"x\""),
        (
            "<taskset><task period='5' wcet='1'>\n<resources><requirement res_id='1'/></resources></task></taskset>",
            "x:2: task 1 requests resources (<requirement>), and tasks share no locks here; take",
        ),
        (
            "<taskset><task period='5' wcet='1'><critical_sections><critical_section/></critical_sections></task></taskset>",
            "requests resources (<critical_section>)",
        ),
        (
            "<taskset><task period='5' wcet='1'><affinity><cpu id='1'/><cpu id='2'/></affinity></task></taskset>",
            "task 1 may run on 2 cores of its <affinity>",
        ),
        ("<!DOCTYPE x [<!ENTITY a 'b'>]><taskset/>", "this is not XML"),
    ] {
        let found = told(text, Format::SchedCat);
        assert!(found.contains(said), "{text}\n{found}");
    }
}

#[test]
fn broken_simso_files_are_told_with_line_value_and_remedy() {
    let with = |from: &str, to: &str| {
        assert!(SIMSO.contains(from), "{from}");
        told(&SIMSO.replacen(from, to, 1), Format::SimSo)
    };
    for (from, to, said) in [
        ("<sched ", "<shed ", "the simulation has no <sched>"),
        (
            "speed=\"1.0\"",
            "speed=\"0.5\"",
            "x:5: a processor has the speed 0.5, and all cores have one speed here; give",
        ),
        ("cs_overhead=\"0\"", "cs_overhead=\"10\"", "cs_overhead of a processor is not 0"),
        ("overhead_activate=\"0\"", "overhead_activate=\"1\"", "overhead_activate of the scheduler is not 0"),
        ("task_type=\"Periodic\"", "task_type=\"Sporadic\"", "x:8: task \"TASK T1\" is of the type Sporadic"),
        ("id=\"1\" instructions", "followed_by=\"2\" id=\"1\" instructions", "is followed by task 2"),
        ("WCET=\"3.0\"", "WCET=\"three\"", "task \"TASK T1\": WCET is \"three\"; write a number"),
        ("WCET=\"3.0\"", "", "task \"TASK T1\" has no attribute WCET"),
        ("period=\"7.00\"", "period=\"0\"", "period is \"0\"; write more than nothing"),
        ("priority=\"9\"", "priority=\"-9\"", "priority is \"-9\"; write a whole number"),
        ("duration=\"420000000\"", "duration=\"long\"", "duration is \"long\""),
        ("</simulation>", "", "this is not XML"),
    ] {
        let found = with(from, to);
        assert!(found.contains(said), "{from} → {to}\n{found}");
    }
}

#[test]
fn broken_tables_are_told_with_line_value_and_remedy() {
    for (text, said) in [
        ("", "the table has no column execution"),
        ("period\n5\n", "the table has no column execution"),
        ("execution,period\n", "the table has no line below the header"),
        (
            "execution,period,colour\n1,2,3\n",
            "the heading of a column is \"colour\"; write one of set, name, execution",
        ),
        ("execution,wcet,period\n1,2,3\n", "two columns tell the execution; keep one"),
        ("execution,period\n1\n", "x:2: this line has 1 values, and the header has 2 columns"),
        ("execution,period\n1,5\n,5\n", "x:3: task \"t2\" has no execution"),
        ("execution,period\n1,five\n", "x:2: task \"t1\": period is \"five\""),
        ("execution,period,core\n1,5,-1\n", "task \"t1\": core is \"-1\"; write a whole number"),
        ("execution,period\n0,5\n", "execution time is \"0\"; write more than nothing"),
    ] {
        let found = told(text, Format::Csv);
        assert!(found.contains(said), "{text}\n{found}");
    }
}
