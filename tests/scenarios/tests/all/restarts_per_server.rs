//! Components that begin anew where each server has a scheduler of its own: the root's restarts them, those of their tasks end the
//! jobs; and components whose tasks lie in several servers.

use crate::services::{part, restarts, stopped, task};
use tactus_scenarios::{Finished, Scratch};

/// The same system with one scheduler for all, and with one for each server.
fn both(name: &str, cores: usize, rest: &str) -> [Finished; 2] {
    let folder = Scratch::new(&format!("{name}-restarts"));
    ["", "schedulers = \"per-server\"\n"].map(|key| {
        let text = format!(
            "[system]\nname = \"restarts\"\ncores = {cores}\nduration = \"200 ms\"\n\n\
             [policy]\nkind = \"partitioned-edf\"\n{key}\n{rest}"
        );
        let run =
            Finished::run(&folder.write(if key.is_empty() { "single.toml" } else { "per-server.toml" }, &text), &[]);
        assert_eq!(run.components().contains(&"inner".to_string()), !key.is_empty(), "{:?}", run.components());
        run
    })
}

/// A server inside another one.
const INNER: &str = "[[server]]\nname = \"outer\"\nkind = \"cbs-hard\"\nbudget = \"6 ms\"\nperiod = \"10 ms\"\npolicy = \"partitioned-edf\"\n\n\
    [[server]]\nname = \"inner\"\nparent = \"outer\"\nkind = \"cbs-hard\"\nbudget = \"4 ms\"\nperiod = \"10 ms\"\npolicy = \"partitioned-edf\"\n\n";

/// The task in this server.
fn inside(server: &str, task: String) -> String {
    task.replace("core = 0\n", &format!("core = 0\nserver = \"{server}\"\n"))
}

fn flaky(restarts: &str) -> String {
    INNER.to_string()
        + &part("flaky", &format!("restarted-by = \"root\"\nrestarts = {{ {restarts} }}"))
        + &inside("inner", task("flaky", true, 0))
        + &inside("outer", task("around", false, 0))
        + &task("steady", false, 0)
}

#[test]
fn a_component_inside_two_servers_begins_anew_and_its_tasks_next_jobs_run() {
    let whole = "[[monitor]]\nname = \"whole\"\nproperty = \"always not gone\"\nreset = true\nevents = { gone = \"fault flaky\" }\n";
    for run in both("nested", 1, &(flaky("most = 10, per = \"1 s\"") + whole)) {
        // Whose scheduler the root is, it says what monitors found.
        assert!(run.log.contains("4 violations of monitored properties"), "{}", run.log);
        assert_eq!(restarts(&run), [(1, false), (2, false), (3, false), (4, false)], "{}", run.said.output);
        assert_eq!(stopped(&run).len(), 4, "{}", run.said.output);
        assert!(stopped(&run).iter().all(|(name, what)| name == "flaky" && what.starts_with("write to an address")));
        assert_eq!(run.summary.json["total"]["aborted"], 4);
        for name in ["flaky", "around", "steady"] {
            let task = run.summary.task(name);
            // Jobs that ended with the component did not do their work.
            assert_eq!((task.completed(), task.missed()), (20, if name == "flaky" { 4 } else { 0 }), "{name}");
        }
        assert_eq!(run.said.status, 1, "{}", run.said.output);
        assert!(run.log.contains("flaky was restarted 4 times"), "{}", run.log);
    }
}

#[test]
fn a_component_inside_two_servers_that_faults_too_often_stays_stopped_and_its_task_is_taken_out() {
    for run in both("limit", 1, &flaky("most = 2, per = \"1 s\"")) {
        assert_eq!(restarts(&run), [(1, false), (2, false), (2, true)], "{}", run.said.output);
        assert_eq!(run.summary.json["total"]["aborted"], 3);
        assert_eq!(run.summary.task("flaky").completed(), 14);
        for name in ["around", "steady"] {
            assert_eq!((run.summary.task(name).completed(), run.summary.task(name).missed()), (20, 0), "{name}");
        }
        assert_eq!(run.said.status, 1);
        assert!(run.log.contains("flaky was restarted 2 times, and stays stopped"), "{}", run.log);
    }
}

