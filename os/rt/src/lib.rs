//! What every component is linked with: its beginning, the kernel's calls, the clock, jobs, services.
//!
//! A component is a crate with `#![no_std]`, `#![no_main]` and one [`component!`]:
//!
//! ```ignore
//! tactus_rt::component! { job: control, services: [] }
//!
//! fn control(job: &tactus_rt::Job) {
//!     let log = tactus_rt::grant("log");
//!     let _ = log.call([job.number(), 0, 0, 0, 0]);
//! }
//! ```
#![no_std]

#[cfg(all(feature = "heap", any(target_os = "none", floating_point)))]
extern crate alloc;

#[cfg(any(test, feature = "heap"))]
#[cfg_attr(not(any(target_os = "none", floating_point)), allow(dead_code))]
mod allocator;
#[cfg(feature = "apex")]
pub mod apex;
pub mod arch;
#[cfg(any(test, feature = "embedded-io"))]
pub mod bytes;
pub mod calls;
pub mod cards;
pub mod channel;
pub mod clock;
#[cfg(all(feature = "heap", any(target_os = "none", floating_point)))]
pub mod coloured;
mod console;
pub mod counters;
pub mod data;
pub mod demands;
pub mod device;
pub mod disk;
mod exclusive;
#[cfg(feature = "executor")]
pub mod executor;
pub mod heap;
#[cfg(feature = "hostile")]
pub mod hostile;
mod job;
pub mod lock;
pub mod port;
mod promises;
pub mod region;
pub mod request;
pub mod restart;
pub mod scheduler;
mod service;
mod signal;
mod single;
pub mod slots;
#[cfg(feature = "virtio")]
pub mod virtio;

#[cfg(feature = "marks")]
pub use arch::marks;
pub use arch::{sequences, spend};
pub use calls::{Caller, Error};
pub use clock::now;
pub use console::{Console, Screen};
pub use job::{run_jobs, CriticalSection, Job};
pub use promises::Promises;
pub use service::{grant, info, Grant, Service, ServiceName};
pub use signal::{Signal, Violation};
pub use single::Single;
pub use tactus_abi as abi;
pub use tactus_time as time;

#[cfg(any(target_os = "none", floating_point))]
use tactus_abi::call::reason;

/// Why a thread begins in a component.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Beginning {
    /// A new thread, for the task with this number.
    Task(u32),
    /// An upcall of a brand, for the trigger with this word.
    Brand(u64),
    /// A thread that a scheduler made, with these words.
    Thread([u64; 2]),
}

/// Says what a component is made of: one kind of beginning or more, in this order, then its services.
///
/// - `job: f` – each job of the component's tasks runs `f(&Job)`;
/// - `upcall: f` – for schedulers: `f(core) -> !`;
/// - `thread: f` – each thread that a scheduler makes here runs `f([u64; 2])`; the component gives up if it returns;
/// - `brand: f` – each upcall of a brand runs `f(word)` and is finished when it returns;
/// - `services: [a, b]` – functions `fn(Caller, [u64; 5]) -> [u64; 2]` that others may be granted, by these names;
/// - `wide: [c]` – services of ten words, `fn(Caller, [u64; 10]) -> [u64; 10]`, for [`Grant::call_wide`].
///
/// A thread that begins for another reason stops the component.
#[macro_export]
macro_rules! component {
    ($(job: $job:expr,)? $(upcall: $upcall:expr,)? $(thread: $thread:expr,)? $(brand: $brand:expr,)?
        services: [$($service:ident),* $(,)?] $(, wide: [$($wide:ident),* $(,)?])? $(,)?) => {
        $crate::component! { @services [$($service),*] [$($($wide),*)?] }
        // A scheduler is entered straight: its way to the next thread is the hottest of all.
        #[no_mangle]
        extern "C" fn tactus_upcall(_why: u64, core: u64) -> ! {
            $(let upcall = $upcall; upcall(core as u8);)?
            #[allow(unreachable_code)]
            {
                let _ = core;
                $crate::calls::give_up()
            }
        }
        #[no_mangle]
        fn tactus_begin(beginning: $crate::Beginning) -> ! {
            keep_services();
            match beginning {
                $($crate::Beginning::Task(task) => $crate::run_jobs(task, $job),)?
                $($crate::Beginning::Thread(words) => {
                    let body: fn([u64; 2]) = $thread;
                    body(words);
                    $crate::calls::give_up()
                })?
                $($crate::Beginning::Brand(word) => {
                    let body: fn(u64) = $brand;
                    body(word);
                    $crate::calls::upcall_done();
                    $crate::calls::give_up()
                })?
                #[allow(unreachable_patterns)]
                _ => $crate::calls::give_up(),
            }
        }
    };
    (@services [$($service:ident),*] [$($wide:ident),*]) => {
        mod tactus_entries {
            $(pub mod $service {
                extern "C" fn run(caller: u64, a0: u64, a1: u64, a2: u64, a3: u64, a4: u64) -> ! {
                    let values = super::super::$service($crate::Caller(caller), [a0, a1, a2, a3, a4]);
                    $crate::calls::give_back(values)
                }
                $crate::service_entry!(concat!("tactus_service_", stringify!($service)), run);
                extern "C" {
                    #[link_name = concat!("tactus_service_", stringify!($service))]
                    pub fn entry();
                }
            })*
            $(pub mod $wide {
                extern "C" fn run(caller: u64, words: &[u64; 10]) -> ! {
                    let values = super::super::$wide($crate::Caller(caller), *words);
                    $crate::calls::give_back_wide(values)
                }
                $crate::wide_service_entry!(concat!("tactus_service_", stringify!($wide)), run);
                extern "C" {
                    #[link_name = concat!("tactus_service_", stringify!($wide))]
                    pub fn entry();
                }
            })*
        }
        /// Read by the image builder: names and entries of the services.
        #[no_mangle]
        static TACTUS_SERVICES: [$crate::Service; { <[&str]>::len(&[$(stringify!($service),)* $(stringify!($wide)),*]) }] =
            [$($crate::Service::new(stringify!($service), tactus_entries::$service::entry),)*
                $($crate::Service::new(stringify!($wide), tactus_entries::$wide::entry)),*];
        /// Names the table, so that the linker keeps it.
        fn keep_services() {
            core::hint::black_box(&TACTUS_SERVICES);
        }
    };
}

extern "Rust" {
    /// Written by [`component!`].
    #[cfg(any(target_os = "none", floating_point))]
    fn tactus_begin(beginning: Beginning) -> !;
}

extern "C" {
    /// Written by [`component!`]: an upcall of the core with this number.
    #[cfg(any(target_os = "none", floating_point))]
    fn tactus_upcall(why: u64, core: u64) -> !;
}

// Where every thread and upcall of the component begins.
#[cfg(any(target_os = "none", floating_point))]
arch::entry::entry! { upcall: tactus_upcall, begin: begin }

/// The kernel passes the reason and what belongs to it.
#[cfg(any(target_os = "none", floating_point))]
extern "C" fn begin(why: u64, first: u64, _thread: u64, second: u64) -> ! {
    let beginning = match why {
        reason::TASK => Beginning::Task(first as u32),
        reason::BRAND => Beginning::Brand(first),
        reason::CREATED => Beginning::Thread([first, second]),
        _ => calls::give_up(),
    };
    // SAFETY: `component!` defines the function with this signature.
    unsafe { tactus_begin(beginning) }
}

#[cfg(any(target_os = "none", floating_point))]
#[panic_handler]
fn panic(info: &core::panic::PanicInfo) -> ! {
    console::last_words(info);
    calls::give_up()
}
