//! A component that does what it must not, on purpose, for tests of isolation. What it does is its own name.
#![no_std]
#![no_main]

#[cfg(target_arch = "aarch64")]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86_64;

#[cfg(target_arch = "aarch64")]
use aarch64::{break_stack, is_cleared, jump, leave_a_number, privileged};
#[cfg(target_arch = "x86_64")]
use x86_64::{break_stack, is_cleared, jump, leave_a_number, privileged};

use core::hint::black_box;
use core::sync::atomic::{AtomicU64, Ordering};
use tactus_rt::abi::shared::name_text;
use tactus_rt::{calls, info, Caller, Job};

tactus_rt::component! { job: harm, services: [answer] }

/// Something that may be called with anything.
fn answer(caller: Caller, words: [u64; 5]) -> [u64; 2] {
    assert!(name_text(&info().name) != "crasher", "as each time");
    // Not its own job: the scheduler must not believe it.
    let ended = calls::invoke(0, words).is_ok_and(|[refused, _]| refused == 0);
    assert!(!ended, "a service has ended the job of its client");
    [caller.0, words.iter().fold(0, |sum, word| sum ^ word)]
}

/// The first jobs are honest, so that the harm is done in the middle of things.
const HONEST_JOBS: u64 = 3;

fn harm(job: &Job) {
    if job.number() < HONEST_JOBS {
        return;
    }
    match name_text(&info().name) {
        "dereference-null" => read(0),
        "read-the-kernel" => read(0xffff_ffff_8010_9000),
        "read-physical-memory" => read(0xffff_8000_0010_0000),
        "jump-into-the-kernel" => jump(0xffff_ffff_8010_9000),
        "jump-to-data" => {
            static DATA: [u8; 16] = [0xc3; 16];
            jump(DATA.as_ptr() as u64)
        }
        "write-own-code" => write(harm as *const () as u64),
        "write-the-clock" => write(tactus_rt::abi::layout::CLOCK),
        "write-the-task-page" => write(tactus_rt::abi::layout::TASK_PAGE + u64::from(job.task()) * 4096),
        "read-another-stack" => read(tactus_rt::abi::layout::STACKS + 0x8000),
        "non-canonical-address" => read(0x8000_0000_0000_0000),
        "disable-interrupts" => privileged(0),
        "halt" => privileged(1),
        "load-page-table" => privileged(2),
        "write-port" => privileged(3),
        "write-model-register" => privileged(4),
        "software-interrupt" => privileged(5),
        "use-vector-registers" => privileged(6),
        "undefined-instruction" => privileged(7),
        "single-step" => privileged(8),
        "nested-task-flag" => privileged(9),
        "divide-by-zero" => privileged(10),
        "overflow-the-stack" => {
            black_box(recurse(1));
        }
        "break-the-stack-pointer" => break_stack(0xffff_ffff_8011_2000),
        "loop-for-ever" => loop {
            black_box(0);
        },
        "read-the-plan" => read(tactus_rt::abi::layout::PLAN),
        "read-the-trace" => read(tactus_rt::abi::layout::TRACE),
        "write-the-regions" => write(tactus_rt::abi::layout::REGIONS),
        "read-descriptor-table" => privileged(11),
        "breakpoint" => privileged(12),
        "own-debug-exception" => privileged(13),
        "odd-stack-pointer" => break_stack(1),
        "jump-to-the-end" => jump(0x7fff_ffff_fffe),
        "alignment-check" => privileged(14),
        "backwards" => privileged(15),
        // By its number, where a processor has others.
        name if name.starts_with("privileged-") => privileged(name["privileged-".len()..].parse().unwrap_or(u8::MAX)),
        "leave-a-number" => leave_a_number(),
        "look-for-a-number" => assert!(is_cleared(), "another component's number is there"),
        "forbidden-calls" => forbidden_calls(),
        "early-and-often" => early_and_often(),
        "give-up" | "panic-often" => panic!("on purpose"),
        "flood-signals" => flood(job, || job.signal(0x7fff, false)),
        "flood-requests" => flood(job, || (0..8).for_each(|client| job.signal(0x4000 + client, true))),
        "flood-waits" => flood(job, || _ = job.wait_until(tactus_rt::time::Instant::ZERO)),
        "flood-arrivals" => flood(job, || _ = tactus_rt::grant("raise").call([0; 5])),
        "flood-sections" => flood_sections(job),
        "flood-crashes" => flood(job, || _ = tactus_rt::grant("answer").call([0; 5])),
        "flood-events" => flood(job, || _ = READY.raise()),
        name if name.starts_with("random-calls") => random_calls(job),
        other => panic!("saboteur does not know {other}"),
    }
}

fn read(address: u64) {
    // SAFETY: none: the component asks for what it may not have. The kernel must stop it.
    black_box(unsafe { (address as *const u64).read_volatile() });
}

fn write(address: u64) {
    // SAFETY: as for `read`.
    unsafe { (address as *mut u64).write_volatile(0) };
}

#[allow(unconditional_recursion)]
fn recurse(depth: u64) -> u64 {
    let here = black_box([depth; 16]);
    recurse(depth + 1).wrapping_add(here[3])
}

