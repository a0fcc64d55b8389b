//! The ways in which Linux's tools print the same events.

mod common;

use common::numbers;
use tactus_linux::{read_text, Event, EventKind, PrevState, Thread};
use tactus_time::Instant;

/// The events of `tracefs`, of `trace-cmd report`, of `trace-cmd report -R` and of `perf script`, from one schedule: `my task` (9) runs
/// from 1.0 s, is preempted by `a]b:c` (10), goes on and sleeps.
const SAME: [&str; 4] = [
    "# tracer: nop
#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION
          <idle>-0       [001] d.h4.     1.000000: sched_waking: comm=my task pid=9 prio=120 target_cpu=001
          <idle>-0       [001] d..2.     1.000005: sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=my task next_pid=9 next_prio=9
         my task-9       [001] .....     1.000010: tracing_mark_write: [0] begins loop 0 phase 0 step 0
         my task-9       [001] d..2.     1.002000: sched_switch: prev_comm=my task prev_pid=9 prev_prio=9 prev_state=R+ ==> next_comm=a]b:c next_pid=10 next_prio=5
CPU:1 [LOST 52 EVENTS]
           a]b:c-10      [001] d..2.     1.003000: sched_switch: prev_comm=a]b:c prev_pid=10 prev_prio=5 prev_state=D ==> next_comm=my task next_pid=9 next_prio=9
         my task-9       [001] d..2.     1.004000: sched_switch: prev_comm=my task prev_pid=9 prev_prio=9 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
",
    "cpus=2
          <idle>-0     [001]     1.000000: sched_waking:         my task:9 [120] CPU:001
          <idle>-0     [001]     1.000005: sched_switch:         swapper/1:0 [120] R ==> my task:9 [9]
         my task-9     [001]     1.000010: print:                tracing_mark_write: [0] begins loop 0 phase 0 step 0
         my task-9     [001]     1.002000: sched_switch:         my task:9 [9] R+ ==> a]b:c:10 [5]
CPU:1 [52 EVENTS DROPPED]
           a]b:c-10    [001]     1.003000: sched_switch:         a]b:c:10 [5] D ==> my task:9 [9]
         my task-9     [001]     1.004000: sched_switch:         my task:9 [9] S ==> swapper/1:0 [120]
",
    "          <idle>-0     [001]     1.000000: sched_waking:         comm=my task pid=9 prio=120 success=1 target_cpu=1
          <idle>-0     [001]     1.000005: sched_switch:         prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=0 next_comm=my task next_pid=9 next_prio=9
         my task-9     [001]     1.000010: print:                ip=0xffff buf=[0] begins loop 0 phase 0 step 0
         my task-9     [001]     1.002000: sched_switch:         prev_comm=my task prev_pid=9 prev_prio=9 prev_state=256 next_comm=a]b:c next_pid=10 next_prio=5
CPU:1 [EVENTS DROPPED]
           a]b:c-10    [001]     1.003000: sched_switch:         prev_comm=a]b:c prev_pid=10 prev_prio=5 prev_state=2 next_comm=my task next_pid=9 next_prio=9
         my task-9     [001]     1.004000: sched_switch:         prev_comm=my task prev_pid=9 prev_prio=9 prev_state=1 next_comm=swapper/1 next_pid=0 next_prio=120
",
    "swapper     0 [001]     1.000000000:             sched:sched_waking: comm=my task pid=9 prio=120 target_cpu=001
swapper     0 [001]     1.000005000:             sched:sched_switch: prev_comm=swapper/1 prev_pid=0 prev_prio=120 prev_state=R ==> next_comm=my task next_pid=9 next_prio=9
my task     8/9 [001]     1.000010000:           ftrace:print: [0] begins loop 0 phase 0 step 0
my task     8/9 [001]     1.002000000:           sched:sched_switch: prev_comm=my task prev_pid=9 prev_prio=9 prev_state=R+ ==> next_comm=a]b:c next_pid=10 next_prio=5
CPU:1 [LOST]
a]b:c    10 [001]     1.003000000:             sched:sched_switch: prev_comm=a]b:c prev_pid=10 prev_prio=5 prev_state=D ==> next_comm=my task next_pid=9 next_prio=9
my task     9 [001]     1.004000000:             sched:sched_switch: prev_comm=my task prev_pid=9 prev_prio=9 prev_state=S ==> next_comm=swapper/1 next_pid=0 next_prio=120
",
];

#[test]
fn tools_that_print_the_same_events_are_read_alike() {
    let (task, other) = (Thread(9), Thread(10));
    let event = |micros: u64, kind| Event { time: Instant::from_nanos(1_000_000_000 + micros * 1_000), cpu: 1, kind };
    let switch = |from, state, to| EventKind::Switch { from, state, to };
    let expected = [
        event(0, EventKind::Wakeup(task)),
        event(5, switch(Thread::IDLE, PrevState::Runnable, task)),
        event(10, EventKind::Begin(task)),
        event(2_000, switch(task, PrevState::Runnable, other)),
        event(2_000, EventKind::Lost),
        event(3_000, switch(other, PrevState::Blocked, task)),
        event(4_000, switch(task, PrevState::Asleep, Thread::IDLE)),
    ];
    for text in SAME {
        let recording = read_text(text.as_bytes()).expect(text);
        assert_eq!(recording.events, expected, "{text}");
        let names: Vec<&str> = recording.names.values().flatten().map(String::as_str).collect();
        assert_eq!(names, ["my task", "a]b:c"], "{text}");
    }
}

#[test]
fn a_text_without_switches_is_refused_with_what_to_record() {
    for text in ["", "no trace\n", "  x-1 [000] 1.5: sched_wakeup: comm=x pid=1 prio=1 target_cpu=000\n"] {
        let why = read_text(text.as_bytes()).expect_err(text);
        assert!(why.contains("record with `trace-cmd record"), "{why}");
    }
}

/// Changes a number of bytes, alone or by the piece.
fn mutate(bytes: u64) {
    let mut random = numbers(7);
    let mut done = 0;
    while done < bytes {
        let mut text = SAME[random(SAME.len())].as_bytes().to_vec();
        for _ in 0..1 + random(40) {
            let at = random(text.len());
            match random(4) {
                0 => text[at] = b" []:.=>0-\n\xff9"[random(12)],
                1 => text[at] = random(256) as u8,
                2 => {
                    let end = (at + random(30)).min(text.len());
                    drop(text.drain(at..end));
                    text.push(b'\n');
                }
                _ => {
                    let piece = text[at..(at + random(60)).min(text.len())].to_vec();
                    let to = random(text.len());
                    drop(text.splice(to..to, piece));
                }
            }
            done += 1;
        }
        let _ = read_text(&text);
    }
}

#[test]
fn no_damaged_text_makes_the_reader_fall_over() {
    mutate(20_000);
}

/// `cargo test --release -p tactus-linux --test formats -- --ignored`
#[test]
#[ignore = "a million mutations take a minute"]
fn no_text_with_a_million_mutations_makes_the_reader_fall_over() {
    mutate(1_000_000);
}
