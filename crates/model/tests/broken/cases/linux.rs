//! Threads on Linux.

use crate::Case;

pub const CASES: &[Case] = &[
    ("x0-linux.toml", &[
        (25, "[linux] steer: it is the thread of task control already: of names Linux keeps the first 15 bytes, and a thread is one task; name another thread, by its number if the names are alike"),
        (26, "[linux]: there is no task \"contro\"; did you mean \"control\"?"),
        (27, "[linux]: there is no task \"brake\"; name a task of this file"),
    ]),
    ("x1-linux-forms.toml", &[
        (31, "[linux] control is 812; write the thread's name in quotes, or a table like { name = \"worker\", group = \"engine\" }"),
        (32, "[linux] steer: group is 7; write the name or number of its process in quotes"),
        (33, "[linux] log: \"name\" is missing; add a line like name = \"worker\""),
    ]),
    ("x2-linux-names.toml", &[
        (24, "[linux] control: name is \" \"; write what Linux calls it: some letters, no line end, no zero"),
        (25, "[linux] steer: group is \"two\\nlines\"; write what Linux calls it: some letters, no line end, no zero"),
    ]),
];
