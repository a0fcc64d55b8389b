//! Components with floating point: their registers are theirs, whatever preempts them, calls them or is called by them; nobody else
//! reaches any, and what they compute is right.

use std::path::PathBuf;
use tactus_scenarios::{Finished, Scratch};

/// All registers of the unit at once, in one piece each: the compiler's own code uses them as well.
const REGISTERS: &str = r#"
#![no_std]
#![no_main]
use core::arch::asm;
use tactus_rt::{abi::call::Call, grant, Caller, Job};

#[repr(C, align(64))]
struct State([u8; 512]);

/// Every register full of this byte, with control words that nobody has from the start.
fn pattern(byte: u8) -> State {
    let mut it = State([0; 512]);
    it.0[..2].copy_from_slice(&0x0b7f_u16.to_le_bytes());
    it.0[4] = 0xff;
    it.0[24..28].copy_from_slice(&0x7fa0_u32.to_le_bytes());
    for register in 0..8 {
        it.0[32 + 16 * register..][..10].fill(byte);
    }
    it.0[160..416].fill(byte);
    it
}

/// Whether nothing of a pattern is there, and the control words are as from the start.
fn is_untouched(it: &State) -> bool {
    let full = |byte: u8| it.0[32..416].windows(8).any(|bytes| bytes == [byte; 8]);
    !full(0xa5) && !full(0x5a) && it.0[..2] == 0x037f_u16.to_le_bytes() && it.0[24..28] == 0x1f80_u32.to_le_bytes()
}

fn seen() -> State {
    let mut it = State([0; 512]);
    // SAFETY: the area is long enough and aligned.
    unsafe { asm!("fxsave64 [{}]", in(reg) &mut it, options(nostack)) }
    it
}

/// Loads the state and leaves it to whoever comes next.
fn leave(it: &State) {
    // SAFETY: no register of the unit is used before this function's caller is left.
    unsafe { asm!("fxrstor64 [{}]", in(reg) it, options(nostack)) }
}

/// Loads the pattern and looks what is there then and after so many ticks, in which others run.
fn hold(byte: u8, ticks: u64) {
    let (from, mut before, mut after) = (pattern(byte), State([0; 512]), State([0; 512]));
    // SAFETY: the areas are long enough and aligned; afterwards everything is as from the start.
    unsafe {
        asm!("fxrstor64 [{from}]", "fxsave64 [{before}]", "rdtsc", "shl rdx, 32", "or rax, rdx", "add r8, rax",
            "2: rdtsc", "shl rdx, 32", "or rax, rdx", "cmp rax, r8", "jb 2b",
            "fxsave64 [{after}]", "fninit", "mov dword ptr [{from}], 0x1f80", "ldmxcsr [{from}]",
            from = in(reg) &from, before = in(reg) &mut before, after = in(reg) &mut after, inout("r8") ticks => _,
            out("rax") _, out("rdx") _, clobber_abi("sysv64"));
    }
    let filled = before.0[160..416].iter().all(|it| *it == byte);
    assert!(filled && before.0 == after.0, "another's registers");
}

/// Calls the grant with the pattern in all registers; what is in them when the call is back.
fn call_with(byte: u8, service: &str) -> State {
    let (from, mut after) = (pattern(byte), State([0; 512]));
    let number = grant(service).number();
    // SAFETY: as `tactus_rt::calls::invoke`, and as in `hold`.
    unsafe {
        asm!("push rbx", "push rbp", "push r12", "fxrstor64 [rcx]", "syscall", "pop rcx", "fxsave64 [rcx]", "pop rbp", "pop rbx",
            "fninit", "push 0x1f80", "ldmxcsr [rsp]", "pop rcx",
            inout("rcx") &from => _, inout("r12") &mut after => _, inout("rax") Call::Invoke as u64 => _, inout("rdi") number => _, inout("rsi") 0_u64 => _, inout("rdx") 0_u64 => _,
            inout("r10") 0_u64 => _, inout("r8") 0_u64 => _, inout("r9") 0_u64 => _, out("r11") _, out("r13") _, out("r14") _, out("r15") _,
            clobber_abi("sysv64"));
    }
    after
}
"#;