/// One task in the inner server, the other in one of its own on the other core. Each fault ends a job of both, and both begin anew.
#[test]
fn a_component_with_tasks_of_two_servers_begins_anew_for_both() {
    let pair = |name: &str, core: u64, server: &str, offset: u64, execution: &str| {
        task(name, false, offset)
            .replace("core = 0", &format!("core = {core}\nserver = \"{server}\"\ncomponent = \"pair\""))
            .replace("1 ms", execution)
    };
    let rest = INNER.replace("kind", "cores = [0]\nkind")
        + "[[server]]\nname = \"far\"\ncores = [1]\nkind = \"deferrable\"\nbudget = \"6 ms\"\nperiod = \"10 ms\"\npolicy = \"partitioned-rm\"\n\n"
        + &part("pair", "restarted-by = \"root\"\nrestarts = { most = 10, per = \"1 s\" }")
        + &pair("first", 0, "inner", 2, "500 us")
        + &pair("long", 1, "far", 0, "5 ms")
        + &inside("outer", task("around", false, 0));
    for run in both("pair", 2, &rest) {
        assert_eq!(restarts(&run), [(1, false), (2, false), (3, false), (4, false)], "{}", run.said.output);
        assert_eq!(run.summary.json["total"]["aborted"], 8, "{}", run.said.output);
        assert!(stopped(&run).iter().all(|(name, _)| name == "pair"));
        assert_eq!((run.summary.task("first").completed(), run.summary.task("long").completed()), (20, 20));
        assert_eq!(run.summary.task("around").missed(), 0);
        assert_eq!(run.said.status, 1, "{}", run.said.output);
    }
}

#[test]
fn a_component_inside_two_servers_makes_its_brand_in_each_of_fifty_lives() {
    let rest = INNER.to_string()
        + &part(
            "phoenix",
            "brands = 1\nticks = \"1 ms\"\nrestarted-by = \"root\"\nrestarts = { most = 32, per = \"1 ms\" }",
        )
        + &inside("inner", task("phoenix", true, 0).replace("10 ms", "4 ms").replace("1 ms", "500 us"))
        + &inside("outer", task("around", false, 0));
    for run in both("phoenix", 1, &rest) {
        assert_eq!(stopped(&run).len(), 50, "{}", run.said.output);
        assert!(stopped(&run).iter().all(|(_, what)| what.starts_with("write to an address")), "{}", run.said.output);
        assert!(restarts(&run).len() >= 49, "{}", run.said.output);
        assert_eq!(run.summary.task("around").missed(), 0);
    }
}

/// A task in one server restarts the service that another one in another server calls as well.
#[test]
fn a_component_inside_a_server_restarts_a_service() {
    let rest = INNER.to_string()
        + &part("fragile", "provides = [\"ask\"]\nrestarted-by = \"guard\"\nrestarts = { most = 4, per = \"1 s\" }")
        + &part("guard", "uses = { ask = \"fragile.ask\" }")
        + &part("stranger", "")
        + &inside("inner", task("guard", true, 0))
        + &inside("outer", task("stranger", true, 5));
    for run in both("guard", 1, &rest) {
        let fragile = ("fragile".to_string(), "panicked at src/fragile.rs:14: assertion failed: call < 2".to_string());
        assert_eq!(stopped(&run), vec![fragile; 5], "{}", run.said.output);
        assert_eq!(restarts(&run), [(1, false), (2, false), (3, false), (4, false)], "{}", run.said.output);
        assert!(run.log.contains("fragile was restarted 4 times by guard"), "{}", run.log);
        assert_eq!((run.summary.task("guard").completed(), run.summary.task("stranger").completed()), (20, 20));
    }
}
