//! Broken files, one kind of fault each: every one is refused on the line of the fault, in words that say what it is
//! and what to do.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use tactus_model::{Problem, System};

/// A file, and for each complaint the line that it must name and words that it must contain.
type Case = (&'static str, &'static [(usize, &'static str)]);

const CASES: &[Case] = &[
    ("01-not-toml.toml", &[(3, "this is not TOML")]),
    ("02-unknown-key.toml", &[(12, "key \"peroid\" is not known here; did you mean \"period\"?")]),
    ("03-unknown-table.toml", &[(9, "key \"machin\" is not known here; did you mean \"machine\"?")]),
    ("04-no-tasks.toml", &[(2, "\"task\" is missing; add a line like [[task]]")]),
    ("05-nothing.toml", &[(1, "\"system\" is missing"), (1, "\"policy\" is missing"), (1, "\"task\" is missing")]),
    (
        "06-not-a-time.toml",
        &[
            (12, "offset is 5; write a time like \"25 ms\""),
            (13, "period is \"10\"; write a time"),
            (14, "deadline is \"10 msec\"; write a time"),
        ],
    ),
    (
        "07-zero-and-negative.toml",
        &[
            (4, "duration is 0 ns, no time at all"),
            (12, "offset is \"-1 ms\", less than nothing"),
            (13, "period is 0 ns, less than the shortest, 100 µs; lengthen it"),
            (14, "execution is 0 ns, less than the 1 µs that every job takes; raise it"),
        ],
    ),
    ("08-overflow.toml", &[(12, "period is \"99999999999999999999 s\", more than"), (18, "\"100000 s\", more than")]),
    ("09-too-fine.toml", &[(13, "execution is \"1000.5 ns\", finer than a nanosecond")]),
    ("10-period-too-short.toml", &[(15, "period is 500 µs, less than the 640 µs that 10000 instructions take")]),
    (
        "11-execution-exceeds-period.toml",
        &[(14, "execution at level B is 12 ms, more than its period of 10 ms; lower it or lengthen the period")],
    ),
    ("12-deadline-exceeds-period.toml", &[(12, "deadline is 15 ms, more than its period of 10 ms; lower it")]),
    ("13-execution-exceeds-deadline.toml", &[(14, "execution is 2 ms, more than its deadline of 1 ms")]),
    ("a8-minimum-exceeds-execution.toml", &[(12, "minimum is 3 ms, more than its execution time of 2 ms; lower it or raise execution")]),
    ("14-mc2-deadline.toml", &[(12, "deadline is 8 ms, not its period of 10 ms, as MC² needs it; remove it")]),
    (
        "15-level-without-mc2.toml",
        &[
            (11, "a level is given, but policy \"partitioned-edf\" knows no levels; remove it"),
            (20, "times for levels are given, but policy"),
            (25, "its jobs are to take the time of a level, but the policy knows no levels"),
        ],
    ),
    ("16-mc2-without-level.toml", &[(9, "\"level\" is missing; add a line like level = \"C\"")]),
    (
        "17-missing-level-time.toml",
        &[(14, "execution at level B is missing; a task of level A needs its time at A, B and C")],
    ),
    ("18-levels-out-of-order.toml", &[(14, "execution at level C is 2 ms, more than the 1 ms at level B")]),
    ("19-core-missing.toml", &[(9, "\"core\" is missing; add a line like core = 0")]),
    ("20-core-out-of-range.toml", &[(11, "core is 2, not one of the system's cores, 0 to 1")]),
    ("21-core-not-wanted.toml", &[(12, "a core is given, but level C runs on any core; remove it")]),
    (
        "22-global-with-core.toml",
        &[(11, "a core is given, but policy \"global-edf\" runs a task on any core; remove it")],
    ),
    ("23-too-many-cores.toml", &[(3, "cores is 9, not between 1 and 8")]),
    ("24-duplicate-task.toml", &[(20, "task \"nav\" is there already, on line 10")]),
    (
        "25-bad-name.toml",
        &[
            (3, "name is \"../out\"; write a letter or digit"),
            (11, "name is \"flight control\""),
            (16, "name is \"\""),
            (21, "31 in all at most"),
        ],
    ),
    ("26-unknown-policy.toml", &[(7, "there is no policy \"partitioned-edff\"; did you mean \"partitioned-edf\"?")]),
    ("27-parameter-of-another-policy.toml", &[(8, "key \"slack-shifting\" is not known here; known are kind")]),
    ("28-unknown-component.toml", &[(11, "there is no component \"navigatoin\"; did you mean \"navigation\"?")]),
    ("29-unknown-service.toml", &[(18, "there is no service \"sensor.raed\"; did you mean \"sensor.read\"?")]),
    ("30-self-grant.toml", &[(19, "it is granted \"fix\" of its own; call the function directly")]),
    ("31-circular-grants.toml", &[(19, "in a circle: a → b → c → a; take one of these grants away")]),
    ("32-no-such-crate.toml", &[(17, "crate \"crates/missing\" has no Cargo.toml; name the folder")]),
    ("33-memory-too-small.toml", &[(4, "memory is 16 MiB, less than kernel and tasks need")]),
    (
        "34-memory-not-whole.toml",
        &[
            (4, "memory is 100000 KiB, not a whole number of MiB"),
            (12, "memory is \"64 KB\"; write a size like \"32 KiB\""),
        ],
    ),
    (
        "35-beta-impossible.toml",
        &[
            (11, "deviation is 0.6, outside what a beta distribution with mean 0.5 can have"),
            (17, "probability is 1.5, outside 0 to 1"),
            (23, "mean is 1, not between 0 and 1"),
        ],
    ),
    ("36-uniform-upside-down.toml", &[(11, "min is 2 ms, more than max, 1 ms; exchange the two")]),
    (
        "37-list-missing.toml",
        &[(11, "file \"lists/missing.txt\" cannot be read"), (17, "the number of times in \"lists/empty.txt\" is 0")],
    ),
    ("38-list-broken.toml", &[(4, "job time is \"2\"; write a time"), (5, "job time is \"0 ms\"; write a time")]),
    (
        "39-mixed-actual.toml",
        &[(11, "it mixes several ways to say it; write a time, or"), (17, "it says nothing; write")],
    ),
    ("40-first-deadline-after-the-end.toml", &[(11, "its first deadline is 1.005 s, after the end of the run at 1 s")]),
    ("41-too-many-tasks.toml", &[(1209, "the number of tasks is 241, more than 240; leave some out")]),
    ("42-impossible-instruction.toml", &[(10, "instruction is 3 ns, which no machine offers; choose one of 1, 2, 4")]),
    (
        "43-wrong-types.toml",
        &[
            (2, "[system] is 3; write a table"),
            (3, "kind is 1; write one of"),
            (3, "enforce is \"yes\"; write true or false"),
            (4, "task is \"none\"; write [[task]], in double brackets"),
            (5, "component number 1 is 1; write a table"),
        ],
    ),
    (
        "44-missing-keys.toml",
        &[
            (2, "\"cores\" is missing"),
            (2, "\"duration\" is missing"),
            (4, "\"kind\" is missing"),
            (6, "\"name\" is missing"),
            (6, "\"period\" is missing"),
            (6, "\"execution\" is missing"),
            (8, "\"name\" is missing"),
            (8, "\"crate\" is missing"),
        ],
    ),
    (
        "45-actual-level-absent.toml",
        &[(12, "its jobs are to take the time of level A, but it has no execution time there")],
    ),
    ("46-component-with-memory.toml", &[(12, "this task runs a component; remove it")]),
    (
        "47-rights.toml",
        &[
            (17, "threads is 25, more than 24"),
            (18, "brands is 33, more than 32"),
            (19, "interrupt line is 24, not between 0 and 23"),
            (24, "it has an interrupt line and no brand to wire to it"),
            (30, "interrupt line 4 is component \"b\"'s already"),
            (35, "console is \"yes\""),
            (36, "memory-manager is 1"),
        ],
    ),
    (
        "48-schedulers.toml",
        &[
            (18, "there is no component \"nobody\""),
            (23, "it has a parent, but is no scheduler"),
            (29, "its parent, component \"lone\", is no scheduler"),
            (52, "above it are 4 schedulers or more, the root among them, or they go in a circle"),
            (58, "above it are 4 schedulers or more, the root among them, or they go in a circle"),
        ],
    ),
    (
        "49-root-scheduler.toml",
        &[
            (10, "it is the root scheduler and runs a task"),
            (19, "it is the root scheduler and uses a service, but everybody calls it, and calls must not go"),
            (20, "it is the root scheduler and need not be said to be a scheduler"),
            (21, "it is the root scheduler and keeps the trace where others have memory mapped"),
            (22, "it is the root scheduler and has nobody above it"),
            (22, "it manages memory and would forget what it has given out"),
            (30, "its name stands for the root scheduler, which it is not"),
        ],
    ),
    (
        "50-restarts.toml",
        &[
            (17, "it is to restart itself, and does nothing once it is stopped"),
            (22, "its restarts are limited, but nobody may restart it"),
            (28, "restarts: most is 0, not between 1 and 1000"),
            (28, "restarts: per is 0 ns, no time at all"),
            (33, "there is no component \"rooot\"; did you mean \"root\"?"),
            (34, "restarts: key \"par\" is not known here; did you mean \"per\"?"),
            (40, "it manages memory and would forget what it has given out"),
        ],
    ),
    (
        "51-buffers.toml",
        &[
            (5, "[system]: pool is 10 KiB, no multiple of 16 KiB, a page of each colour"),
            (23, "it manages memory, as component \"a\" does"),
            (30, "size is 10 KiB, no whole number of pages"),
            (31, "it names a component twice, or the root scheduler"),
            (32, "\"b\" is to read it only, and does not see it"),
            (33, "colour is 4, not one of the machine's, 0 to 3"),
            (33, "colour 1 is named twice"),
            (36, "buffer \"frames\" is there already, on line 29"),
            (38, "there is no component \"c\"; did you mean \"a\"?"),
            (38, "the number of components that see it is 3, more than 2"),
            (40, "buffer number 3: \"name\" is missing"),
            (40, "the size of all buffers is 4106 KiB, more than 2 MiB"),
            (42, "buffer number 3: key \"betwen\" is not known here; did you mean \"between\"?"),
        ],
    ),
    (
        "52-nobody-manages-memory.toml",
        &[
            (5, "[system]: pool is 1 MiB, of no use, since no component manages memory"),
            (8, "[machine]: colours is 3, no power of two up to 64"),
            (22, "no component manages memory"),
        ],
    ),
    (
        "53-devices.toml",
        &[
            (22, "address is 0xfec00000, the kernel's own interrupt controller"),
            (27, "there is no component \"drivr\"; did you mean \"driver\"?"),
            (29, "address is 0x1000, not between 2 GiB and 4 GiB, where devices are"),
            (30, "size is 5 KiB, no whole number of pages up to 512 KiB"),
            (36, "bar is of no use for the kind \"virtio-net\""),
            (37, "dma is 1 MiB, no whole number of pages up to 508 KiB"),
            (39, "it is the same device as \"network\""),
            (44, "\"size\" is missing"),
            (48, "id is \"8086-100e\""),
            (49, "bar is 6, not between 0 and 5"),
            (54, "there is no kind of device \"virtio-bulk\"; did you mean \"virtio-blk\"?"),
        ],
    ),
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
        &[(6, "\"cpus\" would change from phase to phase"), (7, "\"policy\" would change from phase to phase")],
    ),
    (
        "73-priority-against-rate.json",
        &[(6, "priority is 20, above that of task \"fast\" (10), whose period of 10 ms")],
    ),
    ("74-mixed-classes.json", &[(10, "its policy SCHED_OTHER stands beside the fixed priority of task \"a\"")]),
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
        &[
            (5, "key \"polcy\" is not known here; did you mean \"policy\"?"),
            (10, "there is no policy \"SCHED_FIFOO\"; did you mean \"SCHED_FIFO\"?"),
            (12, "key \"periode\" is not known here; did you mean \"period\"?"),
            (15, "key \"globl\" is not known here; did you mean \"global\"?"),
        ],
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
    ("90-clusters.toml", &[(8, "a core of clusters is 1, not a core that is there and in no other")]),
    (
        "91-core-without-cluster.toml",
        &[
            (8, "core 3 is in no cluster; put each core into one of them"),
            (9, "quantum is 1 µs, less than the shortest, 50 µs; lengthen it"),
        ],
    ),
    (
        "92-cluster-of-a-task.toml",
        &[
            (10, "\"cluster\" is missing; add a line like cluster = 0"),
            (17, "cluster is 2, not one of the 2 clusters, counted from 0; choose one"),
            (23, "a core is given, but policy \"clustered-rr\" runs a task on any core of"),
            (30, "there is no server \"none\"; describe it in a [[server]] before the"),
        ],
    ),
    (
        "93-priority.toml",
        &[
            (9, "\"priority\" is missing; add a line like priority = 10"),
            (21, "clusters are given, but the policy is not clustered; remove them"),
            (33, "\"priority\" is missing; add a line like priority = 10"),
            (41, "a priority is given, but server \"sound\" does not order by priority;"),
            (42, "a cluster is given, but server \"sound\" has none; remove it"),
            (48, "priority is 2000000, more than 1000000; lower it"),
        ],
    ),
    (
        "94-quantum.toml",
        &[
            (13, "a quantum is given, but only rr, fp-rr and llf have one; remove it"),
            (21, "quantum is 1 µs, less than the shortest, 50 µs; lengthen it"),
            (28, "there is no overrun \"abort\"; choose one of \"continue\", \"skip\","),
        ],
    ),
    (
        "95-budgets.toml",
        &[
            (13, "budget is 11 ms, more than its period of 10 ms; lower it or lengthen"),
            (20, "alpha is 1.5, not between 0 and 1; choose a number between them"),
            (23, "it says its budget in two ways; give budget and period, or alpha and delta"),
            (30, "a server of kind pibs works for another one; give share = 0.04 and"),
            (37, "it says no budget; give budget and period, or alpha and delta, and"),
            (46, "budget is 1 µs, less than the shortest, 50 µs; lengthen it"),
            (49, "\"period\" is missing; add a line like period = \"10 ms\""),
        ],
    ),
    (
        "96-unknown-server.toml",
        &[
            (11, "there is no server \"all\"; describe it in a [[server]] before the"),
            (12, "there is no kind \"deferable\"; did you mean \"deferrable\"?"),
            (13, "there is no policy \"partitioned-edg\"; did you mean \"partitioned-edf\"?"),
            (19, "there is no server \"vidoe\"; did you mean \"video\"?"),
        ],
    ),
    (
        "97-servers-beside-mc2.toml",
        &[
            (9, "servers have no place beside MC², whose tasks have budgets of their"),
            (19, "\"overrun\" has no meaning under MC², whose levels tell all that;"),
        ],
    ),
    (
        "98-servers-in-a-global-policy.toml",
        &[
            (7, "policy \"global-edf\" has servers inside, which are bound to their"),
            (12, "server \"video\" has servers inside, which this order cannot compare;"),
        ],
    ),
    ("99-promised-too-much.toml", &[(16, "what servers are promised of core 1 up to this one is 1.1000, more")]),
    (
        "9a-core-of-a-server.toml",
        &[
            (21, "core is 1, not one of the cores of server \"video\"; choose one of them"),
            (29, "it has no cores; name some, or leave \"cores\" out"),
            (37, "core is 1, not one of the cores of server \"video\"; choose one of them"),
        ],
    ),
    ("9b-too-deep.toml", &[(48, "it lies more than 5 servers deep; put it into an outer one")]),
    (
        "9c-missing-keys-of-a-server.toml",
        &[
            (9, "\"name\" is missing; add a line like name = \"video\""),
            (9, "\"kind\" is missing; add a line like kind = \"cbs-hard\""),
            (9, "\"policy\" is missing; add a line like policy = \"partitioned-edf\""),
            (10, "cores is 3; write a list of cores like [0, 1]"),
            (12, "\"for\" is missing; add a line like for = \"video\""),
        ],
    ),
    (
        "9d-schedulers-per-server.toml",
        &[
            (10, "it is on several cores, and schedulers are \"per-server\"; make it a server for each core, with a line"),
            (25, "it lies in another server and loses budget while it has no work, which that one's scheduler cannot see"),
            (43, "it is more than three servers deep, and schedulers are \"per-server\"; make the tree flatter, or choose"),
        ],
    ),
    ("9e-schedulers-in-old-words.toml", &[(8, "there is no way to keep schedulers \"apart\"; did you mean \"per-server\"?")]),
    (
        "a0-changes.toml",
        &[
            (28, "it says neither add nor remove, nor whose values change; write one of"),
            (31, "it says add and remove at once; write one of"),
            (38, "there is no task or server \"nva\"; did you mean \"nav\"?"),
            (40, "it gives no new value; write execution = \"2 ms\", period, deadline or"),
            (47, "budget is given, but a task has no budget; remove it"),
            (52, "priority is given, but it is not ordered by priority; remove it"),
            (57, "budget is given, but what is added or removed keeps its values; remove it"),
            (65, "\"nav\" is not there by then; mend the order of the changes"),
            (74, "at is 150 ms, before the 200 ms of the change above; write changes in the order of their times"),
            (78, "at is 1 s, not before the end of the run at 1 s; ask for it earlier"),
            (84, "period is 10 µs, less than the shortest, 100 µs; lengthen it"),
        ],
    ),
    (
        "a1-variant-of-mc2.toml",
        &[(8, "locks chose among variants of MC² that only the study of its overheads measures now; remove it")],
    ),
    ("a2-priority-of-inner-servers.toml", &[(41, "priority is given, but it is not ordered by priority; remove it")]),
    (
        "a3-change-without-time.toml",
        &[(15, "\"at\" is missing; add a line like at = \"2 s\""), (17, "key \"wen\" is not known here")],
    ),
    (
        "a4-changes-of-schedulers-per-server.toml",
        &[(2, "the system changes while it runs, which several schedulers would have to agree upon, and schedulers are")],
    ),
    (
        "a5-changes-of-levels.toml",
        &[
            (24, "execution at level A is given, but the task has none; remove it"),
            (29, "execution at level B is 10 ns, less than the shortest, 1 µs; lengthen it"),
            (34, "priority is given, but it is not ordered by priority; remove it"),
            (39, "execution is given, but what is added or removed keeps its values; remove it"),
        ],
    ),
    (
        "a6-deadline-under-mc2.toml",
        &[
            (18, "deadline is given, but under MC² a deadline is the period; remove it"),
            (23, "execution at level A is given, but the task has none; remove it"),
        ],
    ),
    (
        "a7-changes-under-ones-own-root.toml",
        &[(
            5,
            "changes are made by the built-in root scheduler, but the system has one of its own; remove the changes",
        )],
    ),
    (
        "b1-released-by-itself.toml",
        &[(14, "it is released by a task that it releases itself, so that none ever begins; let a periodic task begin"), (22, "it is released by a task that it releases itself")],
    ),
    (
        "b2-after-nobody.toml",
        &[(21, "did you mean \"sense\"?")],
    ),
    (
        "b3-offset-of-an-arrival.toml",
        &[(22, "its first job comes when it is released, not at an offset; remove the offset")],
    ),
    (
        "b4-slower-than-what-releases-it.toml",
        &[(21, "its period of 20 ms is more than the 10 ms of \"sense\", which releases it: more and more jobs would wait; shorten it")],
    ),
    (
        "b5-after-on-another-core.toml",
        &[(21, "it belongs to core 1, and \"sense\", which releases it, to core 0; put both on one core")],
    ),
    (
        "b6-arrivals-of-a-periodic-task.toml",
        &[(14, "\"early\" is about arrivals, and time releases this task; remove it, or write release = \"sporadic\""), (15, "\"longest-distance\" is about arrivals")],
    ),
    (
        "b7-distances.toml",
        &[(23, "often")],
    ),
    (
        "b8-sporadic.toml",
        &[(15, "a longest distance of 5 ms is less than the least, its period; raise it"), (24, "a job that stops goes on in its next period, and it has no periods; choose another overrun rule"), (32, "\"after\" tells already what releases it; remove")],
    ),
    (
        "b9-sporadic-with-levels.toml",
        &[(8, "under policies with levels, time releases all tasks; make it periodic, or choose a policy without levels")],
    ),
    (
        "ba-sporadic-and-changes.toml",
        &[(8, "in a system that changes while it runs, time releases all tasks; make it periodic, or remove the changes")],
    ),
    (
        "bb-chains.toml",
        &[(33, "\"b\" drops early arrivals, so that some of its jobs have no predecessor's; let it delay them"), (34, "deadline is 0 ns, no time at all"), (37, "another chain has the same name; choose another one"), (38, "\"c\" is not released by \"b\", and no channel leads there; give \"c\" the line after = \"b\""), (43, "it has 1 tasks; name from 2 to 64 tasks"), (48, "\"d\"")],
    ),
    (
        "bc-chain-of-jobs-that-never-end.toml",
        &[(30, "tasks"), (29, "\"name\" is missing"), (29, "\"deadline\" is missing")],
    ),
    (
        "bd-chain-with-kills.toml",
        &[(26, "\"a\" may have jobs that never end, so that no job of the next task follows; remove its overrun rule")],
    ),
    (
        "be-reclaiming.toml",
        &[
            (9, "it is of kind grub, but server \"poll\" on its core is polling; make that one grub, cbs-hard or cbs-soft"),
            (9, "it is of kind grub, but task \"beside\" on its core is in no server; put that task into a server of kind"),
            (24, "it is of kind grub and lies in another server, whose time comes in pieces; remove \"parent\", or choose"),
            (33, "it is of kind grub, but cores 1 and 2 share a queue; choose partitioned orders there"),
        ],
    ),
    (
        "p0-thresholds.toml",
        &[
            (14, "preemption-threshold is 4, less than its priority of 5; raise it"),
            (22, "preemption-threshold is 1000001, above every priority; lower it"),
            (31, "a job that others may not preempt goes on until it is complete; choose another overrun rule"),
        ],
    ),
    (
        "p1-threshold-without-priorities.toml",
        &[(13, "a preemption threshold is given, but its core does not order by priority; remove it, or choose")],
    ),
    (
        "p2-threshold-and-servers.toml",
        &[(23, "a preemption threshold is given in a system with servers")],
    ),
    (
        "p3-resources.toml",
        &[
            (10, "there is no protocol \"seiling\"; did you mean \"ceiling\"?"),
            (13, "resource \"bus\" is there already, on line 9; give each its own name"),
            (21, "\"length\" is missing; add a line like length = \"0.3 ms\""),
            (28, "sections is \"bus\"; write a list like [{ resource = \"bus\", after = \"1 ms\", length = \"0.3 ms\" }]"),
        ],
    ),
    (
        "p4-resource-of-two-cores.toml",
        &[(26, "its protocol keeps off only who is on the same core; put all that use it on one core")],
    ),
    (
        "p8-protocols.toml",
        &[
            (10, "protocol \"mrsp\" is refused: a job that waits would have to do the holder's work on its own core"),
            (14, "there is no protocol \"inheritence\"; did you mean \"inheritance\"?"),
            (15, "there is no overrun \"kill\"; choose \"continue\" or \"withdraw\""),
        ],
    ),
    (
        "p9-inheritance-beside-ceilings.toml",
        &[(28, "\"table\" keeps jobs from beginning, on a core where jobs that have begun may wait for \"bus\"; choose one")],
    ),
    (
        "pa-nested-across-cores.toml",
        &[(23, "\"buffer\" is used on several cores, and one section lies inside another; no test here bounds that; take one")],
    ),
    (
        "p5-sections.toml",
        &[
            (21, "there is no resource \"buss\"; did you mean \"bus\"?"),
            (22, "it ends when the job has executed 5 ms, and a job executes 4 ms at most; shorten it"),
            (23, "length is 500 ns, less than the 1 µs that a section takes at least; raise it"),
            (25, "it begins in the section on \"bus\" and ends outside, or both are the same time; let one lie inside"),
            (32, "a job that others may not preempt goes on until it is complete; choose another overrun rule"),
            (35, "\"bus\" is held already there; remove the inner section"),
        ],
    ),
    (
        "p6-lock-order.toml",
        &[(36, "\"a\" is taken inside \"c\", and elsewhere \"c\" inside \"a\"; take resources in one order everywhere")],
    ),
    (
        "p7-sections-on-a-shared-queue.toml",
        &[(16, "critical sections are given, and its policy knows none; choose partitioned-fp, partitioned-rm,")],
    ),
    ("b0-disks.toml", &[
        (17, "there is no drive \"source-10\"; did you mean \"source-10k\"?"),
        (29, "there is no drive \"floppy\"; known are source-10k, atlas-10k, cheetah-15k7"),
        (30, "there is no queue \"gmatrix\"; did you mean \"g-matrix\"?"),
        (31, "there is no map \"direct\"; did you mean \"directed\"?"),
        (37, "look-ahead is 9, not between 1 and 6; choose one of these; more than 4 cost time in each decision"),
        (38, "client is 3; write [[disk.client]], in double brackets, once for each"),
        (40, "\"client\" is missing; add a line like [[disk.client]], once for each client"),
        (41, "disk \"ahead\" is there already, on line 35; give each its own name"),
        (44, "a look-ahead is given, but queue \"edf\" has none; remove it"),
        (46, "\"name\" is missing; add a line like name = \"log\""),
        (46, "\"client\" is missing; add a line like [[disk.client]], once for each client"),
        (47, "key \"drives\" is not known here; did you mean \"drive\"?"),
    ]),
    ("b1-disk-clients.toml", &[
        (21, "start is 100 KiB, not a whole number of 128 KiB; write 128 KiB"),
        (22, "extent is 0 B, not a whole number of 128 KiB, 1 or more; write 128 KiB"),
        (23, "size is 1000 B, not a whole number of 512 B, 1 or more; write 1 KiB"),
        (26, "\"period\" is missing; add a line like period = \"50 ms\", or best-effort = 1"),
        (27, "client \"a\" is there already, on line 20; give each its own name"),
        (29, "the end of its extent is 102401 MiB, beyond the 8984448 KiB of drive atlas-10k; shorten it, or start earlier"),
        (30, "size is 256 KiB, more than a granule, 128 KiB; divide the request"),
        (31, "places is 0, not between 1 and the 819200 granules of its extent (1024 at most); choose fewer, or a longer extent"),
        (37, "places is 9, not between 1 and the 8 granules of its extent (1024 at most); choose fewer, or a longer extent"),
        (39, "best-effort is 65, not between 1 and 64; choose one of these"),
        (40, "it is best-effort and has period as well; remove one of the two; best-effort requests are promised nothing"),
        (48, "period is 10 µs, less than the shortest, 100 µs; lengthen it"),
        (55, "offset is 2 s, after the end of the run at 1 s; begin earlier or run longer"),
        (57, "deadline is 1 s, more than 16 periods; choose one in between"),
        (74, "its extent overlaps that of client \"e\", and one of the two writes; give each its own extent, or let both only read"),
        (81, "deadline is 0 ns, no time at all; choose one in between"),
        (83, "\"name\" is missing; add a line like name = \"recorder\""),
        (83, "\"extent\" is missing; add a line like extent = \"64 MiB\""),
        (83, "\"size\" is missing; add a line like size = \"8 KiB\""),
        (83, "\"period\" is missing; add a line like period = \"50 ms\", or best-effort = 1"),
        (84, "start is 5; write a size like \"32 KiB\" (units: B, KiB, MiB, GiB)"),
    ]),
    ("b2-disk-places.toml", &[
        (15, "the number of places of all clients is 1025, more than the 1024 that a map is surveyed for; lower places"),
    ]),
    ("b3-disk-service.toml", &[
        (43, "size is 96 KiB, no power of two; choose 64, 128, 256 or 512 KiB"),
        (49, "write-cache is 17, more than 16; lower it: a flush takes as many writes"),
        (50, "tolerated is 9, more than 8; lower it: each lengthens all bounds"),
        (50, "failed is 1, less than 2; choose 2 or more, or leave it out: one request in so many"),
        (50, "short is 0, less than 2"),
        (50, "silent is 1, less than 2"),
        (50, "unasked is 1, less than 2"),
        (50, "power-cuts is 10 ms, less than 100 ms, of which the power is away for half; lengthen it"),
        (58, "there is no buffer \"smal\"; did you mean \"small\"?"),
        (66, "\"per\" is missing; add a line like per = \"100 ms\""),
        (67, "its buffer is 8 KiB, less than a page of requests, one of answers and one request's data; raise its size to 12 KiB"),
        (75, "budget is 20 ms, not between nothing and 10 ms, within which it is; choose a part of it"),
        (77, "buffer \"others\" is not shared, for both to write, by the component that serves the disk; name that component and the client's in its between, and no reader"),
        (85, "a budget is given, but it limits best-effort requests of a component; remove it, or write best-effort and buffer"),
        (87, "its buffer is that of disk \"one\", client \"c\" already; give it its own"),
        (87, "buffer \"others\" is not shared, for both to write, by the component that serves the disk"),
        (95, "\"budget\" is missing; add a line like budget = \"20 ms\""),
        (100, "component \"block\" serves disk \"one\" already; describe one component for each disk; they may have one crate"),
        (101, "the power is to go, but the drive has no write cache that could lose anything; write write-cache = 2, or remove power-cuts"),
        (101, "key \"lost\" is not known here"),
        (113, "component \"idle\" is to serve it and has no task in which it could; add a [[task]] with component = \"idle\""),
        (125, "there is no component \"blok\"; did you mean \"block\"?"),
        (144, "its buffer is that of disk \"one\", client \"b\" already; give it its own"),
        (144, "its requests come by a buffer, but no component serves the disk; write component = \"block\" in its [[disk]]"),
    ]),
    ("b4-disk-memory.toml", &[
        (30, "what its component keeps of its bytes is 2 MiB, more than 480 KiB; give that component a [[device]] of kind \"virtio-blk\", or lower places, size or write-cache"),
    ]),
    ("c0-windows-overlap.toml", &[(18, "its window on core 0 from 4 ms to 8 ms overlaps that of partition \"one\" from 0 ns to 5 ms (line 13); shorten or move one of them")]),
    ("c1-window-outside-the-frame.toml", &[(13, "the end of a window is 23 ms, after the end of the major frame of 20 ms")]),
    ("c2-task-of-no-partition.toml", &[(15, "it is of no partition, and so has no time; add a line like partition = \"display\"")]),
    ("c3-window-on-no-core.toml", &[(13, "the core of a window is 2, not one of the system's cores, 0 to 1")]),
    ("c4-frame-and-period.toml", &[(13, "period is 15 ms, of which the major frame of 20 ms is not a multiple")]),
    ("c5-duration-not-given.toml", &[(14, "from 10 ms to 20 ms its windows on core 0 are 0 ns together, less than its duration of 5 ms")]),
    ("c6-no-windows.toml", &[(13, "it has no windows, and so no time")]),
    ("c7-window-too-short.toml", &[(13, "the length of a window is 10 µs, less than the shortest, 50 µs")]),
    ("c8-no-frame.toml", &[(7, "\"major-frame\" is missing; add a line like")]),
    ("c9-frame-longer-than-the-run.toml", &[(8, "major-frame is 2 s, longer than the run of 1 s")]),
    ("ca-unknown-partition.toml", &[(17, "there is no partition \"on\"; did you mean \"one\"?")]),
    ("cb-server-beside-partitions.toml", &[(15, "servers have no place beside partitions")]),
    ("cc-server-of-a-task.toml", &[(17, "a server is given, but time belongs to partitions")]),
    ("cd-change-of-partitions.toml", &[(21, "the table of windows stays as it is while the system runs")]),
    ("ce-global-in-a-partition.toml", &[(12, "tasks of a partition stay on their cores")]),
    ("cf-core-without-window.toml", &[(18, "core is 2, not one of the cores of partition \"one\"")]),
    ("d0-late-but-critical.toml", &[(14, "it starts after the less critical partition \"two\"")]),
    ("d1-starts-after-the-run.toml", &[(16, "its first deadline is 1.02 s, after the end of the run at 1 s; lower start-frame")]),
    ("d2-criticality.toml", &[(13, "there is no criticality \"F\"; did you mean \"A\"?")]),
    ("d3-after-in-another-partition.toml", &[(29, "what releases it is in partition \"one\", whose windows are others")]),
    ("d4-two-partitions-of-one-name.toml", &[(16, "partition \"one\" is there already, on line 11")]),
    ("d5-keys-of-a-window.toml", &[(13, "\"length\" is missing; add a line like length = \"5 ms\""), (13, "partition \"one\": window 2")]),
    ("d6-too-late-a-start.toml", &[(13, "start-frame is 2000000, more than 1000000")]),
    ("d7-half-a-promise.toml", &[(13, "\"duration\" is missing")]),
    ("d8-partition-elsewhere.toml", &[(9, "it has windows of its own, but policy \"partitioned-edf\" knows none"), (16, "it names a partition, but the policy knows none")]),
    ("da-schedules.toml", &[
        (11, "the frame of a switch is 0, not after frame 0, where the schedule before begins; give switches in the order of"),
        (12, "schedule \"day\" holds already in frame 5; remove the switch, or name another schedule"),
        (13, "there is no schedule \"nigh\"; did you mean \"night\"?"),
        (14, "\"schedule\" is missing; add a line like schedule = \"approach\""),
        (9, "no partition has a window in schedule \"night\"; give some, like"),
        (22, "there is no schedule \"nigth\"; did you mean \"night\"?"),
    ]),
    ("db-windows-of-a-schedule-overlap.toml", &[(24, "its window on core 0 from 4 ms to 9 ms overlaps that of partition \"one\" from 0 ns to 5 ms (line 16)")]),
    ("dc-load.toml", &[
        (17, "one component is loaded late, and it has none or several; give it one, or remove load"),
        (30, "it starts with the system; give it a start-frame, or remove load"),
    ]),
    ("f0-floating-point.toml", &[
        (13, "it is the root scheduler and is entered by the kernel at any time; compute in another component"),
        (19, "it has floating point and is a scheduler, which the kernel enters at any time; compute in another"),
        (25, "it has floating point and makes brands, whose upcalls come in the middle of its own work; receive in another"),
        (30, "floating-point is \"sse2\""),
    ]),
    ("f1-heap.toml", &[
        (12, "heap is 1 GiB, more than 32 MiB; lower it"),
        (17, "heap is 65536; write a size like \"32 KiB\""),
    ]),
    ("w0-waits.toml", &[
        (13, "it comes when the job has executed 0 ns, and a job executes 2 ms at most; let it begin after some"),
        (20, "it comes when the job has executed 2 ms, and a job executes 2 ms at most"),
        (27, "length is 11 ms, more than its deadline of 10 ms; shorten it"),
        (34, "length is 100 ns, less than the 1 µs that a wait takes at least; raise it"),
        (41, "two waits come when the job has executed 1 ms; write one as long as both"),
        (49, "its jobs wait and are stopped when their time is used up; choose another overrun rule"),
    ]),
    ("w1-wait-keys.toml", &[
        (13, "waits"),
        (20, "key \"at\" is not known here"),
        (20, "\"after\" is missing; add a line like after = \"1 ms\""),
    ]),
    ("w2-wait-in-a-section.toml", &[(18, "the job holds \"bus\" there, and nobody waits while others wait for what it holds")]),
    ("w3-waits-and-levels.toml", &[(14, "its jobs wait, and its policy knows none that do; choose a policy without levels")]),
    ("w4-waits-by-laxity.toml", &[(14, "the laxity of a job that waits says nothing; choose another order")]),
    ("w5-wait-and-threshold.toml", &[(15, "its jobs wait and hold a preemption threshold from their first dispatch to their end")]),
    ("r0-interrupts.toml", &[
        (26, "interrupt is 24, not between 0 and 23"),
        (34, "interrupt line 5 is for brands of \"driver\"; remove it from \"lines\", or choose another"),
        (42, "interrupt lines come to core 0; put it on core 0 or into its cluster, or choose a global policy"),
        (50, "interrupt line 6 releases task \"far\" already; leave it to one of them"),
        (58, "its component may be restarted, and nobody would set its device up again; remove \"restarted-by\""),
        (65, "the built-in workload serves no device; give it a component of your own"),
        (73, "\"interrupt\" and \"release\" both tell what releases it; remove one"),
        (83, "the device of an interrupt without a job is not served, and its line stays silent; let it be delayed"),
    ]),
    ("r1-messages.toml", &[
        (46, "\"ordres\""),
        (54, "its component is not one of the two that see \"orders\""),
        (62, "a channel is written by both sides, and one may only read \"frames\"; remove \"read-only\" from the buffer"),
        (70, "\"one\" has jobs on another core, those of \"sends\""),
        (77, "the built-in workload receives no messages; give it a component of your own"),
    ]),
    ("r2-bursts.toml", &[
        (18, "\"jitter\" is about arrivals, and time releases this task"),
        (26, "jitter is 200 ms, so long that more than 16 arrivals may come at once"),
        (27, "least-distance is 20 ms, more than its period of 10 ms; lower it"),
        (34, "arrivals of \"bursts\" come in bursts, and so do its completions"),
        (35, "\"jitter\" is about arrivals from outside, and another task's completions release it; remove it"),
        (43, "without jitter a period lies between arrivals; remove it, or give a jitter"),
    ]),
    ("q0-channel-keys.toml", &[
        (23, "\"kind\" is missing; add a line like kind = \"sampling\""),
        (23, "\"source\" is missing"),
        (23, "\"destinations\" is missing"),
        (23, "\"size\" is missing"),
        (25, "key \"dept\" is not known here; did you mean \"depth\"?"),
    ]),
    ("q1-channel-kinds.toml", &[
        (25, "kind is \"sampled\"; write \"sampling\" or \"queuing\""),
        (31, "\"refresh-period\" is missing; add a line like refresh-period = \"50 ms\""),
        (45, "it keeps the newest message alone; remove \"depth\", or choose the other kind"),
        (47, "\"depth\" is missing; add a line like depth = 8"),
        (60, "every message of a queue is taken, however old; remove \"refresh-period\", or choose the other kind"),
        (70, "it keeps the newest message alone; remove \"messages\""),
    ]),
    ("q2-channel-ends.toml", &[
        (27, "it has 0 destinations; name from 1 to 16 tasks"),
        (35, "it has 2 destinations; name one: each message of a queue is taken by one task; or make a channel for each"),
        (43, "\"a\" and its source are of one component, which shares its memory; use a static of the component"),
        (50, "there is no task of a channel \"A\"; did you mean \"a\"?"),
        (59, "there is no task of a channel \"bb\"; did you mean \"b\"?"),
        (67, "the component of \"b\" has another port \"h\"; give it another name: { task = "),
    ]),
    ("q3-channel-sizes.toml", &[
        (28, "size is 0 B, not between 1 B and 8 KiB; choose the length of its longest message"),
        (36, "size is 9 KiB, not between 1 B and 8 KiB"),
        (45, "depth is 0, not between 1 and 512"),
        (53, "depth is 513, not between 1 and 512"),
        (62, "messages is 0, not between 1 and 512"),
        (70, "more than the 960 KiB of a channel; lower its depth or its size"),
    ]),
    ("q4-channel-names.toml", &[
        (32, "another channel has the same name; choose another one"),
        (40, "name is \"a channel\"; write a letter or digit"),
        (50, "the component of \"a\" has another port \"c\""),
        (58, "the length of a port's name is 0, not between 1 and 24 bytes; name the port"),
        (66, "the length of a port's name is 31, not between 1 and 24 bytes"),
    ]),
    ("q5-channel-times.toml", &[
        (29, "refresh-period is 0 ns, no time at all; raise it"),
        (38, "latency is 0 ns, no time at all; raise it"),
    ]),
    ("q6-channel-forms.toml", &[
        (26, "a port is 7; write the name of a task, or a table like"),
        (35, "destinations is \"b\"; write a list like"),
        (43, "key \"tsk\" is not known here; did you mean \"task\"?"),
        (50, "port is 4; write a name in quotes"),
    ]),
    ("q7-channel-and-changes.toml", &[
        (31, "a channel joins two of its tasks, and one that is removed answers nobody; remove the change, or channel \"c\""),
    ]),
    ("q8-channel-of-jobs-that-never-end.toml", &[
        (28, "\"b\" may have jobs that never end, and so neither write nor read; remove its overrun rule"),
    ]),
    ("qa-services.toml", &[
        (49, "order is \"deadline\"; write \"turns\", \"priority\" or \"slots\""),
        (54, "the length of its name is 22, more than 20 bytes; shorten it"),
        (66, "requests is 65, not between 1 and 64; say how many a job of the server serves"),
        (75, "size is 8 KiB, not between 1 B and"),
        (81, "\"late\" may have jobs that never end, and so neither ask nor serve; remove its overrun rule"),
        (89, "its server and a client are of one component, which shares its memory; call a function of it"),
        (97, "\"b\" and another client are of one component; put them into one list"),
        (105, "the number of its clients is 0, not between 1 and 32, each of one task at least; name its clients"),
        (116, "latency is 6 s, not between 1 ns and 255 periods of each client; say how long"),
        (121, "time does not release \"next\"; name a periodic task"),
        (136, "\"a\" serves another service already; name another task"),
        (145, "there is no client \"c\"; did you mean"),
    ]),
    ("qb-service-forms.toml", &[
        (15, "\"name\" is missing; add a line like name = \"storage\""),
        (15, "\"server\" is missing"),
        (15, "\"order\" is missing"),
        (15, "\"size\" is missing"),
        (15, "\"latency\" is missing"),
        (16, "clients is \"b\"; write a list like clients = [\"control\""),
    ]),
    ("qc-service-policy.toml", &[
        (21, "requests are promised an answer where the server has windows of its own; write kind"),
    ]),
    ("e0-colours.toml", &[
        (13, "[kernel]: colour is 4, not one of the machine's, 0 to 3; choose another, or write more colours in [machine]"),
        (20, "colour 1 is named twice; remove one"),
        (28, "its memory is that of component \"b\", and so are its colours; write colours there"),
        (35, "it names no colour, and nothing can be without memory; name one, or remove the line"),
        (52, "colours is \"all\"; write a list of colours like [0, 1]"),
        (58, "colour 3 is of none of those that share it; choose one of theirs, or give it to one of them"),
        (60, "its dma has 2 pages in one piece, and the longest row of its driver's colours is 1; give the driver more colours in a row"),
    ]),
    ("e1-no-colour-left.toml", &[(20, "every colour is somebody's, and none is left for the scheduler and for whatever names none; leave one unnamed")]),
    ("e2-colours-from-nothing.toml", &[
        (10, "colours are to come from a geometry, and there is none; add a line like geometry = \"i7-2600\""),
        (17, "colour is 1, more than there are: memory has one colour"),
    ]),
    ("e3-no-such-machine.toml", &[
        (10, "there is neither a machine \"i7-2700\" nor such a file; take one of i7-2600, ryzen-7-7700,"),
        (11, "colours is \"from geometrie\"; write a whole number or \"from geometry\""),
        (14, "key \"colors\" is not known here; did you mean \"colours\"?"),
    ]),
    ("e6-misses.toml", &[
        (12, "its budget is one of misses, and nothing says how fast a core may ask for lines; add a line like memory-line = \"30 ns\""),
        (16, "\"misses\" is missing; add a line like misses = 2000"),
        (16, "\"period\" is missing; add a line like period = \"1 ms\""),
        (21, "its budget is one of misses, and it has one of time as well; leave misses and period"),
        (32, "only a server of kind misses has a budget of misses; choose that kind, or remove it"),
    ]),
    ("e7-misses-limits.toml", &[
        (11, "miss-cost is 10 ns, less than memory-line, 30 ns"),
        (16, "misses is 0, none"),
        (23, "misses is 100000, more than the 33333 lines that memory serves in its period of 1 ms"),
        (31, "period is 500 µs, less than 800 µs, in which the counter is looked at 16 times; lengthen it"),
    ]),
    ("e8-misses-of-a-task.toml", &[(17, "misses is 100000, more than the 33333 lines that memory serves in its execution time of 1 ms; lower it")]),
    ("e9-misses-without-memory-line.toml", &[(14, "it has misses, and nothing says how fast a core may ask for lines; add a line like")]),
    ("ea-misses-cost.toml", &[(10, "miss-cost is given, but not how fast a core may ask for lines; add a line like memory-line = \"30 ns\"")]),
    ("eb-misses-inside.toml", &[
        (13, "it is of kind misses, and there are servers inside; put tasks into it"),
        (13, "and goes on without budget; remove \"background\""),
        (13, "and schedulers are \"per-server\", which see no counter; choose schedulers = \"single\""),
        (21, "which see no counter"),
        (21, "and lies in another server; remove \"parent\": the budget is one of the core"),
    ]),
    ("f0-caches-ways.toml", &[(10, "ways")]),
    ("e4-more-colours-than-the-machine-has.toml", &[(11, "page colours")]),
    ("e5-colours-no-power-of-two.toml", &[(11, "colours is 24, no power of two up to 64")]),
    ("fb-caches-threads.toml", &[(10, "9 threads of a core: give 1 to 8")]),
    ("fc-caches-power.toml", &[(10, "the page is 5000: give a power of two")]),
    ("fd-caches-clock.toml", &[(10, "0 cycles in a second: give")]),
    ("fe-caches-long-line.toml", &[(10, "8192 bytes of a line: give 8 to 4096")]),
    ("ff-caches-second.toml", &[(10, "the second level is inclusive and has 32768 bytes, the caches above it 65536: make it larger")]),
    ("fg-caches-slices.toml", &[(10, "has fewer than four sets: leave the index")]),
    ("fh-caches-busy.toml", &[(10, "give memory_busy at most that, or leave it out")]),
    ("f1-caches-sets.toml", &[(10, "the shared level: ")]),
    ("f2-caches-line.toml", &[(10, "the line")]),
    ("f3-caches-inclusive.toml", &[(10, "the shared level is inclusive")]),
    ("f4-caches-key.toml", &[(10, "unknown field `clock`")]),
    ("f5-caches-protocol.toml", &[(10, "unknown variant `MSI`")]),
    ("f6-caches-cores.toml", &[(10, "cores")]),
    ("f7-caches-page.toml", &[(10, "its pages have 16384 bytes, and the kernel's have 4096; write page = 4096 there")]),
    ("f8-caches-victim.toml", &[(10, "victim")]),
    ("f9-caches-hash.toml", &[(11, "the slice hash of the shared level keeps at most 32 apart")]),
    ("fa-caches-too-few-cores.toml", &[(10, "this machine has 4 processors, and the system has 8 cores; take a larger machine, or fewer cores")]),
    (
        "h0-health-table.toml",
        &[
            (17, "its restarts are told by the health table of partition \"told-twice\" too (line 47); remove restarted-by"),
            (23, "it would begin anew when it is stopped, and is to stay stopped; choose \"idle\" or \"restart\" for all"),
            (29, "it is to begin anew after this error, and to stay stopped after a fault; write fault = \"restart\""),
            (29, "its tasks do not all run one [[component]]"),
            (35, "a process that ends at its deadline is not held to its execution time too"),
            (41, "it says how the partition begins anew, which it never does; write fault = \"restart\", or remove"),
            (53, "its tasks do not all run one [[component]], which could be stopped or begin anew; let them, or choose"),
            (90, "its overrun rule is told by the health table of partition \"overrun-told-twice\" too (line 59)"),
        ],
    ),
    (
        "h1-health-words.toml",
        &[
            (14, "there is no fault \"ignore\""),
            (14, "there is no deadline-missed \"wait\""),
            (14, "overrun is 3; write one of \"note\", \"suspend-process\""),
            (14, "there is no start \"hot\""),
            (14, "key \"panics\" is not known here"),
            (20, "\"per\" is missing; add a line like per = \"1 s\""),
            (20, "its tasks do not all run one [[component]]"),
            (26, "health is \"restart\"; write a table with the keys fault"),
        ],
    ),
    ("h2-give-up.toml", &[(23, "the file has no component that the root scheduler restarts")]),
    ("d9-no-partitions.toml", &[(2, "\"partition\" is missing"), (10, "it is of no partition")]),
];

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/broken")
}

#[test]
fn every_kind_of_broken_file_is_refused_on_its_line_with_words_that_help() {
    let mut wrong = Vec::new();
    for (name, expected) in CASES {
        let problems = match System::read(&folder().join(name)) {
            Ok(_) => {
                wrong.push(format!("{name} was accepted"));
                continue;
            }
            Err(problems) => problems,
        };
        let found = |line: usize, words: &str| {
            let here = |p: &&Problem| p.place.is_some_and(|place| place.line == line);
            problems.iter().filter(here).any(|problem| problem.to_string().contains(words))
        };
        if problems.len() != expected.len() || !expected.iter().all(|(line, words)| found(*line, words)) {
            wrong.push(format!("{name} was refused with\n{problems}"));
        }
        for problem in &problems {
            let text = problem.to_string();
            // Where, what about it, and what to do, on one line.
            assert!(text.lines().count() == 1 && text.len() < 500, "{text}");
            assert!(text.starts_with(&format!("{}:", problem.file.display())), "{text}");
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn no_broken_file_is_left_out_of_the_table() {
    let listed: BTreeSet<String> = CASES.iter().map(|(name, _)| name.to_string()).collect();
    let entries =
        std::fs::read_dir(folder()).expect("the folder of broken files").map(|entry| entry.expect("an entry"));
    let files = entries.filter(|entry| entry.path().is_file());
    let there: BTreeSet<String> = files.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    assert_eq!(listed, there);
    assert!(listed.len() >= 30);
}

/// How many kinds of fault files with these beginnings hold: complaints that differ in more than numbers and names.
fn kinds(files: &[&str]) -> usize {
    let named = CASES.iter().filter(|(name, _)| files.iter().any(|begins| name.starts_with(begins)));
    let words = named.flat_map(|(_, complaints)| complaints.iter().map(|(_, words)| *words));
    let plain = words.map(|words| {
        let unquoted: String = words.split('"').step_by(2).collect();
        unquoted.chars().filter(|letter| !letter.is_ascii_digit()).collect::<String>()
    });
    plain.collect::<BTreeSet<_>>().len()
}

/// Releases, waits, resources, thresholds, floating point, heaps.
#[test]
fn what_is_not_periodic_is_refused_in_sixty_ways() {
    let arrivals =
        ["b1-released", "b2-after", "b3-offset", "b4-slower", "b5", "b6", "b7", "b8", "b9", "ba", "bb", "bc", "bd"];
    let found = kinds(&[&arrivals[..], &["p", "r", "w", "f0-floating", "f1-heap"]].concat());
    assert!(found >= 60, "{found}");
}

#[test]
fn thirty_kinds_of_faults_of_disks_and_more_are_refused() {
    let found = kinds(&["b0-disks", "b1-disk-clients", "b2-disk-places", "b3-disk-service", "b4-disk-memory"]);
    assert!(found >= 30, "{found}");
}

#[test]
fn thirty_kinds_of_faults_of_colours_and_caches_are_refused() {
    let caches: Vec<&str> = CASES.iter().map(|(name, _)| *name).filter(|name| name.contains("-caches-")).collect();
    let found = kinds(&["e0-", "e1-", "e2-", "e3-", "e4-", "e5-"]) + kinds(&caches);
    assert!(found >= 30, "{found}");
}

#[test]
fn a_file_of_another_name_or_that_is_not_there_or_not_text_is_refused() {
    let read = |path: &Path| System::read(path).expect_err("accepted").to_string();
    assert!(read(Path::new("system.yaml")).contains("neither .toml nor .json"));
    assert!(read(Path::new("missing.toml")).contains("cannot be read"));
    assert!(read(&std::env::temp_dir().join("nowhere/x.json")).contains("cannot be read"));
    let folder = std::env::temp_dir().join(format!("tactus-model-{}.toml", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a folder");
    assert!(read(&folder).contains("not an ordinary file"));
    let binary = folder.join("binary.toml");
    std::fs::write(&binary, b"[system]\ncores = \xff\n").expect("a file");
    assert!(read(&binary).contains("binary.toml:2: this is not UTF-8"), "{}", read(&binary));
    std::fs::remove_dir_all(&folder).expect("to be removed");
}

#[test]
fn forty_kinds_of_bad_input_about_partitions_are_refused() {
    let about =
        |words: &str| ["partition", "window", "major", "channel", "port", "health"].iter().any(|it| words.contains(it));
    let own = |name: &str, line: &str| name.starts_with(['q', 'h']) || about(line);
    let said = CASES.iter().flat_map(|(name, _)| {
        let text = std::fs::read_to_string(folder().join(name)).unwrap_or_default();
        let partitions = text.contains("kind = \"partitions\"") || text.contains("[[channel]]");
        let problems = System::read(&folder().join(name)).err().filter(|_| partitions);
        problems
            .into_iter()
            .flat_map(|it| it.iter().map(ToString::to_string).collect::<Vec<_>>())
            .map(move |it| (*name, it))
    });
    let kinds: BTreeSet<String> = said
        .filter_map(|(name, text)| {
            let words = text.splitn(3, ':').nth(2).unwrap_or(&text).to_owned();
            // What differs in names and numbers alone is of one kind.
            let plain = words.split('"').step_by(2).collect::<String>();
            own(name, &words).then(|| plain.chars().filter(|c| !c.is_ascii_digit()).collect())
        })
        .collect();
    println!("{} kinds", kinds.len());
    assert!(kinds.len() >= 40, "{} kinds: {kinds:#?}", kinds.len());
}
