//! The system, its tasks, their times and components.

use crate::Case;

pub const CASES: &[Case] = &[
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
            (13, "period is 0 ns, less than the shortest, 1 µs; lengthen it"),
            (14, "execution is 0 ns, less than the 1 µs that every job takes; raise it"),
        ],
    ),
    ("08-overflow.toml", &[(12, "period is \"99999999999999999999 s\", more than"), (18, "\"100000 s\", more than")]),
    ("09-too-fine.toml", &[(13, "execution is \"1000.5 ns\", finer than a nanosecond")]),
    ("10-period-too-short.toml", &[(11, "period is 500 ns, less than the shortest, 1 µs; lengthen it")]),
    (
        "11-execution-exceeds-period.toml",
        &[(14, "execution at level B is 12 ms, more than its period of 10 ms; lower it or lengthen the period")],
    ),
    (
        "1z-deadline-of-a-level.toml",
        &[(
            14,
            "deadline is 15 ms, more than its period of 10 ms, where jobs have levels; lower it to the period or less",
        )],
    ),
    (
        "12-deadline-exceeds-period.toml",
        &[
            (
                12,
                "deadline is 161 ms, so long that more than 16 jobs may be under way; lower it, or lengthen the period",
            ),
            (20, "a release is left out while the job before is in time; remove its overrun rule"),
            (28, "a job that stops goes on in its next period; remove its overrun rule"),
        ],
    ),
    ("13-execution-exceeds-deadline.toml", &[(14, "execution is 2 ms, more than its deadline of 1 ms")]),
    (
        "a8-minimum-exceeds-execution.toml",
        &[(12, "minimum is 3 ms, more than its execution time of 2 ms; lower it or raise execution")],
    ),
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
            (41, "it may have ticks and no brand to wire to one"),
            (47, "ticks is 99 µs, not between 100 µs, 50000 instructions, and 16 s"),
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
];
