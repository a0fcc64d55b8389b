//! A kernel for tests on the host. Each thread is one of the host's; a core runs one of them at a time, the others wait for
//! their turn. Time is a number that grows when a thread says that it works, or when all cores sleep.
//!
//! It does what `docs/kernel-calls.md` says of a dispatch, and nothing in between: threads are interrupted where they work
//! and where they leave the scheduler.

use std::cell::Cell;
use std::panic::{catch_unwind, resume_unwind, AssertUnwindSafe};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use tactus_rt::scheduler::ThreadRegion;
use tactus_sched::rt::abi::call::{Caller, IDLE, SWITCH_RETURN, SWITCH_UPCALL_DONE};
use tactus_sched::rt::abi::image::{role, NO_COMPONENT};
use tactus_sched::rt::abi::layout::MAX_CORES;
use tactus_sched::rt::abi::shared::{event, name, slot, ComponentCard, Region, TaskCard};
use tactus_sched::rt::calls::{Error, SchedulerOperation};
use tactus_sched::{Clock, Core, Cycles, Kernel, Scheduler, Thread, ThreadScheduler};

/// The component in which all test threads are at home.
pub const CLIENT: u16 = 1;

type Body = Box<dyn FnOnce(&Me) + Send>;

/// Ends an upcall that is begun anew, a call whose thread goes on at its caller, or everything.
enum Unwind {
    Anew,
    Returned,
    Over,
}

#[derive(Default)]
struct CoreState {
    running: Option<u64>,
    timeout: u64,
    tail: usize,
    since: u64,
    /// Events on their way.
    coming: u64,
}

struct Inside {
    now: u64,
    cores: Vec<CoreState>,
    bodies: Vec<Option<Body>>,
    threads: u64,
    over: bool,
    log: Vec<String>,
    /// Posted in the moment before the next dispatch is looked at.
    overtake: Option<u16>,
    dispatches: u64,
}

struct Everything {
    inside: Mutex<Inside>,
    turn: Condvar,
    regions: Vec<usize>,
    cards: Vec<ComponentCard>,
}

#[derive(Clone)]
pub struct Fake(Arc<Everything>);

thread_local! {
    static ME: Cell<u64> = const { Cell::new(u64::MAX) };
}

/// A running test thread.
pub struct Me<'a> {
    pub fake: &'a Fake,
    pub thread: u64,
}

fn card(text: &str, role: u32, spares: u32) -> ComponentCard {
    ComponentCard {
        name: name(text),
        role,
        parent: NO_COMPONENT,
        restarted_by: NO_COMPONENT,
        restarts: 0,
        restart_nanos: 0,
        first_spare: 0,
        spares,
        first_upcall: 0,
        brands: 0,
        waits: 0,
        load_core: 0,
        load_start: 0,
        load_length: 0,
        load_frame: 0,
    }
}

