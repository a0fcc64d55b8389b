//! The rules for threads on Linux: each is of a task that there is, and of one only.

use crate::draft::{At, Draft, Given};
use crate::problem::{nearest, Collector, Complaint};
use crate::LinuxThread;
use std::collections::BTreeMap;
use tactus_time::TaskId;

/// Linux keeps this many bytes of a thread's name.
const NAME_BYTES: usize = 15;

/// The threads of tasks, as the file says.
pub(super) fn check(draft: &Draft, out: &mut Collector) -> Vec<LinuxThread> {
    let named = |name: &str| {
        draft.tasks.iter().position(|task| task.name.get().is_some_and(|at| at.value == name)).map(|n| TaskId(n as u16))
    };
    let mut threads = Vec::new();
    let mut known: BTreeMap<(Option<&str>, Option<&str>), &str> = BTreeMap::new();
    for thread in &draft.linux {
        let At { value: name, place } = &thread.task;
        let subject = format!("[linux] {}", name.chars().take(40).collect::<String>());
        let Some(task) = named(name) else {
            let tasks = draft.tasks.iter().filter_map(|task| task.name.get().map(|at| at.value.as_str()));
            let complaint = Complaint::UnknownName {
                what: "task",
                nearest: nearest(name, tasks),
                name: name.chars().take(40).collect(),
                remedy: "name a task of this file".into(),
            };
            out.add(*place, "[linux]", complaint);
            continue;
        };
        for (what, text) in [("name", &thread.name), ("group", &thread.group)] {
            if let Some(at) = text.get().filter(|at| !is_name(&at.value)) {
                let found = format!("{:?}", at.value.chars().take(40).collect::<String>());
                let expected = "what Linux calls it: some letters, no line end, no zero".into();
                out.add(at.place, &subject, Complaint::Malformed { what: what.into(), found, expected });
            }
        }
        let [short, group] = [&thread.name, &thread.group].map(|text| text.get().map(|at| shortened(&at.value)));
        if let Some(other) = known.insert((short, group), name).filter(|_| short.is_some() || group.is_some()) {
            let why = format!(
                "it is the thread of task {other} already: of names Linux keeps the first {NAME_BYTES} bytes, and a thread is one task"
            );
            out.refuse(*place, &subject, why, "name another thread, by its number if the names are alike");
        }
        let text = |given: &Given<String>| given.get().map(|at| at.value.clone());
        threads.push(LinuxThread { task, name: text(&thread.name), group: text(&thread.group) });
    }
    threads
}

fn is_name(name: &str) -> bool {
    !name.trim().is_empty() && !name.contains(['\n', '\r', '\0'])
}

fn shortened(name: &str) -> &str {
    let end = (0..=NAME_BYTES.min(name.len())).rev().find(|end| name.is_char_boundary(*end)).unwrap_or(0);
    &name[..end]
}
