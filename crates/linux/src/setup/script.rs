//! The script that runs the threads and records them.

use std::fmt::Write;
use tactus_time::CoreSet;

const HEAD: &str = r#"set -eu
cd "$(dirname "$0")"
self=./$(basename "$0")
fail() { echo "run.sh: $1" >&2; exit 1; }
[ "$(id -u)" = 0 ] || fail "run it as root: it sets real-time priorities and records the kernel"
command -v rt-app >/dev/null || fail "rt-app is missing: apt-get install rt-app"
"#;

/// The end of the script: which recorder there is.
const RECORD: &str = r#"if trace-cmd start -e sched_switch >/dev/null 2>&1; then
    trace-cmd reset >/dev/null 2>&1 || true
    trace-cmd record -q -C mono -e sched_switch -e sched_waking -e sched_wakeup_new -o trace.dat "$self" started
    trace=trace.dat
elif command -v perf >/dev/null; then
    # Without tracefs rt-app cannot write its markers; jobs that end late are not told apart then.
    sed -i 's/"ftrace" : true/"ftrace" : false/' ./*.json
    perf sched record -o perf.data -- "$self" started
    perf script -i perf.data >trace.txt 2>/dev/null
    trace=trace.txt
else
    fail "neither trace-cmd nor perf is there: apt-get install trace-cmd"
fi
echo "recorded: $(pwd)/$trace"
"#;

/// The script of processes; `domains` are the cores of each where it needs them for itself alone.
pub(super) fn write(name: &str, programs: &[(String, String)], domains: Option<&[CoreSet]>, cores: usize) -> String {
    let mut text = format!(
        "#!/bin/sh\n# Runs {name} on Linux and records what the scheduler does; written by `tactus linux`.\n{HEAD}[ \"$(nproc --all)\" -ge {cores} ] \
         || fail \"this machine has fewer than {cores} processors\"\n"
    );
    let file = |suffix: &str| format!("{name}{suffix}.json");
    // Writing to a string cannot fail.
    let _ = writeln!(text, "if [ \"${{1-}}\" = started ]; then");
    match domains {
        None => {
            let _ = writeln!(text, "    exec rt-app {}", file(""));
        }
        Some(domains) => {
            for (n, (suffix, _)) in programs.iter().enumerate() {
                let _ = writeln!(
                    text,
                    "    (if [ -d /sys/fs/cgroup/tactus-{n} ]; then echo 0 >/sys/fs/cgroup/tactus-{n}/cgroup.procs; fi; exec rt-app {}) &",
                    file(suffix)
                );
            }
            text.push_str("    wait\n    exit\n");
            let _ = domains;
        }
    }
    text.push_str("fi\n");
    if let Some(domains) = domains {
        text.push_str(&partitions(domains, cores));
    }
    text + RECORD
}

/// A partition of processors for each domain: SCHED_DEADLINE admits and orders threads within one.
fn partitions(domains: &[CoreSet], cores: usize) -> String {
    let mut text = String::from("group=/sys/fs/cgroup\n");
    if let [all] = domains {
        if all.iter().count() == cores {
            let _ =
                writeln!(text, "# All processors are one domain already.\nif [ \"$(nproc --all)\" -gt {cores} ]; then");
        }
    } else {
        text.push_str("if :; then\n");
    }
    text.push_str(
        "[ -e $group/cgroup.subtree_control ] || fail \"sets of processors need version 2 of control groups, mounted at $group\"\n\
         echo +cpuset >$group/cgroup.subtree_control\n",
    );
    for (n, domain) in domains.iter().enumerate() {
        let set: Vec<String> = domain.iter().map(|core| core.0.to_string()).collect();
        let set = set.join(",");
        let _ = writeln!(
            text,
            "mkdir -p $group/tactus-{n}\necho {set} >$group/tactus-{n}/cpuset.cpus\necho root >$group/tactus-{n}/cpuset.cpus.partition\n\
             grep -qx root $group/tactus-{n}/cpuset.cpus.partition || fail \"processors {set} cannot be set apart: $(cat \
             $group/tactus-{n}/cpuset.cpus.partition); one processor must be left for all others\""
        );
    }
    text.push_str("trap 'rmdir $group/tactus-* 2>/dev/null || true' EXIT\nfi\n");
    text
}