/// Calls that only others may make: each must be refused for the right reason, and nothing else may happen.
fn forbidden_calls() {
    use tactus_rt::abi::call::{Call, Error, IDLE};
    let refused = |call: Call, words: [u64; 6], error: Error| {
        assert_eq!(calls::raw(call as u64, words), error as u64);
    };
    refused(Call::Return, [0; 6], Error::NothingToReturn);
    refused(Call::SwitchThread, [IDLE, 0, 0, 0, 0, 0], Error::NotScheduler);
    refused(Call::SwitchThread, [0, 1, u64::MAX, 0, 0, 0], Error::NotScheduler);
    refused(Call::Notify, [0; 6], Error::NotScheduler);
    refused(Call::Text, [8, u64::from_le_bytes(*b"harmless"), 0, 0, 0, 0], Error::NotScheduler);
    refused(Call::Finish, [0; 6], Error::NotScheduler);
    for grant in [1, 2, 15, 16, 17, 1 << 8, 1 << 16, 1 << 32, (1 << 32) + 1, 1 << 60, 1 << 63, u64::MAX] {
        refused(Call::Invoke, [grant, 0, 0, 0, 0, 0], Error::NotGranted);
    }
    refused(Call::SchedulerControl, [0; 6], Error::NotScheduler);
    refused(Call::CreateThread, [0; 6], Error::NotRoot);
    refused(Call::BrandControl, [0; 6], Error::Exhausted);
    refused(Call::BrandControl, [9, 0, 0, 0, 0, 0], Error::BadArgument);
    refused(Call::Trigger, [0; 6], Error::BadBrand);
    refused(Call::UpcallDone, [0; 6], Error::NotUpcall);
    refused(Call::MemoryControl, [0; 6], Error::NotAllowed);
    refused(Call::Restart, [0; 6], Error::NotAllowed);
    refused(Call::TriggerRemote, [0; 6], Error::BadBrand);
    refused(Call::Computes, [u64::MAX, 0, 0, 0, 0, 0], Error::NotAllowed);
    for number in [Call::ALL.len() as u64, 99, 255, 256, 1 << 32, (1 << 32) + 1, 1 << 61, u64::MAX] {
        assert_eq!(calls::raw(number, [0; 6]), Error::BadCall as u64);
    }
}

/// Says again and again that its job is finished: its own right, and its own loss.
fn early_and_often() {
    for _ in 0..20 {
        assert!(calls::invoke(0, [u64::MAX; 5]).is_ok());
    }
}

static RANDOM: AtomicU64 = AtomicU64::new(0);

static READY: tactus_rt::Signal = tactus_rt::Signal::new("ready");

/// Does so again and again, within what the job may take.
fn flood(job: &Job, once: impl Fn()) {
    while job.charged() < FLOODING_TIME {
        (0..8).for_each(|_| once());
    }
}

const FLOODING_TIME: tactus_rt::time::Duration = tactus_rt::time::Duration::from_micros(800);

/// Claims to hold now this and now that, all at once or nothing, and calls the scheduler for it.
fn flood_sections(job: &Job) {
    use tactus_rt::abi::layout::{PAGE, SECTION_PAGE};
    let held = (SECTION_PAGE + u64::from(job.task()) * PAGE) as *mut u64;
    flood(job, || {
        job.enter(0);
        // SAFETY: a page that the component may write, in which nothing lies that Rust knows of. What stands there is a lie.
        unsafe { held.write_volatile(awkward()) };
        let grant = (0..16).filter(|grant| name_text(&info().grants[*grant]) == "section");
        grant.for_each(|grant| [0, 1].into_iter().for_each(|asks| _ = calls::invoke(grant as u64, [asks, 0, 0, 0, 0])));
        job.leave();
    });
    // SAFETY: as above.
    unsafe { held.write_volatile(0) };
}

/// A xorshift generator: the same numbers in every run, others in every component.
fn random() -> u64 {
    let mut x = RANDOM.load(Ordering::Relaxed);
    if x == 0 {
        x = 0x9e37_79b9_7f4a_7c15 ^ u64::from(info().component) << 32;
    }
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    RANDOM.store(x, Ordering::Relaxed);
    x
}

/// A number that a kernel might stumble over.
fn awkward() -> u64 {
    match random() % 8 {
        0 => random() % 16,
        1 => random() % 300,
        2 => u64::MAX - random() % 16,
        3 => 1 << (random() % 64),
        4 => (1 << (random() % 64)) - 1,
        5 => 0xffff_ffff_8000_0000 | random() & 0xff_ffff,
        6 => 0xffff_8000_0000_0000 | random() & 0xffff_ffff,
        _ => random(),
    }
}

/// How long each job goes on calling.
const CALLING_TIME: tactus_rt::time::Duration = tactus_rt::time::Duration::from_millis(9);

/// Calls with random numbers and arguments, until the job has used its time.
fn random_calls(job: &Job) {
    let budget = CALLING_TIME;
    while job.charged() < budget {
        for _ in 0..64 {
            // Mostly the kernel's own numbers, else anything. `Panic` would end the test, and finishing the job by
            // grant 0 is every component's right: both are left out.
            let number = if random() % 4 == 0 { awkward() } else { random() % 16 };
            let mut words = [awkward(), awkward(), awkward(), awkward(), awkward(), awkward()];
            if number == 7 {
                continue;
            }
            if number == 1 && words[0] == 0 {
                words[0] = 1 + random() % 3;
            }
            black_box(calls::raw(number, words));
        }
    }
}
