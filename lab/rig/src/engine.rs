//! A run of the rig: a thread for each emulated processor, and the thread that called, which watches, checks, and ends
//! it.
//!
//! A run has stretches. At the end of each, all processors wait; when all do, all is quiet: hints are followed until
//! nothing moves any more, and then the most urgent tasks must run. Performance mode and a replay have one stretch.

use crate::any_machine::AnyMachine;
use crate::check::Broken;
use crate::faults::page_faults;
use crate::machine::{Machine, Processor};
use crate::measure::{Samples, Watch};
use crate::replay::Turns;
use crate::settings::{Mode, Problem, Settings, Source};
use crate::workload::{TaskSet, Workload};
use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use tactus_compared_structures::directory::Directory;
use tactus_compared_structures::queue::ReadyQueue;
use tactus_sync::Order;
use thread_priority::{RealtimeThreadSchedulePolicy, ThreadPriority, ThreadPriorityValue, ThreadSchedulePolicy};

/// How many stretches a run in testing mode has.
const STRETCHES: u64 = 10;

/// How often a processor that waits for another gives its core away and stays ready, where cores are scarce; then it sleeps.
const YIELDS: u32 = 20;

/// For how long it sleeps.
const NAP: Duration = Duration::from_micros(20);

/// A run that came to its end with nothing broken.
#[derive(Clone, Debug)]
pub struct Finished {
    /// By processor.
    pub samples: Vec<Samples>,
    /// How often everything was checked while the processors ran.
    pub checks: u64,
    /// How often all was quiet and the most urgent tasks ran.
    pub quiet: u64,
    /// How long it took.
    pub took: Duration,
    /// The time of the rig's clock that went by; none in a replay.
    pub emulated: Duration,
    /// The part of the time from the first cycle to the last in which all processors were at work: 1 where they were
    /// parallel throughout.
    pub together: f64,
    /// Whether each thread had a core of its own.
    pub bound: bool,
    /// Whether the threads were in the real-time class, or why not.
    pub real_time_class: Result<(), String>,
}

/// A run that did not.
#[derive(Clone, Debug)]
pub enum Failed {
    /// It could not begin.
    Problem(Problem),
    /// A rule was broken.
    Broken {
        /// Which.
        broken: Broken,
        /// How many checks had passed before.
        checks: u64,
        /// How many cycles the processors had had in all.
        cycles: u64,
    },
}

impl fmt::Display for Failed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failed::Problem(problem) => write!(f, "{problem}"),
            Failed::Broken { broken, checks, cycles } => {
                write!(f, "{broken} (found after {cycles} cycles and {checks} checks that passed)")
            }
        }
    }
}

impl std::error::Error for Failed {}

impl From<Problem> for Failed {
    fn from(problem: Problem) -> Failed {
        Failed::Problem(problem)
    }
}

/// What threads and watcher share.
struct Shared {
    settings: Settings,
    machine: Box<dyn AnyMachine>,
    /// Whether each processor has a core of its own.
    bound: bool,
    turns: Option<Turns>,
    task_set: Option<TaskSet>,
    /// By processor: cycles done.
    cycles: Vec<AtomicU64>,
    /// How often a processor was there: the first cycle waits for the last of them.
    present: AtomicU64,
    /// By processor: when its first cycle began and its last one ended, in ns after the start.
    spans: Vec<[AtomicU64; 2]>,
    /// How many processors wait at the end of a stretch, in all stretches together.
    arrived: AtomicU64,
    /// Up to which stretch the processors may go.
    stretch: AtomicU64,
    stretches: u64,
    /// How often everything was checked.
    checks: AtomicU64,
    stop: AtomicBool,
    start: Instant,
}

/// Runs the rig with these structures. `progress` is told which part of the run is done.
///
/// # Errors
/// If the run cannot begin, or a rule is broken.
pub fn run<D: Directory + 'static, Q: ReadyQueue + 'static>(
    settings: &Settings,
    progress: &mut dyn FnMut(f64),
) -> Result<Finished, Failed> {
    run_machine(|processors, tasks| Box::new(Machine::<D, Q>::new(processors, tasks)), settings, progress)
}

/// Makes a machine with so many processors and tasks.
type Make = fn(usize, usize) -> Box<dyn AnyMachine>;

