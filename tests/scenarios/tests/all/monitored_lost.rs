//! More events than a full trace has room for: what is told of properties that watch them, beside others, on two cores, with a component
//! that is restarted again and again.

use tactus_scenarios::{tactus, Finished, Scratch};

/// 60,002 signals of two cores.
const FLOOD: &str =
    "#![no_std]\n#![no_main]\nuse tactus_rt::{Job, Signal};\ntactus_rt::component! { job: work, services: [] }\n\
    fn work(job: &Job) {\n    let own = Signal::new([\"a\", \"b\"][job.task() as usize & 1]);\n\
    for _ in 0..30_001 { assert_eq!(own.raise(), Ok(())); }\n}\n";
const CRASH: &str = "#![no_std]\n#![no_main]\nuse tactus_rt::Job;\ntactus_rt::component! { job: work, services: [] }\n\
    fn work(_: &Job) { panic!(\"again\") }\n";
const SYSTEM: &str = r#"
[system]
name = "lost"
cores = 2
duration = "900 ms"
[policy]
kind = "partitioned-edf"
[[component]]
name = "flood"
crate = "flood"
[[task]]
name = "flood-0"
component = "flood"
core = 0
period = "1 s"
deadline = "350 ms"
execution = "300 ms"
[[task]]
name = "flood-1"
component = "flood"
core = 1
period = "1 s"
deadline = "350 ms"
execution = "300 ms"
[[component]]
name = "crash"
crate = "crash"
restarted-by = "root"
restarts = { most = 100, per = "1 s" }
[[task]]
name = "crash"
component = "crash"
core = 0
period = "20 ms"
execution = "100 us"
[[task]]
name = "steady"
core = 1
period = "10 ms"
execution = "1 ms"
[[monitor]]
name = "answered"
property = "always (a -> eventually[<= 850 ms] b)"
events = { a = "signal flood.a", b = "signal flood.b" }
[[monitor]]
name = "often"
property = "distance(a) <= 500 ms"
events = { a = "signal flood.a" }
[[monitor]]
name = "in-turn"
property = "always (begins -> next ends)"
events = { begins = "start steady", ends = "complete steady" }
[[monitor]]
name = "again"
property = "always (gone -> next back)"
events = { gone = "fault crash", back = "restart" }
"#;

#[test]
fn a_property_of_sixty_thousand_events_is_not_held_where_the_trace_has_no_room_for_them_and_others_are() {
    let scratch = Scratch::new("lost");
    scratch.component("flood", "main.rs", FLOOD);
    scratch.component("crash", "main.rs", CRASH);
    let file = scratch.write("system.toml", SYSTEM);
    for (duration, outcome, often) in [("400 ms", "void", "not judged"), ("900 ms", "broken", "false")] {
        let run = Finished::run(&file, &["--duration", duration]);
        let said = &run.said.output;
        assert_eq!((run.summary.outcome(), run.said.status), (outcome, 1), "{said}");
        let all = run.summary.json["monitors"].as_array().expect("monitors");
        let [both, one, in_turn, again] = &all[..] else { panic!("{all:?}") };
        let number = |it: &serde_json::Value, key: &str| it[key].as_u64().expect("a count");
        // What was recorded and what was not is all that happened: before the first that is missing, and from then on.
        let lost = [both, one].map(|it| number(it, "not_recorded"));
        assert!(lost[0] > lost[1] && lost[1] > 10_000 && lost[0] < 60_002, "{said}");
        assert!(number(one, "events") + lost[1] <= 30_001, "{said}");
        assert_eq!((&both["verdict"], &one["verdict"]), (&"not judged".into(), &often.into()), "{said}");
        // Of others nothing is missing.
        for (it, least) in [(in_turn, 78), (again, 38)] {
            assert_eq!((&it["verdict"], number(it, "not_recorded")), (&"not yet".into(), 0), "{said}");
            assert!(number(it, "events") >= least, "{said}");
        }
        let sentence = match outcome {
            "broken" => "property often was violated as the kernel found",
            _ => "; property answered cannot be judged: ",
        };
        assert!(said.contains(sentence) && said.contains("not recorded"), "{said}");
        if outcome == "broken" {
            // Half a second after the last signal, which the trace does not hold.
            let at = number(one, "at_ns");
            assert!((500_000_000..800_000_000).contains(&at), "{said}");
        }
        let again = tactus(["monitor".as_ref(), file.as_os_str(), run.folder().as_os_str()]);
        assert_eq!(again.status, 1, "{}", again.output);
        assert!(again.output.contains("found no room in the trace"), "{}", again.output);
    }
}
