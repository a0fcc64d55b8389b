//! Jobs that wait in the middle of their work, against an oracle that sorts everything at every instant; and their bounds.

use crate::common::oracle::{compare, Case, Draw, LENGTH};
use std::fmt::Write;
use std::path::Path;
use tactus_model::System;
use tactus_record::{EventKind, Record};

/// By name; what orders jobs; whether cores share a queue.
const POLICIES: [(&str, char, bool); 7] = [
    ("partitioned-fp", 'p', false),
    ("partitioned-rm", 'r', false),
    ("partitioned-dm", 'm', false),
    ("partitioned-edf", 'd', false),
    ("global-fp", 'p', true),
    ("global-edf", 'd', true),
    ("partitioned-fifo", 'f', false),
];

/// One task of a drawn system; all times in milliseconds.
#[derive(Debug)]
struct Drawn {
    core: u64,
    offset: u64,
    period: u64,
    deadline: u64,
    time: u64,
    priority: u64,
    /// What the job has executed before each wait, how long that may be, and how long it is.
    waits: Vec<(u64, u64, u64)>,
    /// What it executes under a ceiling that reaches all tasks of its core.
    section: Option<(u64, u64)>,
}

struct Waits {
    system: System,
    order: char,
    global: bool,
    tasks: Vec<Drawn>,
}

/// A job: its release, its completion, what it has executed, and until when it waits.
#[derive(Clone, Default)]
struct Job {
    release: u64,
    end: Option<u64>,
    ran: u64,
    until: u64,
}

impl Case for Waits {
    fn draw(seed: u64) -> Waits {
        let mut draw = Draw(seed);
        let (kind, order, global) = POLICIES[draw.below(POLICIES.len() as u64) as usize];
        let cores = 1 + draw.below(if global { 3 } else { 2 });
        let sections = !global && order != 'f' && draw.below(3) == 0;
        let mut text = format!(
            "[system]\ncores = {cores}\nduration = '{LENGTH} ms'\nseed = {seed}\n[machine]\noverheads = false\n\
             [policy]\nkind = '{kind}'\n"
        );
        for core in (0..cores).filter(|_| sections) {
            write!(text, "[[resource]]\nname = 'r{core}'\nprotocol = 'non-preemptive'\n").expect("text");
        }
        let mut tasks = Vec::new();
        for n in 0..2 + draw.below(5) {
            let period = 6 + draw.below(85);
            let time = 1 + draw.below(1 + period / if seed % 2 == 0 { 8 } else { 3 });
            let mut waits: Vec<(u64, u64, u64)> = Vec::new();
            for _ in 0..draw.below(4) {
                let longest = 1 + draw.below(1 + period / 5);
                if time > 1 && longest <= period - time {
                    waits.push((1 + draw.below(time - 1), longest, 1 + draw.below(longest)));
                }
            }
            waits.sort_by_key(|wait| wait.0);
            waits.dedup_by_key(|wait| wait.0);
            let deadline = (time + draw.below(period - time + 1)).max(waits.iter().map(|it| it.1).max().unwrap_or(0));
            let (from, until) = (draw.below(time), time);
            let clear = waits.iter().all(|wait| wait.0 <= from || wait.0 >= until);
            let one = Drawn {
                core: draw.below(cores),
                offset: draw.below(period),
                period,
                deadline,
                time,
                priority: draw.below(5),
                waits,
                section: (sections && clear && from < until && draw.below(2) == 0).then_some((from, until)),
            };
            one.write(n as usize, (order == 'p', global), &mut text);
            tasks.push(one);
        }
        let system =
            System::parse_toml(&text, Path::new("drawn.toml")).unwrap_or_else(|problems| panic!("{problems}\n{text}"));
        Waits { system, order, global, tasks }
    }

