//! Releases that are not periodic, resources and thresholds, waits, floating point, heaps.

use crate::Case;

pub const CASES: &[Case] = &[
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
        &[(15, "a longest distance of 5 ms is less than the least, its period; raise it"), (24, "a job that stops goes on in its next period, and it has no periods; remove its overrun rule"), (32, "\"after\" tells already what releases it; remove")],
    ),
    (
        "b9-sporadic-with-levels.toml",
        &[(8, "under policies with levels, time releases all tasks, without jitter; make it periodic, or choose a policy without levels")],
    ),
    (
        "ba-sporadic-and-changes.toml",
        &[(8, "in a system that changes while it runs, time releases all tasks, without jitter; make it periodic, or remove the changes")],
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
    ("f0-floating-point.toml", &[
        (13, "it is the root scheduler and is entered by the kernel at any time; compute in another component"),
        (19, "it has floating point and is a scheduler, which the kernel enters at any time; compute in another"),
        (25, "it has floating point and makes brands, whose upcalls come in the middle of its own work; receive in another"),
        (30, "floating-point is \"sse2\""),
    ]),
    ("f1-heap.toml", &[
        (12, "heap is 1 GiB, more than 32 MiB; lower it"),
        (17, "heap is 65536; write a size like \"32 KiB\""),
        (22, "its heap is in parts by colour, and it names fewer than two colours; write colours = [2, 3], say"),
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
        (18, "\"least-distance\" is about arrivals, and time releases this task"),
        (26, "jitter is 200 ms, so long that more than 16 arrivals may come at once"),
        (27, "least-distance is 20 ms, more than its period of 10 ms; lower it"),
        (34, "arrivals of \"bursts\" come in bursts, and so do its completions"),
        (35, "\"jitter\" is about arrivals from outside, and another task's completions release it; remove it"),
        (43, "without jitter a period lies between arrivals; remove it, or give a jitter"),
    ]),
    ("r3-jitter.toml", &[
        (15, "period and jitter tell the distances of its jobs; remove it, or write release = \"sporadic\""),
        (24, "a job that stops goes on in its next period, and with jitter a period may be short; remove its overrun rule"),
        (32, "arrivals of \"apart\" come in bursts, and so do its completions"),
        (41, "with overrun = \"skip\" a job that comes early is left out while the one before is in time; remove one of them"),
        (51, "\"raised-by\" is about arrivals, and time releases this task; remove it, or write release = \"sporadic\""),
    ]),
];
