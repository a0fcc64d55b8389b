//! Which thread each task is: the one that is called like it, or the one that the file or the command names.

use crate::recording::{Recording, Thread};
use crate::translate::TranslateError;
use tactus_trace::View;

/// Which thread a task is, where it is not called like it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Named {
    /// The task's name.
    pub task: String,
    /// The thread's name or number; nothing where its group alone is named.
    pub thread: Option<String>,
    /// The name or number of its thread group (process); nothing where any will do.
    pub group: Option<String>,
}

/// Linux keeps this many bytes of a thread's name.
pub(crate) const NAME_BYTES: usize = 15;

/// The thread of each task.
pub(crate) fn threads(recording: &Recording, view: &View, named: &[Named]) -> Result<Vec<Thread>, TranslateError> {
    if let Some(it) = named.iter().find(|it| view.tasks.iter().all(|task| task.name != it.task)) {
        return Err(TranslateError::Thread(format!("there is no task {:?}; name one of the system file", it.task)));
    }
    let mut found: Vec<Thread> = Vec::new();
    for task in &view.tasks {
        let thread = Wanted::of(&task.name, named).find(recording)?;
        if let Some(other) = found.iter().position(|it| *it == thread) {
            let other = &view.tasks[other].name;
            return Err(TranslateError::Thread(format!(
                "thread {} is both task {other} and task {}; name another one for one of them",
                thread.0, task.name
            )));
        }
        found.push(thread);
    }
    Ok(found)
}

/// The thread that is looked for.
struct Wanted<'n> {
    task: &'n str,
    name: Option<&'n str>,
    group: Option<&'n str>,
    /// Whether somebody named it.
    named: bool,
}

impl<'n> Wanted<'n> {
    fn of(task: &'n str, named: &'n [Named]) -> Wanted<'n> {
        match named.iter().find(|it| it.task == task) {
            Some(Named { thread, group, .. }) => {
                Wanted { task, name: thread.as_deref(), group: group.as_deref(), named: true }
            }
            None => Wanted { task, name: Some(task), group: None, named: false },
        }
    }

    fn find(&self, recording: &Recording) -> Result<Thread, TranslateError> {
        if self.group.is_some() && recording.groups.is_empty() {
            return Err(TranslateError::Thread(format!(
                "task {} is named by its thread group, and the trace tells of none: name the thread alone, or record with `perf sched \
                 record`, or with `trace-cmd record -O record-tgid` and read the text of `trace-cmd report`",
                self.task
            )));
        }
        let number = self.name.filter(|_| self.named).and_then(|name| name.parse().ok()).map(Thread);
        if let Some(number) =
            number.filter(|number| recording.names.contains_key(number) && self.within(recording, *number))
        {
            return Ok(number);
        }
        let all = self.called(recording);
        match all[..] {
            [one] => Ok(one),
            [] => Err(TranslateError::Thread(self.none(recording))),
            _ => {
                let numbers: Vec<String> = all.iter().map(|thread| thread.0.to_string()).collect();
                Err(TranslateError::Thread(format!(
                    "the threads {} are {}; say which one task {task} is with --thread {task}=NUMBER",
                    numbers.join(", "),
                    self.description(),
                    task = self.task
                )))
            }
        }
    }

    /// Those that fit.
    fn called(&self, recording: &Recording) -> Vec<Thread> {
        let short = self.name.map(shortened);
        let those = |same: &dyn Fn(&str) -> bool| -> Vec<Thread> {
            let threads = recording.names.iter().filter(|(_, names)| names.iter().any(|name| same(name)));
            threads.map(|(thread, _)| *thread).filter(|thread| self.within(recording, *thread)).collect()
        };
        let Some(short) = short else { return those(&|_| true) };
        let exact = those(&|other| other == short);
        if !exact.is_empty() {
            return exact;
        }
        // rt-app numbers the threads of a task.
        those(&|other| {
            other.rsplit_once('-').is_some_and(|(before, number)| {
                before == short && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
            })
        })
    }

    /// Whether a thread is of the group that is wanted.
    fn within(&self, recording: &Recording, thread: Thread) -> bool {
        let Some(wanted) = self.group else { return true };
        let Some(group) = recording.groups.get(&thread) else { return false };
        let called = |names: &std::collections::BTreeSet<String>| names.contains(shortened(wanted));
        // A group has the number of its first thread.
        wanted.parse() == Ok(group.0) || recording.names.get(group).is_some_and(called)
    }

    fn description(&self) -> String {
        match (self.name, self.group) {
            (Some(name), None) => format!("called {:?}", shortened(name)),
            (Some(name), Some(group)) => format!("called {:?} in group {group:?}", shortened(name)),
            (None, group) => format!("in group {:?}", group.unwrap_or_default()),
        }
    }

    fn none(&self, recording: &Recording) -> String {
        let mut names: Vec<&str> = recording.names.values().flatten().map(String::as_str).collect();
        names.sort_unstable();
        names.dedup();
        let more = if names.len() > 20 { " …" } else { "" };
        names.truncate(20);
        format!(
            "no thread is {}; say which one task {task} is with --thread {task}=NAME, or in [linux]. There are: {}{more}",
            self.description(),
            names.join(", "),
            task = self.task
        )
    }
}

/// As Linux keeps a name.
fn shortened(name: &str) -> &str {
    let end = (0..=NAME_BYTES.min(name.len())).rev().find(|end| name.is_char_boundary(*end)).unwrap_or(0);
    &name[..end]
}
