//! Files of rt-app.

use crate::Case;

pub const CASES: &[Case] = &[
    ("60-not-json.json", &[(5, "this is not JSON: a colon, a comma or } expected, but there is '1'")]),
    ("61-open-comment.json", &[(3, "this comment does not end")]),
    (
        "62-lock.json",
        &[
            (5, "lock is 5; write a name in quotes"),
            (6, "wait is \"queue\"; write an object like"),
            (8, "\"mutex\" is missing"),
            (9, "unlock is"),
        ],
    ),
    ("63-barrier.json", &[(9, "a reservation is a promise, and threads of this file wait for each other")]),
    (
        "64-after-the-timer.json",
        &[
            (7, "it goes on after the last timer of its cycle, so that two runs become one job; end the cycle"),
            (14, "it waits on two timers, or on one with two periods (see line 13); use one timer with one period"),
        ],
    ),
    (
        "65-memory-and-io.json",
        &[
            (5, "event \"mem\" is not supported"),
            (7, "event \"iorun\" is not supported: there is no device to write to"),
            (8, "event \"memrun\" is not supported"),
        ],
    ),
    ("66-fork.json", &[(5, "event \"fork\" is not supported: all tasks are there from the start")]),
    ("67-taskgroup.json", &[(5, "\"taskgroup\" \"/tg1\": groups of tasks share no budget here")]),
    ("68-never-waits.json", &[(4, "it runs without ever waiting, so nothing releases its jobs; add a \"timer\"")]),
    ("69-never-runs.json", &[(4, "it never runs; add a \"run\"")]),
    ("70-yields.json", &[(6, "event \"yield\" is not supported: a job keeps its core until it is done or preempted")]),
    ("71-two-periods.json", &[(7, "the period of its timer is 10 ms, not 20 ms as on line 6")]),
    (
        "72-phase-policy.json",
        &[
            (6, "\"cpus\" would change from phase to phase"),
            (6, "\"policy\" would change from phase to phase"),
            (7, "\"cpus\" would change from phase to phase"),
            (7, "\"policy\" would change from phase to phase"),
        ],
    ),
    (
        "73-relative-after-sleep.json",
        &[(8, "it sleeps for longer than the period of 10 ms of its relative timer, which then starts anew")],
    ),
    ("74-mixed-classes.json", &[(10, "its policy SCHED_DEADLINE stands beside the fixed priority of task \"a\"")]),
    ("75-some-bound.json", &[(12, "it may run on any core, but task \"a\" is bound to one")]),
    (
        "76-reservation-period.json",
        &[
            (7, "the period of its reservation is 5 ms, not the 10 ms"),
            (11, "a SCHED_DEADLINE task has no \"dl-runtime\""),
        ],
    ),
    ("77-some-cores.json", &[(6, "\"cpus\" names 2 of 3 cores; name one core or all")]),
    ("78-too-many-cores.json", &[(5, "a core of \"cpus\" is 64, not between 0 and 7")]),
    ("79-shared-timer.json", &[(7, "its 2 instances share the timer \"tick\"")]),
    ("80-ends-early.json", &[(5, "the end of its last loop is 30 ms, before the run does at 1 s")]),
    (
        "81-unknown-names.json",
        &[(10, "there is no policy \"SCHED_FIFOO\"; did you mean \"SCHED_FIFO\"?"), (12, "\"period\" is missing")],
    ),
    (
        "82-wrong-types.json",
        &[
            (5, "instance is \"two\"; write a whole number"),
            (6, "run is -5; write a whole number of microseconds"),
            (7, "timer is 10000; write an object"),
            (9, "task \"b\" is 7; write an object"),
            (11, "cpus is 1; write a list of cores"),
            (12, "loop is 0, neither -1 nor more than 0"),
            (13, "run is 1.5; write a whole number of microseconds"),
        ],
    ),
    ("83-no-tasks.json", &[(1, "\"tasks\" is missing")]),
    (
        "84-old-grammar.json",
        &[
            (5, "\"exec\" belongs to the grammar of old versions"),
            (6, "\"period\" belongs"),
            (7, "\"deadline\" belongs"),
        ],
    ),
    ("85-longer-than-its-period.json", &[(6, "execution is 12 ms, more than its period of 10 ms")]),
    ("86-bound-best-effort.json", &[(5, "a best-effort task is bound to a core")]),
];
