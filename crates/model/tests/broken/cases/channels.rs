//! Channels between partitions.

use crate::Case;

pub const CASES: &[Case] = &[
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
    ("q9-channel-and-health.toml", &[
        (39, "nor read; choose another action than overrun = \"suspend-process\" in the health table of partition \"control\""),
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
];