fn run_machine(make: Make, settings: &Settings, progress: &mut dyn FnMut(f64)) -> Result<Finished, Failed> {
    let cores = available_cores();
    settings.check(cores.len())?;
    let testing = settings.mode == Mode::Testing;
    let mut tasks = settings.tasks;
    let turns = match &settings.source {
        Source::Random => None,
        Source::Tasks(set) => {
            tasks = set.len();
            None
        }
        Source::Trace(script) => {
            tasks = script.places;
            Some(Turns::new(script))
        }
    };
    // The events of a trace wait for one another across processors, so they cannot be cut by their number.
    let stretches = if testing && turns.is_none() { STRETCHES } else { 1 };
    let bound = !testing && settings.processors <= cores.len();
    let replays = turns.is_some();
    let shared = Arc::new(Shared {
        bound,
        machine: set_up(make, settings, tasks)?,
        turns,
        task_set: match &settings.source {
            Source::Tasks(tasks) => Some(TaskSet::new(tasks)),
            _ => None,
        },
        cycles: (0..settings.processors).map(|_| AtomicU64::new(0)).collect(),
        present: AtomicU64::new(0),
        spans: (0..settings.processors).map(|_| [AtomicU64::new(0), AtomicU64::new(0)]).collect(),
        arrived: AtomicU64::new(0),
        stretch: AtomicU64::new(0),
        stretches,
        checks: AtomicU64::new(0),
        stop: AtomicBool::new(false),
        start: Instant::now(),
        settings: settings.clone(),
    });
    if !testing {
        let all = rustix::mm::MlockAllFlags::CURRENT | rustix::mm::MlockAllFlags::FUTURE;
        rustix::mm::mlockall(all).map_err(|why| Problem::Lock(why.to_string()))?;
    }
    let mut threads = Vec::new();
    for me in 0..settings.processors {
        let shared = Arc::clone(&shared);
        // With more processors than cores, several share one: in the real-time class none of them loses it within a cycle.
        // Not those of a replay: they wait for one another in the middle of their work.
        let core = (!testing && (bound || !replays)).then(|| cores[me % cores.len()]);
        let builder = std::thread::Builder::new().name(format!("processor {me}")).stack_size(512 << 10);
        let thread = builder.spawn(move || shared.processor(me, core));
        threads.push(Some(thread.map_err(|why| Problem::Bind(why.to_string()))?));
    }
    let (tell, verdict) = std::sync::mpsc::channel();
    {
        let shared = Arc::clone(&shared);
        let checker = std::thread::Builder::new().name("checker".to_string());
        // Nobody joins it: where a structure is broken it may wait for ever.
        let checker = checker.spawn(move || {
            // The watcher may have gone.
            let _ = tell.send(check(&shared));
        });
        checker.map_err(|why| Problem::Bind(why.to_string()))?;
    }
    let result = watch(&shared, &mut threads, &verdict, progress);
    shared.stop.store(true, Ordering::Relaxed);
    if !testing {
        // Memory that stays locked would only be slower to get.
        let _ = rustix::mm::munlockall();
    }
    let (checks, quiet) = result?;
    let mut finished = Finished {
        samples: Vec::new(),
        checks,
        quiet,
        took: shared.start.elapsed(),
        emulated: match replays {
            true => Duration::ZERO,
            false => settings.cycle * u32::try_from(settings.cycles).unwrap_or(u32::MAX),
        },
        together: 0.0,
        bound,
        real_time_class: Ok(()),
    };
    for thread in threads.into_iter().flatten() {
        let done = thread.join().map_err(|why| shared.broken(crashed(why.as_ref()), checks))?;
        let (samples, class) = done?;
        finished.samples.push(samples);
        finished.real_time_class = finished.real_time_class.and(class);
    }
    let at = |n: usize| shared.spans.iter().map(move |span| span[n].load(Ordering::Relaxed));
    let whole = at(1).max().unwrap_or(0).saturating_sub(at(0).min().unwrap_or(0));
    let common = at(1).min().unwrap_or(0).saturating_sub(at(0).max().unwrap_or(0));
    finished.together = common as f64 / whole.max(1) as f64;
    Ok(finished)
}

/// Makes the machine, in a thread of its own: a broken structure may not come to an end even here.
fn set_up(make: Make, settings: &Settings, tasks: usize) -> Result<Box<dyn AnyMachine>, Failed> {
    let (tell, made) = std::sync::mpsc::channel();
    let processors = settings.processors;
    // Where nobody waits any more, nobody needs the machine.
    std::thread::spawn(move || tell.send(make(processors, tasks)).is_ok());
    made.recv_timeout(settings.patience).map_err(|why| {
        let broken = match why {
            RecvTimeoutError::Timeout => Broken::Stuck { cycles: Vec::new() },
            RecvTimeoutError::Disconnected => Broken::Crashed("while it was set up".to_string()),
        };
        Failed::Broken { broken, checks: 0, cycles: 0 }
    })
}

type Done = Result<(Samples, Result<(), String>), Problem>;

/// The cores that this program may use.
pub(crate) fn available_cores() -> Vec<usize> {
    let set = rustix::thread::sched_getaffinity(None).unwrap_or_default();
    let cores: Vec<usize> = (0..rustix::thread::CpuSet::MAX_CPU).filter(|core| set.is_set(*core)).collect();
    if cores.is_empty() {
        vec![0]
    } else {
        cores
    }
}

