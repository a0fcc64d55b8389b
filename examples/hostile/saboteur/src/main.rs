//! A component that does what it must not, on purpose, for tests of isolation. What it does is its own name.
#![no_std]
#![no_main]

use core::hint::black_box;
use core::sync::atomic::{AtomicU64, Ordering};
use tactus_rt::abi::shared::name_text;
use tactus_rt::{calls, info, Job};

tactus_rt::component! { job: harm, services: [] }

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
        "break-the-stack-pointer" => break_stack(),
        "loop-for-ever" => loop {
            black_box(0);
        },
        "give-up" => panic!("on purpose"),
        "random-calls" => random_calls(job),
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

fn jump(address: u64) {
    // SAFETY: as for `read`.
    unsafe { core::arch::asm!("call {}", in(reg) address, clobber_abi("C")) };
}

fn privileged(which: u8) {
    // SAFETY: as for `read`.
    unsafe {
        match which {
            0 => core::arch::asm!("cli"),
            1 => core::arch::asm!("hlt"),
            2 => core::arch::asm!("mov cr3, {}", in(reg) 0x1000_u64),
            3 => core::arch::asm!("out dx, al", in("dx") 0xf4_u16, in("al") 1_u8),
            4 => core::arch::asm!("wrmsr", in("ecx") 0xc000_0080_u32, in("eax") 0, in("edx") 0),
            5 => core::arch::asm!("int 0x40"),
            6 => core::arch::asm!("addps xmm0, xmm1"),
            7 => core::arch::asm!("ud2"),
            8 => core::arch::asm!("pushfq", "or qword ptr [rsp], 0x100", "popfq", "nop"),
            9 => {
                core::arch::asm!("pushfq", "or qword ptr [rsp], 0x4000", "popfq");
                // The kernel must not stumble over the flag; the component does no harm by it.
                calls::null();
                core::arch::asm!("pushfq", "and qword ptr [rsp], ~0x4000", "popfq", "ud2");
            }
            _ => core::arch::asm!("div {}", in(reg) 0_u64, inout("rax") 1_u64 => _, inout("rdx") 0_u64 => _),
        }
    }
}

#[allow(unconditional_recursion)]
fn recurse(depth: u64) -> u64 {
    let here = black_box([depth; 16]);
    recurse(depth + 1).wrapping_add(here[3])
}

fn break_stack() {
    // SAFETY: as for `read`. A call with a stack pointer into the kernel must not make the kernel use it.
    unsafe {
        core::arch::asm!(
            "mov rsp, {}",
            "xor eax, eax",
            "syscall",
            "push rax",
            in(reg) 0xffff_ffff_8011_2000_u64,
            options(noreturn)
        )
    }
}

static RANDOM: AtomicU64 = AtomicU64::new(0x9e37_79b9_7f4a_7c15);

/// A xorshift generator: the same numbers in every run.
fn random() -> u64 {
    let mut x = RANDOM.load(Ordering::Relaxed);
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
            let number = if random() % 4 == 0 { awkward() } else { random() % 8 };
            let mut words = [awkward(), awkward(), awkward(), awkward(), awkward(), awkward()];
            if number == 7 {
                continue;
            }
            if number == 1 && words[0] == 0 {
                words[0] = 1;
            }
            black_box(calls::raw(number, words));
        }
    }
}

