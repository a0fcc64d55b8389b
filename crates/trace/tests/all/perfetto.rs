//! The Perfetto export, read back through Perfetto's own schema.
//!
//! Needs Python with the `perfetto` package, which is put into a virtual environment in the target folder. Where it
//! cannot be had the test says so and passes, unless `TACTUS_REQUIRE_PERFETTO` is set:
//!
//!     TACTUS_REQUIRE_PERFETTO=1 cargo test -p tactus-trace --test all perfetto:: -- --nocapture
//!
//! With `TACTUS_TRACE_PROCESSOR` set the package also fetches Perfetto's trace processor (into the user's
//! `~/.local/share/perfetto`) and asks it; where the fetch fails, the reason is printed.

use crate::common::*;
use serde_json::{json, Value};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use tactus_record::EntryReason::*;
use tactus_time::Level;
use tactus_trace::{perfetto, Trace, View};

const PACKAGE: &str = "perfetto==0.59.1";

fn run(command: &mut Command) -> Result<String, String> {
    let shown = format!("{command:?}");
    let out = command.output().map_err(|e| format!("{shown}: {e}"))?;
    match out.status.success() {
        true => Ok(String::from_utf8_lossy(&out.stdout).into_owned()),
        false => Err(format!("{shown}: {}", String::from_utf8_lossy(&out.stderr))),
    }
}

/// A Python that has the package, or why there is none; made once, since tests run side by side.
fn python() -> Result<PathBuf, String> {
    static PYTHON: OnceLock<Result<PathBuf, String>> = OnceLock::new();
    PYTHON.get_or_init(make_python).clone()
}

fn make_python() -> Result<PathBuf, String> {
    let venv = Path::new(env!("CARGO_TARGET_TMPDIR")).join("perfetto-venv");
    let python = venv.join("bin/python");
    let has = |python: &Path| run(Command::new(python).args(["-c", "import perfetto.trace_processor"]));
    if has(&python).is_err() {
        run(Command::new("python3").args(["-m", "venv"]).arg(&venv))?;
        run(Command::new(&python).args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", PACKAGE]))?;
        has(&python)?;
    }
    Ok(python)
}

/// What the oracle finds in the export; nothing if there is no oracle here.
fn read_back(view: &View, trace: &Trace, name: &str) -> Option<Value> {
    let python = match python() {
        Ok(python) => python,
        Err(why) if std::env::var_os("TACTUS_REQUIRE_PERFETTO").is_none() => {
            println!("skipped: the perfetto package cannot be had here: {why}");
            return None;
        }
        Err(why) => panic!("{why}"),
    };
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, perfetto(view, trace)).unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("oracle/read_perfetto.py");
    let mut oracle = Command::new(python);
    oracle.arg(script).arg(&path);
    if std::env::var_os("TACTUS_TRACE_PROCESSOR").is_some() {
        oracle.arg("--trace-processor");
    }
    let answer: Value = serde_json::from_str(&run(&mut oracle).unwrap()).unwrap();
    match answer.get("trace_processor") {
        Some(said) => println!("{name}: trace processor: {said}"),
        None => println!("{name}: trace processor not asked; TACTUS_TRACE_PROCESSOR=1 lets the package fetch it"),
    }
    Some(answer)
}

/// Two jobs and a ghost on one core; the second job is late.
fn small() -> (View, Trace) {
    let mut b = Builder::new(1);
    b.call_ns(0, 0, 100, Start, 0, |c| {
        c.release(0, 0, 0).release(1, 0, 0).dispatch(0, 0);
    });
    b.call_ns(0, 2 * UNIT, 2 * UNIT + 300, Complete, 0, |c| {
        c.complete(0, 0, 2).ghost(0, 0).dispatch(1, 0);
    });
    b.call_ns(0, 4 * UNIT, 4 * UNIT + 200, Timer, 4 * UNIT, |c| {
        c.ghost_end(0, 0);
    });
    b.call_ns(0, 7 * UNIT, 7 * UNIT + 100, Complete, 0, |c| {
        c.complete(1, 0, 5).idle();
    });
    let tasks =
        vec![at_level(task("höhe", 10, None), Level::A, Some(0)), at_level(task("log", 6, None), Level::C, None)];
    (view(1, 8, tasks), b.end(8))
}

#[test]
fn perfettos_schema_finds_every_slice_instant_and_name_of_a_small_trace() {
    let (view, trace) = small();
    let Some(found) = read_back(&view, &trace, "small.pftrace") else { return };
    let tracks = json!(["core 0", "ghost", "höhe (A)", "jobs released and not finished", "log (C)", "test"]);
    assert_eq!(found["tracks"], tracks);
    let slices = json!({
        "core 0": {"scheduler": 4, "höhe #0": 1, "log #0": 2},
        "höhe (A)": {"core 0": 1},
        "log (C)": {"core 0": 2},
        "ghost": {"#0 on core 0": 1},
    });
    assert_eq!(found["slices"], slices);
    let length = json!({
        "core 0": 7 * UNIT + 100, "höhe (A)": 2 * UNIT - 100, "log (C)": 5 * UNIT - 500, "ghost": 2 * UNIT,
    });
    assert_eq!(found["length_ns"], length);
    assert_eq!(found["instants"], json!({"höhe (A)": {"release": 1}, "log (C)": {"release": 1, "missed": 1}}));
    assert_eq!(found["counter"], json!([[0, 2], [2 * UNIT, 1], [7 * UNIT, 0]]));
    assert_eq!(found["packets"], 6 + 2 * 11 + 3 + 3);
}

#[test]
fn perfettos_schema_counts_the_slices_of_a_long_trace_as_the_records_do() {
    let tasks = [(0, 5, 2), (0, 10, 3), (0, 20, 3), (1, 4, 1), (1, 8, 4)];
    let (view, trace) = (edf_view(2, &tasks, 2000), edf(2, &tasks, 2000));
    let Some(found) = read_back(&view, &trace, "long.pftrace") else { return };
    // Without time in the scheduler every dispatch begins a slice.
    let dispatches: Vec<u64> = (trace.cores.iter())
        .map(|r| r.iter().filter(|r| r.kind == tactus_record::EventKind::Dispatch).count() as u64)
        .collect();
    let count = |track: &str| -> u64 {
        found["slices"][track].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum()
    };
    assert_eq!(vec![count("core 0"), count("core 1")], dispatches);
    for (i, (_, period, cost)) in tasks.iter().enumerate() {
        let name = format!("T{}", i + 1);
        assert_eq!(found["instants"][&name]["release"], 2000 / period);
        assert_eq!(found["instants"][&name]["deadline"], 2000 / period);
        assert_eq!(found["length_ns"][&name], 2000 / period * cost * UNIT);
    }
    if let Some(counts) = found["trace_processor"]["slices"].as_object() {
        assert_eq!(counts["core 0"], dispatches[0]);
    }
}

#[test]
fn the_same_trace_gives_the_same_bytes() {
    let (view, trace) = small();
    assert_eq!(perfetto(&view, &trace), perfetto(&view, &trace));
}