impl Fake {
    /// A machine with so many cores. The first body is the first thread's; the others are made by it, by number.
    pub fn new(cores: usize, bodies: Vec<Body>) -> Fake {
        let regions = (0..cores).map(|_| {
            // SAFETY: a region of zeros is one.
            Box::into_raw(Box::new(unsafe { std::mem::zeroed::<Region>() })) as usize
        });
        Fake(Arc::new(Everything {
            inside: Mutex::new(Inside {
                now: 0,
                cores: (0..cores).map(|_| CoreState { timeout: u64::MAX, ..CoreState::default() }).collect(),
                bodies: bodies.into_iter().map(Some).collect(),
                threads: cores as u64,
                over: false,
                log: Vec::new(),
                overtake: None,
                dispatches: 0,
            }),
            turn: Condvar::new(),
            regions: regions.collect(),
            cards: vec![card("root", role::ROOT, 0), card("client", 0, 1)],
        }))
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.0.inside.lock().unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    fn region_of(&self, core: usize) -> *mut Region {
        self.0.regions[core] as *mut Region
    }

    /// As the kernel posts.
    fn post(&self, core: usize, events: u64) {
        let region = self.region_of(core);
        // SAFETY: the region is this machine's for ever; on this core nobody else runs now.
        unsafe {
            (*region).events |= events;
            (*region).event_pending = 1;
        }
    }

    /// As the kernel links a slot.
    fn link(&self, inside: &mut Inside, core: usize, thread: u64, cycles: u64, flags: u16) {
        // SAFETY: as in `post`.
        let region = unsafe { &mut *self.region_of(core) };
        let place = thread as usize + 1;
        region.slots[place].cycles += cycles;
        region.slots[place].flags |= flags;
        if region.slots[place].flags & slot::LINKED != 0 {
            return;
        }
        let tail = inside.cores[core].tail;
        let end = if region.slots[tail].flags & slot::LINKED != 0 { tail } else { 0 };
        region.slots[place].flags |= slot::LINKED;
        region.slots[place].next = 0;
        region.slots[end].next = place as u16;
        inside.cores[core].tail = place;
    }

    fn charge(&self, inside: &mut Inside, core: usize) {
        let used = inside.now - inside.cores[core].since;
        inside.cores[core].since = inside.now;
        if let Some(thread) = inside.cores[core].running.filter(|_| used > 0) {
            self.link(inside, core, thread, used, 0);
        }
    }

    /// Gives a core to a thread.
    fn give(&self, inside: &mut Inside, core: usize, thread: Option<u64>) {
        self.charge(inside, core);
        inside.cores[core].running = thread;
        if thread.is_none() {
            self.sleep(inside);
        }
        self.0.turn.notify_all();
    }

    /// Where all cores sleep, time goes on to the first time-out; events that are on their way arrive.
    fn sleep(&self, inside: &mut Inside) {
        loop {
            for core in 0..inside.cores.len() {
                let coming = std::mem::take(&mut inside.cores[core].coming);
                if inside.cores[core].running.is_none() && coming != 0 {
                    self.post(core, coming);
                    inside.cores[core].running = Some(core as u64);
                } else {
                    inside.cores[core].coming = coming;
                }
            }
            if inside.cores.iter().any(|core| core.running.is_some()) {
                return;
            }
            let Some(first) = inside.cores.iter().map(|core| core.timeout).min().filter(|at| *at != u64::MAX) else {
                inside.over = true;
                return;
            };
            inside.now = inside.now.max(first);
            for core in &mut inside.cores {
                core.since = inside.now;
            }
            self.expire(inside);
        }
    }

    /// Time-outs that have come.
    fn expire(&self, inside: &mut Inside) {
        for core in 0..inside.cores.len() {
            if inside.cores[core].timeout <= inside.now {
                inside.cores[core].timeout = u64::MAX;
                inside.cores[core].coming |= event::TIMER;
            }
        }
    }

    /// Until this thread has a core; which one.
    fn wait<'a>(&'a self, mut inside: MutexGuard<'a, Inside>, me: u64) -> (MutexGuard<'a, Inside>, usize) {
        loop {
            if inside.over {
                drop(inside);
                resume_unwind(Box::new(Unwind::Over));
            }
            if let Some(core) = inside.cores.iter().position(|core| core.running == Some(me)) {
                return (inside, core);
            }
            inside = self.0.turn.wait(inside).unwrap_or_else(|poisoned| poisoned.into_inner());
        }
    }

    /// Events that are on their way arrive at a thread outside the scheduler: its core's upcall comes first.
    fn interrupted(&self, me: u64) {
        let mut inside = self.inside();
        let Some(core) = inside.cores.iter().position(|core| core.running == Some(me)) else { return };
        let coming = std::mem::take(&mut inside.cores[core].coming);
        if coming != 0 {
            self.post(core, coming);
        }
        // SAFETY: as in `post`.
        if unsafe { (*self.region_of(core)).event_pending } != 0 {
            self.give(&mut inside, core, Some(core as u64));
            drop(self.wait(inside, me));
        }
    }

