//! Asynchronous functions inside a task: an executor whose jobs go on with whatever can go on, on the raw part of `embassy-executor`.
//!
//! To the scheduler there is the task alone, with its release, its budget and its bound; what its job does is for the executor to say. Each
//! job goes on with every function that was woken, and with every one that waits for time or for a message, and ends when none can go
//! on. What wakes a function in between, in another task or service, is noticed by the next job.
//!
//! ```ignore
//! static EXECUTOR: Executor = Executor::new();
//! component! { job: |_| EXECUTOR.run(|spawner| spawner.must_spawn(blink())), services: [] }
//! ```

use crate::channel::{ChannelError, Message, Receiver};
use crate::Single;
use core::cell::UnsafeCell;
use core::future::poll_fn;
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicBool, Ordering};
use core::task::{Poll, Waker};
use embassy_executor::{raw, Spawner};
use tactus_time::Instant;

/// How many functions wait for time or for a message at once; one more is looked at again and again in the same job.
const WAITING: usize = 16;

/// The executor of one task.
pub struct Executor {
    raw: UnsafeCell<MaybeUninit<raw::Executor>>,
    began: AtomicBool,
    runs: AtomicBool,
    woken: AtomicBool,
    waiting: Single<[Option<Waker>; WAITING]>,
}

// SAFETY: `raw` is reached by who has set `runs` alone, and all else are atomics or of one thread at a time.
unsafe impl Sync for Executor {}

impl Default for Executor {
    fn default() -> Self {
        Executor::new()
    }
}

impl Executor {
    /// An executor that has not begun. In a static.
    pub const fn new() -> Executor {
        Executor {
            raw: UnsafeCell::new(MaybeUninit::uninit()),
            began: AtomicBool::new(false),
            runs: AtomicBool::new(false),
            woken: AtomicBool::new(false),
            waiting: Single::new(),
        }
    }

    /// What a job does: goes on with all that can go on. The first one lets `begin` spawn the functions. For the jobs of one task: where
    /// two run it at once, the component is stopped.
    pub fn run(&'static self, begin: impl FnOnce(Spawner)) {
        if self.runs.swap(true, Ordering::Acquire) {
            crate::calls::give_up();
        }
        // Who waited looks again.
        let waiting = self.waiting.with_first(none, core::mem::take);
        let first = !self.began.swap(true, Ordering::AcqRel);
        if first {
            let context = (&raw const *self).cast_mut().cast::<()>();
            // SAFETY: nobody has seen it yet, since `began` was not set; `runs` is set here.
            unsafe { (*self.raw.get()).write(raw::Executor::new(context)) };
        }
        // SAFETY: written above, or by the first job.
        let raw: &'static raw::Executor = unsafe { (*self.raw.get()).assume_init_ref() };
        if first {
            begin(raw.spawner());
        }
        waiting.into_iter().flatten().for_each(Waker::wake);
        loop {
            self.woken.store(false, Ordering::Release);
            // SAFETY: made by `new`, in a static; not called from inside itself, nor by two threads, which `runs` sees to.
            unsafe { raw.poll() };
            if !self.woken.load(Ordering::Acquire) {
                break;
            }
        }
        self.runs.store(false, Ordering::Release);
    }

    /// Waits until this point in time: goes on in the first job from then on.
    pub async fn until(&'static self, instant: Instant) {
        poll_fn(|context| match crate::now() >= instant {
            true => Poll::Ready(()),
            false => self.later(context.waker()),
        })
        .await
    }

    /// Waits for a message: goes on in the first job that finds one.
    ///
    /// # Errors
    /// As [`Receiver::receive`].
    pub async fn receive(&'static self, receiver: &Receiver) -> Result<Message, ChannelError> {
        poll_fn(|context| match receiver.receive() {
            Ok(Some(message)) => Poll::Ready(Ok(message)),
            Ok(None) => self.later(context.waker()),
            Err(error) => Poll::Ready(Err(error)),
        })
        .await
    }

    /// The function goes on in the next job.
    fn later<T>(&self, waker: &Waker) -> Poll<T> {
        let place = self.waiting.with_first(none, |waiting| {
            let free = waiting.iter_mut().find(|it| it.is_none());
            free.map(|place| *place = Some(waker.clone()))
        });
        if place.is_none() {
            waker.wake_by_ref();
        }
        Poll::Pending
    }
}

fn none() -> [Option<Waker>; WAITING] {
    [const { None }; WAITING]
}

/// What the raw executor needs when a function is spawned for the first time, to find room for it: nobody else is at it. Where somebody is,
/// the component is stopped, since nobody waits here: whoever is inside may be preempted by the one who comes.
struct Room;

static ROOM: AtomicBool = AtomicBool::new(false);

critical_section::set_impl!(Room);

// SAFETY: between `acquire` and `release` nobody else comes back from `acquire`.
unsafe impl critical_section::Impl for Room {
    unsafe fn acquire() {
        if ROOM.swap(true, Ordering::Acquire) {
            crate::calls::give_up();
        }
    }

    unsafe fn release((): ()) {
        ROOM.store(false, Ordering::Release);
    }
}

/// Called by the raw executor when a function of one that has nothing to do is woken.
#[export_name = "__pender"]
fn pender(context: *mut ()) {
    // SAFETY: the context of every executor here is an `Executor` in a static.
    unsafe { &*context.cast::<Executor>() }.woken.store(true, Ordering::Release);
}