/// A system in which components with floating point, and one without, call and preempt each other.
fn system(folder: &Scratch) -> PathBuf {
    let spy = "tactus_rt::component! { job: work, services: [look, half], wide: [look_wide] }\n\
        fn look(_: Caller, _: [u64; 5]) -> [u64; 2] { let it = is_untouched(&seen()); leave(&pattern(0x5a)); [u64::from(it), 0] }\n\
        fn look_wide(_: Caller, words: [u64; 10]) -> [u64; 10] {\n\
            let it = is_untouched(&seen());\n    leave(&pattern(0x5a));\n    words.map(|word| if it { word + 1 } else { 0 })\n\
        }\n\
        fn half(_: Caller, [word, ..]: [u64; 5]) -> [u64; 2] { [(f64::from_bits(word) * 0.5).to_bits(), 0] }\n\
        fn work(_: &Job) {\n\
            assert!(is_untouched(&seen()), \"another's registers\");\n\
            let unused = (hold as fn(u8, u64), call_with as fn(u8, &str) -> State);\n    core::hint::black_box(unused);\n\
            leave(&pattern(0x5a));\n\
        }\n";
    let victim = "tactus_rt::component! { job: work, services: [] }\n\
        fn work(job: &Job) {\n\
            assert!(is_untouched(&seen()), \"another's registers\");\n\
            for service in [\"look\", \"plain\"] {\n\
                let it = call_with(0xa5, service);\n\
                let (tags, registers) = (it.0[4], it.0[32..416].iter().all(|byte| *byte == 0));\n\
                assert!(is_untouched(&it) && tags == 0 && registers, \"a call left something\");\n\
                assert_eq!(grant(service).call([0; 5]), Ok([1, 0]), \"seen by who was called\");\n\
            }\n\
            let words = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10];\n\
            assert_eq!(grant(\"look_wide\").call_wide(words), Ok(words.map(|word| word + 1)));\n\
            let Ok([half, _]) = grant(\"half\").call([1.5_f64.to_bits(), 0, 0, 0, 0]) else { panic!(\"no spy\") };\n\
            assert_eq!(f64::from_bits(half), 0.75);\n\
            hold(0xa5, 5_000_000);\n\
            let _ = job;\n    core::hint::black_box(leave as fn(&State));\n\
        }\n";
    // Calls into floating point and back, and preempts it.
    let plain = "#![no_std]\n#![no_main]\nuse tactus_rt::{grant, Caller, Job};\n\
        tactus_rt::component! { job: work, services: [plain] }\n\
        fn plain(_: Caller, _: [u64; 5]) -> [u64; 2] { [1, 0] }\n\
        fn work(_: &Job) {\n\
            assert_eq!(grant(\"look\").call([0; 5]), Ok([1, 0]));\n\
            let words = [10, 20, 30, 40, 50, 60, 70, 80, 90, 100];\n\
            assert_eq!(grant(\"look_wide\").call_wide(words), Ok(words.map(|word| word + 1)));\n\
            assert_eq!(grant(\"half\").call([3.0_f64.to_bits(), 0, 0, 0, 0]), Ok([1.5_f64.to_bits(), 0]));\n\
        }\n";
    folder.component("spy", "main.rs", &format!("{REGISTERS}{spy}"));
    folder.component("victim", "main.rs", &format!("{REGISTERS}{victim}"));
    folder.component("plain", "main.rs", plain);
    let uses = "uses = { look = \"spy.look\", look_wide = \"spy.look_wide\", half = \"spy.half\"";
    let mut text = format!(
        "[system]\nname = \"floating\"\ncores = 2\nduration = \"200 ms\"\n\n[policy]\nkind = \"global-edf\"\n\n\
         [[component]]\nname = \"spy\"\ncrate = \"spy\"\nfloating-point = true\nprovides = [\"look\", \"look_wide\", \"half\"]\n\n\
         [[component]]\nname = \"victim\"\ncrate = \"victim\"\nfloating-point = true\n{uses}, plain = \"plain.plain\" }}\n\n\
         [[component]]\nname = \"plain\"\ncrate = \"plain\"\nprovides = [\"plain\"]\n{uses} }}\n\n"
    );
    for (name, component, period, offset, execution) in [
        ("spy", "spy", 2, 1, 300),
        ("plain", "plain", 3, 0, 300),
        ("victim-a", "victim", 20, 0, 7_000),
        ("victim-b", "victim", 20, 1, 7_000),
        ("victim-c", "victim", 20, 2, 7_000),
    ] {
        text += &format!(
            "[[task]]\nname = \"{name}\"\ncomponent = \"{component}\"\nperiod = \"{period} ms\"\noffset = \"{offset} ms\"\n\
             execution = \"{execution} us\"\n\n"
        );
    }
    // Calls into floating point that monitors watch, narrow and wide, from a component that has it and one that has not; others stay
    // as they are.
    for (name, grant) in [("narrow", "plain.look"), ("wide", "victim.look_wide"), ("words", "victim.half")] {
        text += &format!(
            "[[monitor]]\nname = \"{name}\"\nproperty = \"always (asked -> eventually[<= 10 ms] answered)\"\n\
             events = {{ asked = \"call {grant}\", answered = \"return {grant}\" }}\n\n"
        );
    }
    folder.write("system.toml", &text)
}

