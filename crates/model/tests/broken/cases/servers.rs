//! Clusters, orders with parameters, servers, changes.

use crate::Case;

pub const CASES: &[Case] = &[
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
            (25, "the sporadic server of POSIX may take more than its budget"),
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
];