    /// Runs the system until the first thread ends or nothing can happen any more; what was logged.
    pub fn run<P: ThreadScheduler + Send + 'static>(
        self,
        quantum: u64,
        policies: [P; MAX_CORES],
        before: impl FnOnce(&'static Scheduler<P, Fake>),
    ) -> Vec<String> {
        let cores = self.0.regions.len();
        let scheduler: &'static Scheduler<P, Fake> =
            Box::leak(Box::new(Scheduler::new(self.clone(), quantum, policies.map(Core::new))));
        before(scheduler);
        let upcalls: Vec<_> = (0..cores)
            .map(|core| {
                let fake = self.clone();
                std::thread::spawn(move || {
                    ME.set(core as u64);
                    loop {
                        let ended: Result<(), _> = catch_unwind(AssertUnwindSafe(|| {
                            drop(fake.wait(fake.inside(), core as u64));
                            scheduler.upcall(core as u8)
                        }));
                        let Err(why) = ended else { return };
                        match why.downcast::<Unwind>() {
                            Ok(unwind) if matches!(*unwind, Unwind::Anew) => {}
                            Ok(_) => return,
                            Err(other) => resume_unwind(other),
                        }
                    }
                })
            })
            .collect();
        {
            let mut inside = self.inside();
            for core in 0..cores {
                self.post(core, event::START);
                inside.cores[core].running = Some(core as u64);
            }
            self.0.turn.notify_all();
        }
        let failed = upcalls.into_iter().any(|upcall| upcall.join().is_err());
        assert!(!failed, "an upcall panicked");
        let log = std::mem::take(&mut self.inside().log);
        log
    }
}

impl Me<'_> {
    /// Uses the core for so long.
    pub fn work(&self, length: u64) {
        for _ in 0..length {
            {
                let mut inside = self.fake.inside();
                inside.now += 1;
                self.fake.expire(&mut inside);
            }
            self.fake.interrupted(self.thread);
        }
    }

    /// Calls the scheduler.
    pub fn call<R>(&self, service: impl FnOnce(Caller) -> R) -> R {
        let core = {
            let inside = self.fake.inside();
            inside.cores.iter().position(|core| core.running == Some(self.thread)).expect("it runs")
        };
        let result = service(Caller(((core as u64) << 32) | (self.thread << 16) | u64::from(CLIENT)));
        self.fake.interrupted(self.thread);
        result
    }

    /// Calls a service of the scheduler: a dispatch may end the call, which then gives what the kernel gives.
    pub fn ask(&self, service: impl FnOnce(Caller) -> Result<u64, Error>) -> Result<u64, Error> {
        self.call(|caller| match catch_unwind(AssertUnwindSafe(|| service(caller))) {
            Ok(answer) => answer,
            Err(why) if matches!(why.downcast_ref(), Some(Unwind::Returned)) => Ok(0),
            Err(why) => resume_unwind(why),
        })
    }

    /// Notes something, with the time.
    pub fn log(&self, words: &str) {
        let mut inside = self.fake.inside();
        let line = format!("{} {words}", inside.now);
        inside.log.push(line);
    }

    /// The core on which this thread runs.
    pub fn core(&self) -> usize {
        self.fake.inside().cores.iter().position(|core| core.running == Some(self.thread)).expect("it runs")
    }

    /// A trigger of this thread's upcall comes in the moment before the next dispatch is looked at.
    pub fn overtake_with(&self, thread: u16) {
        self.fake.inside().overtake = Some(thread);
    }

    /// Dispatches so far.
    pub fn dispatches(&self) -> u64 {
        self.fake.inside().dispatches
    }

    /// Ends the run.
    pub fn end(&self) -> ! {
        self.fake.inside().over = true;
        self.fake.0.turn.notify_all();
        resume_unwind(Box::new(Unwind::Over))
    }
}

impl Clock for Fake {
    fn now(&self) -> Cycles {
        Cycles(self.inside().now)
    }
    fn cycles(&self, nanos: u64) -> Cycles {
        Cycles(nanos)
    }
    fn nanos(&self, cycles: Cycles) -> u64 {
        cycles.0
    }
}

impl Kernel for Fake {
    fn region(&self, core: u8) -> ThreadRegion {
        // SAFETY: the region is this machine's for ever.
        unsafe { ThreadRegion::at(self.region_of(core.into())) }
    }

