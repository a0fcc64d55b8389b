//! Long files: what is kept of them gives the same verdict.

mod common;

use common::{numbers, View};
use std::io::Write;
use std::path::{Path, PathBuf};
use tactus_linux::{read_file, read_file_for, translate};
use tactus_trace::judge;

fn example() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/linux/trace.txt")
}

/// A text of this many bytes: two threads with periods of 10 and 20 ms on core 0, and others on two cores that come and go all the time; some
/// jobs of the second thread wait for a core that others keep.
fn write(path: &Path, bytes: u64) {
    let mut random = numbers(5);
    let mut out = std::io::BufWriter::new(std::fs::File::create(path).expect("a file"));
    let (mut written, mut now) = (0, 1_000_000u64);
    let mut line = |time: u64, cpu: usize, event: String| {
        let text =
            format!("       any-1       [{cpu:03}] d..2. {:6}.{:06}: {event}\n", time / 1_000_000, time % 1_000_000);
        written += text.len() as u64;
        out.write_all(text.as_bytes()).expect("written");
        written
    };
    let switch = |from: (&str, u32), state: &str, to: (&str, u32)| {
        let (a, b) =
            (format!("prev_comm={} prev_pid={}", from.0, from.1), format!("next_comm={} next_pid={}", to.0, to.1));
        format!("sched_switch: {a} prev_prio=120 prev_state={state} ==> {b} next_prio=120")
    };
    let wake = |name: &str, pid: u32| format!("sched_waking: comm={name} pid={pid} prio=9 target_cpu=000");
    let idle = [("swapper/0", 0), ("swapper/1", 0)];
    loop {
        // A period of 10 ms: a job of control, in each second one a job of steer, then others.
        let mut time = now;
        line(time, 0, wake("control", 7));
        line(time + 5, 0, switch(idle[0], "R", ("control", 7)));
        if (now / 10_000) % 2 == 0 {
            line(time + 6, 1, wake("steer", 8));
            line(time + 1_000, 0, switch(("control", 7), "S", ("late", 50)));
            line(time + 1_010, 0, switch(("late", 50), "S", ("steer", 8)));
            time += 2_000;
            line(time, 0, switch(("steer", 8), "S", idle[0]));
        } else {
            time += 1_000;
            line(time, 0, switch(("control", 7), "S", idle[0]));
        }
        while time + 200 < now + 10_000 {
            let (cpu, other) = (random(2), 100 + random(400) as u32);
            let name = format!("worker/{other}");
            line(time + 10, cpu, switch(idle[cpu], "R", (&name, other)));
            time += 20 + random(60) as u64;
            if line(time, cpu, switch((&name, other), "S", idle[cpu])) > bytes {
                return;
            }
        }
        now += 10_000;
    }
}

fn view() -> View {
    let mut view = View::of(vec![("control".into(), 10_000_000), ("steer".into(), 20_000_000)]);
    view.0.cores = 2;
    view
}

#[test]
fn what_is_kept_of_a_long_file_gives_the_same_jobs_and_the_same_verdict() {
    let made = std::env::temp_dir().join(format!("tactus-long-{}.txt", std::process::id()));
    write(&made, 400_000);
    let example_view =
        View::of(vec![("control".into(), 5_000_000), ("steer".into(), 10_000_000), ("log".into(), 20_000_000)]);
    for (path, view) in [(made.clone(), view()), (example(), example_view)] {
        let whole = read_file(&path).expect("a trace");
        let kept = read_file_for(&path, (&view.0, &[]), 0).expect("a trace");
        assert_eq!((kept.switches(), kept.cpus(), kept.count()), (whole.switches(), whole.cpus(), whole.count()));
        let judged = [&whole, &kept].map(|recording| {
            let translated = translate(recording, &view.0, &[]).expect("jobs");
            judge(&translated.view, &translated.trace)
        });
        let own = |n: usize| format!("{:?}", &judged[n].tasks[..view.0.tasks.len()]);
        assert_eq!(own(0), own(1), "{}", path.display());
        assert_eq!(judged[0].verdict.held(), judged[1].verdict.held());
        assert!(judged[0].voids.len() == judged[1].voids.len());
        if path == made {
            assert!(kept.events.len() * 5 < whole.events.len(), "{} of {}", kept.events.len(), whole.events.len());
        }
    }
    std::fs::remove_file(made).expect("the file");
}

/// Seconds that the processor worked for this program.
fn processor_time() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    // In hundredths: user and system.
    fields.skip(11).take(2).filter_map(|ticks| ticks.parse::<f64>().ok()).sum::<f64>() / 100.0
}

/// `cargo test --release -p tactus-linux --test long -- --ignored --nocapture`
#[test]
#[ignore = "writes a file of a gibibyte"]
fn a_gibibyte_is_read_and_judged_in_little_memory() {
    let path = std::env::temp_dir().join("tactus-gibibyte.txt");
    write(&path, 1 << 30);
    let view = view();
    let (before, used) = (std::time::Instant::now(), processor_time());
    let recording = read_file_for(&path, (&view.0, &[]), tactus_linux::LONG).expect("a trace");
    let (read, used) = (before.elapsed(), processor_time() - used);
    let translated = translate(&recording, &view.0, &[]).expect("jobs");
    let summary = judge(&translated.view, &translated.trace);
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let most = status.lines().find(|line| line.starts_with("VmHWM")).unwrap_or_default().to_string();
    println!(
        "{} events, {} kept; twice 1 GiB in {read:?}: {:.0} MiB/s, {:.0} MiB for a second of processor time; {} in all; {most}",
        recording.count(),
        recording.events.len(),
        2048.0 / read.as_secs_f64(),
        2048.0 / used,
        summary.headline()
    );
    std::fs::remove_file(path).expect("the file");
}

/// How long a file of one's own takes, with the tasks in it and their periods in nanoseconds:
/// `TACTUS_LONG=trace.dat TACTUS_TASKS=a=5000000,b=10000000 cargo test --release -p tactus-linux --test long -- --ignored --nocapture given`
#[test]
#[ignore = "needs a file"]
fn a_given_file_is_read_at_this_speed() {
    let (Ok(path), Ok(tasks)) = (std::env::var("TACTUS_LONG"), std::env::var("TACTUS_TASKS")) else { return };
    let task = |text: &str| {
        let (name, period) = text.split_once('=').expect("NAME=PERIOD");
        (name.to_string(), period.parse().expect("nanoseconds"))
    };
    let view = View::of(tasks.split(',').map(task).collect());
    let mebibytes = std::fs::metadata(&path).expect("the file").len() as f64 / f64::from(1 << 20);
    let (before, used) = (std::time::Instant::now(), processor_time());
    let recording = read_file_for(Path::new(&path), (&view.0, &[]), tactus_linux::LONG).expect("a trace");
    let (read, used) = (before.elapsed().as_secs_f64(), processor_time() - used);
    println!(
        "{} events, {} switches, {} kept; {mebibytes:.0} MiB, twice: {used:.1} s of processor time, {:.0} MiB of the file a second; {read:.1} s in all",
        recording.count(),
        recording.switches(),
        recording.events.len(),
        mebibytes / used
    );
}