#[test]
fn no_component_sees_anothers_floating_point_whoever_preempts_calls_or_migrates() {
    let folder = Scratch::new("floating");
    let run = Finished::run(&system(&folder), &[]);
    assert_eq!(run.summary.stopped(), [], "{}", run.said.output);
    for (name, jobs) in [("spy", 99), ("plain", 66), ("victim-a", 9), ("victim-b", 9), ("victim-c", 9)] {
        let task = run.summary.task(name);
        assert!(task.completed() >= jobs, "{name} completed {} jobs", task.completed());
    }
    // A call for each job, and its return.
    for (monitor, jobs) in [("narrow", 66), ("wide", 27), ("words", 27)] {
        let all = run.summary.json["monitors"].as_array().expect("monitors");
        let it = all.iter().find(|it| it["name"] == monitor).expect("it is there");
        let events = it["events"].as_u64().expect("a number");
        assert_eq!((&it["verdict"], &it["judged_by"]), (&"not yet".into(), &"kernel".into()), "{it}");
        assert!((2 * jobs..=2 * jobs + 12).contains(&events), "{it}");
    }
    let moved: u64 = ["victim-a", "victim-b", "victim-c"]
        .iter()
        .map(|name| run.summary.task(name).json()["migrations"].as_u64().unwrap_or(0))
        .sum();
    assert!(moved > 5, "the victims moved {moved} times");
}

/// What a component with floating point may not do stops it, and it alone.
#[test]
fn an_error_that_is_not_masked_and_a_wider_vector_stop_their_component() {
    let folder = Scratch::new("floating-faults");
    let source = "#![no_std]\n#![no_main]\ntactus_rt::component! { job: work, services: [] }\n\
        fn work(job: &tactus_rt::Job) {\n\
            let word = 0x037b_u32;\n\
            // SAFETY: the control word of the unit, and its stack, are this thread's.\n\
            unsafe {\n\
                match job.task() {\n\
                    0 => core::arch::asm!(\"fldcw [{}]\", \"fld1\", \"fldz\", \"fdivp\", \"fwait\", in(reg) &word),\n\
                    1 => core::arch::asm!(\"vaddps ymm0, ymm0, ymm0\"),\n\
                    2 => core::arch::asm!(\"xor ecx, ecx\", \"xgetbv\"),\n\
                    _ => assert_eq!(core::hint::black_box(2.0_f64).to_bits(), 4.0_f64.to_bits() - (1 << 52)),\n\
                }\n\
            }\n\
        }\n";
    folder.component("wrong", "main.rs", source);
    let mut text =
        "[system]\nname = \"wrong\"\ncores = 1\nduration = \"100 ms\"\n\n[policy]\nkind = \"partitioned-edf\"\n"
            .to_owned();
    for name in ["error", "wide", "state", "sound"] {
        text += &format!(
            "\n[[component]]\nname = \"{name}\"\ncrate = \"wrong\"\nfloating-point = true\n\n[[task]]\nname = \"{name}\"\n\
             core = 0\nperiod = \"20 ms\"\nexecution = \"1 ms\"\ncomponent = \"{name}\"\n"
        );
    }
    let run = Finished::run(&folder.write("system.toml", &text), &[]);
    let mut stopped: Vec<String> = run.summary.stopped().into_iter().filter_map(|it| it.task).collect();
    stopped.sort();
    assert_eq!(stopped, ["error", "state", "wide"], "{}", run.said.output);
    assert!(run.said.output.contains("division by zero or overflow"), "{}", run.said.output);
    assert_eq!(run.summary.task("sound").completed(), 5);
}