    fn take_lock(&self, region: ThreadRegion, thread: Thread) {
        // SAFETY: the lock word of one of this machine's regions; nobody is interrupted in between here.
        unsafe {
            assert_eq!((*region.as_ptr()).lock, 0, "nobody else is inside");
            (*region.as_ptr()).lock = u64::from(thread.0) + 1;
        }
    }

    fn release_lock(&self, region: ThreadRegion) {
        // SAFETY: as above.
        unsafe {
            assert_eq!((*region.as_ptr()).lock, ME.get() + 1, "it has the lock");
            (*region.as_ptr()).lock = 0;
        }
    }

    fn switch_thread(&self, thread: u64, flags: u64, timeout: Cycles) -> Result<(), Error> {
        let me = ME.get();
        let mut inside = self.inside();
        let core = inside.cores.iter().position(|core| core.running == Some(me)).expect("the caller runs");
        if let Some(upcall) = inside.overtake.take() {
            self.link(&mut inside, core, upcall.into(), 0, slot::ACTIVE);
            self.post(core, event::SLOTS);
        }
        let coming = std::mem::take(&mut inside.cores[core].coming);
        if coming != 0 {
            self.post(core, coming);
        }
        // SAFETY: as in `post`.
        let region = unsafe { &*self.region_of(core) };
        assert_eq!(region.lock, 0, "nobody dispatches inside the critical section");
        if region.event_pending != 0 || region.next_thread != thread {
            return Err(Error::Again);
        }
        if inside.cores.iter().enumerate().any(|(other, it)| other != core && it.running == Some(thread)) {
            drop(inside);
            std::thread::yield_now();
            return Err(Error::Busy);
        }
        inside.dispatches += 1;
        inside.cores[core].timeout = timeout.0;
        if thread != me {
            self.give(&mut inside, core, (thread != IDLE).then_some(thread));
            drop(self.wait(inside, me));
        }
        match flags {
            SWITCH_UPCALL_DONE => resume_unwind(Box::new(Unwind::Anew)),
            SWITCH_RETURN => resume_unwind(Box::new(Unwind::Returned)),
            _ => Ok(()),
        }
    }

    fn notify(&self, core: u8) {
        let mut inside = self.inside();
        inside.cores[usize::from(core)].coming |= event::NOTIFY;
        if inside.cores[usize::from(core)].running.is_none() {
            self.sleep(&mut inside);
            self.0.turn.notify_all();
        }
    }

    fn control(&self, _: SchedulerOperation, _: u64, _: u64) -> Result<(), Error> {
        Ok(())
    }

    fn create_thread(&self, _: bool, component: u64, _: u64, words: [u64; 2]) -> Result<Thread, Error> {
        assert_eq!(component, u64::from(CLIENT));
        let mut inside = self.inside();
        let thread = inside.threads;
        inside.threads += 1;
        let body = inside.bodies[words[0] as usize].take().expect("each body is one thread's");
        let fake = self.clone();
        std::thread::spawn(move || {
            ME.set(thread);
            let ended: Result<(), _> = catch_unwind(AssertUnwindSafe(|| {
                drop(fake.wait(fake.inside(), thread));
                let me = Me { fake: &fake, thread };
                body(&me);
                me.end()
            }));
            let Err(why) = ended else { return };
            if !why.is::<Unwind>() {
                // A failed check ends the run, and the test with it.
                fake.inside().log.push("a thread panicked".to_string());
                fake.inside().over = true;
                fake.0.turn.notify_all();
            }
        });
        Ok(Thread(thread as u16))
    }

    fn add_upcall(&self, _: u64) -> Result<Thread, Error> {
        Err(Error::NotRoot)
    }

    fn tell_parent(&self) {}

    fn place(&self) -> (u16, u8) {
        (0, self.0.regions.len() as u8)
    }

    fn cards(&self) -> &[ComponentCard] {
        &self.0.cards
    }

    fn tasks(&self) -> &[TaskCard] {
        &[]
    }

    fn finish(&self, _: u64) -> Error {
        Error::NoRight
    }
}