    /// When each job of each task was completed (ms), by an oracle that advances a millisecond at a time.
    fn oracle(&self) -> Vec<Vec<Option<u64>>> {
        let cores = self.system.cores;
        let mut jobs: Vec<Vec<Job>> = self.tasks.iter().map(|_| Vec::new()).collect();
        for now in 0..LENGTH {
            for (n, task) in self.tasks.iter().enumerate() {
                if now >= task.offset && (now - task.offset) % task.period == 0 {
                    jobs[n].push(Job { release: now, ..Job::default() });
                }
            }
            let of = |core: Option<u64>| {
                let oldest = |n: usize| jobs[n].iter().position(|job| job.end.is_none()).map(|job| (n, job));
                let here = (0..self.tasks.len()).filter(|n| core.is_none_or(|core| self.tasks[*n].core == core));
                let mut ready: Vec<(usize, usize)> =
                    here.filter_map(oldest).filter(|(n, job)| jobs[*n][*job].until <= now).collect();
                ready.sort_by_key(|(n, job)| self.key(*n, &jobs[*n][*job]));
                ready
            };
            let chosen: Vec<(usize, usize)> = match self.global {
                true => of(None).into_iter().take(cores).collect(),
                false => (0..cores as u64).filter_map(|core| self.choose(&of(Some(core)), &jobs)).collect(),
            };
            for (n, job) in chosen {
                let (task, job) = (&self.tasks[n], &mut jobs[n][job]);
                job.ran += 1;
                if job.ran == task.time {
                    job.end = Some(now + 1);
                    continue;
                }
                if let Some(wait) = task.waits.iter().find(|wait| wait.0 == job.ran) {
                    job.until = now + 1 + wait.2;
                }
            }
        }
        jobs.into_iter().map(|all| all.into_iter().map(|job| job.end).collect()).collect()
    }

    fn system(&self) -> &System {
        &self.system
    }

    fn text(&self) -> String {
        format!("{:#?} by {}", self.tasks, self.order)
    }

    fn is_counted(record: &Record) -> bool {
        record.kind == EventKind::Wake
    }
}

impl Waits {
    fn key(&self, n: usize, job: &Job) -> (u64, usize) {
        let task = &self.tasks[n];
        let key = match self.order {
            'p' => 1_000 - task.priority,
            'r' => task.period,
            'm' => task.deadline,
            'd' => job.release + task.deadline,
            _ => job.release,
        };
        (key, n)
    }

    /// The first, but a job in the middle of its section goes on.
    fn choose(&self, ready: &[(usize, usize)], jobs: &[Vec<Job>]) -> Option<(usize, usize)> {
        let holds = |(n, job): &&(usize, usize)| {
            let ran = jobs[*n][*job].ran;
            self.tasks[*n].section.is_some_and(|(from, until)| from < ran && ran < until)
        };
        ready.iter().find(holds).or(ready.first()).copied()
    }
}

impl Drawn {
    fn write(&self, n: usize, (by_priority, global): (bool, bool), text: &mut String) {
        let Drawn { core, offset, period, deadline, time, priority, .. } = self;
        writeln!(text, "[[task]]\nname = 't{n}'\noffset = '{offset} ms'\nperiod = '{period} ms'").expect("text");
        writeln!(text, "deadline = '{deadline} ms'\nexecution = '{time} ms'").expect("text");
        if by_priority {
            writeln!(text, "priority = {priority}").expect("text");
        }
        if !global {
            writeln!(text, "core = {core}").expect("text");
        }
        let wait = |(after, length, actual): &(u64, u64, u64)| {
            format!("{{ after = '{after} ms', length = '{length} ms', actual = '{actual} ms' }}")
        };
        let waits: Vec<String> = self.waits.iter().map(wait).collect();
        writeln!(text, "waits = [{}]", waits.join(", ")).expect("text");
        if let Some((from, until)) = self.section {
            let length = until - from;
            writeln!(text, "sections = [{{ resource = 'r{core}', after = '{from} ms', length = '{length} ms' }}]")
                .expect("text");
        }
    }
}

#[test]
fn jobs_wait_as_in_an_oracle_and_no_bound_is_beaten() {
    let all = compare::<Waits>(0..500);
    println!("{all:?}");
    assert!(all.accepted > 50 && all.counted > 5_000, "{all:?}");
}

#[test]
#[ignore = "takes minutes; run by name"]
fn the_same_for_a_hundred_thousand_systems() {
    println!("{:?}", compare::<Waits>(1_000..103_000));
}