/// Waits until the checker says how the run went, or no processor and no check goes on any more. Gives how often all was
/// checked, running and quiet.
fn watch(
    shared: &Shared,
    threads: &mut [Option<JoinHandle<Done>>],
    verdict: &Receiver<Result<(), Broken>>,
    progress: &mut dyn FnMut(f64),
) -> Result<(u64, u64), Failed> {
    let checks = || shared.checks.load(Ordering::Relaxed);
    let mut last = (0, 0, Instant::now());
    loop {
        match verdict.recv_timeout(Duration::from_millis(20)) {
            Ok(Ok(())) => return Ok((checks(), shared.stretch.load(Ordering::Relaxed))),
            Ok(Err(broken)) => return Err(shared.broken(broken, checks())),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(shared.broken(Broken::Crashed("the checker".to_string()), checks()));
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        let cycles = shared.all_cycles();
        progress(cycles as f64 / shared.length() as f64);
        for thread in threads.iter_mut() {
            // A thread ends by itself when all is done, or by a crash.
            let done = shared.stretch.load(Ordering::Relaxed) == shared.stretches;
            if !done && thread.as_ref().is_some_and(JoinHandle::is_finished) {
                match thread.take().map(JoinHandle::join) {
                    Some(Ok(Err(problem))) => return Err(problem.into()),
                    Some(Err(why)) => return Err(shared.broken(crashed(why.as_ref()), checks())),
                    _ => {}
                }
            }
        }
        // Checks go on also where processors wait for one another for ever, so they do not count.
        let quiet = shared.stretch.load(Ordering::Relaxed);
        if (cycles, quiet) != (last.0, last.1) {
            last = (cycles, quiet, Instant::now());
        } else if last.2.elapsed() > shared.settings.patience {
            let cycles = shared.cycles.iter().map(|cycles| cycles.load(Ordering::Relaxed)).collect();
            return Err(shared.broken(Broken::Stuck { cycles }, checks()));
        }
    }
}

/// What the checker's thread does: in testing mode it looks at everything again and again; where all processors wait it
/// makes all quiet, and lets them go on.
fn check(shared: &Shared) -> Result<(), Broken> {
    let settings = &shared.settings;
    let mut order = Order::unlocked();
    let mut quiet = 0;
    while quiet < shared.stretches {
        std::thread::sleep(settings.check_every);
        if shared.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        if shared.arrived.load(Ordering::Acquire) == (quiet + 1) * settings.processors as u64 {
            settle(shared.machine.as_ref())?;
            quiet += 1;
            shared.stretch.store(quiet, Ordering::Release);
        } else if settings.mode == Mode::Testing {
            shared.machine.everything(&mut order)?;
            shared.checks.fetch_add(1, Ordering::Relaxed);
        }
    }
    Ok(())
}

/// All processors wait: follows hints in their place until nothing moves, and looks whether the most urgent tasks run.
fn settle(machine: &dyn AnyMachine) -> Result<(), Broken> {
    let mut processors: Vec<Processor> = (0..machine.processors())
        .map(|me| Processor {
            me,
            order: Order::unlocked(),
            watch: Watch::new(tactus_sync::stamp::Serialise::Lfence, false),
        })
        .collect();
    machine.everything(&mut processors[0].order)?;
    // Every move lets a more urgent task run, so this ends; the bound only keeps a broken structure from going on.
    for _ in 0..machine.tables().alive.len() + 2 {
        let mut moves = false;
        for processor in &mut processors {
            machine.serve(processor.me, &mut processor.order);
            moves |= machine.pull(processor);
            machine.serve(0, &mut processor.order);
            moves |= machine.push(processor);
            machine.serve(0, &mut processor.order);
        }
        if !moves {
            break;
        }
    }
    machine.everything(&mut processors[0].order)?;
    machine.most_urgent(&mut processors[0].order)
}

fn crashed(why: &(dyn std::any::Any + Send)) -> Broken {
    let words = why.downcast_ref::<String>().map(String::as_str).or(why.downcast_ref::<&str>().copied());
    Broken::Crashed(words.unwrap_or("without words").to_string())
}

impl Shared {
    fn all_cycles(&self) -> u64 {
        self.cycles.iter().map(|cycles| cycles.load(Ordering::Relaxed)).sum()
    }
    /// How many cycles the run has in all.
    fn length(&self) -> u64 {
        match &self.settings.source {
            Source::Random | Source::Tasks(_) => self.settings.cycles * self.settings.processors as u64,
            Source::Trace(script) => script.cores.iter().map(|events| events.len() as u64).sum::<u64>().max(1),
        }
    }
    fn broken(&self, broken: Broken, checks: u64) -> Failed {
        Failed::Broken { broken, checks, cycles: self.all_cycles() }
    }

    /// Waits until all processors are there for the `time`-th time.
    fn meet(&self, time: u64) {
        self.present.fetch_add(1, Ordering::Release);
        let all = time * self.settings.processors as u64;
        let mut rounds = 0;
        while self.present.load(Ordering::Acquire) < all && !self.stop.load(Ordering::Relaxed) {
            self.give_way(&mut rounds);
        }
    }

    /// One more round of waiting for another processor.
    fn give_way(&self, rounds: &mut u32) {
        *rounds += 1;
        if self.bound || *rounds < YIELDS {
            std::thread::yield_now();
        } else {
            // The one that is waited for may have no core: it gets this one for sure if nobody here wants it. In the
            // real-time class, giving way is for one's like only; elsewhere it is a hint.
            std::thread::sleep(NAP);
        }
    }

    /// What the thread of a processor does.
    fn processor(&self, me: usize, core: Option<usize>) -> Done {
        let settings = &self.settings;
        let mut class = Err("they are not bound".to_string());
        if let Some(core) = core {
            let mut set = rustix::thread::CpuSet::new();
            set.set(core);
            rustix::thread::sched_setaffinity(None, &set).map_err(|why| Problem::Bind(why.to_string()))?;
        }
        let watch = Watch::new(settings.serialise, settings.mode == Mode::Performance);
        let mut processor = Processor { me, order: Order::unlocked(), watch };
        let mut workload = Workload::new(settings, me);
        let machine = self.machine.as_ref();
        let total = match &settings.source {
            Source::Random | Source::Tasks(_) => settings.cycles,
            Source::Trace(script) => script.cores[me].len() as u64,
        };
        self.meet(1);
        if core.is_some() {
            // Not before all are there: whoever makes them must not wait for those that wait for it.
            class = enter_real_time_class(settings, self.bound);
            self.meet(2);
        }
        let begin = Instant::now();
        self.spans[me][0].store(self.start.elapsed().as_nanos() as u64, Ordering::Relaxed);
        let faults = page_faults();
        for stretch in 0..self.stretches {
            for cycle in total * stretch / self.stretches..total * (stretch + 1) / self.stretches {
                if self.stop.load(Ordering::Relaxed) {
                    return Ok((processor.watch.samples, class));
                }
                let now = settings.cycle.as_nanos() as u64 * cycle;
                if settings.real_time {
                    // Absolute times: a cycle that began late does not make the next one late.
                    let due = Duration::from_nanos(now);
                    std::thread::sleep(due.saturating_sub(begin.elapsed()));
                }
                self.machine.serve(me, &mut processor.order);
                processor.watch.turn(cycle);
                match (&settings.source, &self.turns) {
                    (Source::Trace(script), Some(turns)) => {
                        let event = &script.cores[me][cycle as usize];
                        let mut rounds = 0;
                        while !turns.is_due(event) {
                            if self.stop.load(Ordering::Relaxed) {
                                return Ok((processor.watch.samples, class));
                            }
                            self.give_way(&mut rounds);
                        }
                        turns.act(machine, &mut processor, event);
                    }
                    _ => match &self.task_set {
                        Some(set) => {
                            let each = (settings.processors, settings.cycle.as_nanos() as u64);
                            set.cycle(each, machine, &mut processor, now);
                        }
                        None => workload.cycle(settings, machine, &mut processor, now),
                    },
                }
                self.cycles[me].store(cycle + 1, Ordering::Relaxed);
            }
            self.spans[me][1].store(self.start.elapsed().as_nanos() as u64, Ordering::Relaxed);
            processor.watch.samples.faults = page_faults().saturating_sub(faults);
            self.arrived.fetch_add(1, Ordering::Release);
            while self.stretch.load(Ordering::Acquire) <= stretch && !self.stop.load(Ordering::Relaxed) {
                std::thread::sleep(Duration::from_micros(200));
            }
        }
        Ok((processor.watch.samples, class))
    }
}

/// The real-time class is for processors that sleep between cycles: others take their cores from everybody, so they enter it
/// only if told, and never where they share a core.
fn enter_real_time_class(settings: &Settings, bound: bool) -> Result<(), String> {
    if !(settings.real_time || settings.urgent && bound) {
        return Err("cycles follow one another without a pause, which would take the machine from everybody".into());
    }
    let priority = ThreadPriority::Crossplatform(ThreadPriorityValue::try_from(50_u8)?);
    let policy = ThreadSchedulePolicy::Realtime(RealtimeThreadSchedulePolicy::Fifo);
    let thread = thread_priority::thread_native_id();
    thread_priority::set_thread_priority_and_policy(thread, priority, policy).map_err(|why| format!("{why:?}"))
}
