//! What one component can do to another, to the kernel and to the reader of the console, beyond what it may.

use std::fs;
use std::path::PathBuf;
use tactus_record::EventKind;
use tactus_scenarios::{Finished, Scratch};

/// Loads and reads selectors of segments, and flags.
const PROBE: &str = r#"
use core::arch::asm;
fn load(value: u16) {
    // SAFETY: selectors that user level may load; 64-bit code has no use for them.
    unsafe { asm!("mov ds, {0:e}", "mov es, {0:e}", "mov fs, {0:e}", "mov gs, {0:e}", in(reg) u32::from(value)) }
}
fn selectors() -> u64 {
    let [ds, es, fs, gs]: [u32; 4];
    // SAFETY: reads only.
    unsafe { asm!("mov {0:e}, ds", "mov {1:e}, es", "mov {2:e}, fs", "mov {3:e}, gs",
        out(reg) ds, out(reg) es, out(reg) fs, out(reg) gs, options(nomem, nostack)) };
    u64::from(ds | es << 16) | u64::from(fs | gs << 16) << 32
}
/// Trap, direction, nested task, alignment check and identification.
const FLAGS: u64 = 1 << 8 | 1 << 10 | 1 << 14 | 1 << 18 | 1 << 21;
fn flags() -> u64 {
    let flags: u64;
    // SAFETY: reads only.
    unsafe { asm!("pushfq", "pop {0}", out(reg) flags) };
    flags & FLAGS
}
/// Everything that user level may change: selectors, flags.
fn seen() -> u64 { selectors() | flags() << 16 }
"#;

/// A system of one core in which a victim and a spy call each other and preempt each other, with registers set.
fn spied(folder: &Scratch) -> PathBuf {
    let head = "#![no_std]\n#![no_main]\n";
    // The spy is called with registers set, returns with registers set, and its task preempts the others.
    let spy = format!(
        "{head}{PROBE}\
         use tactus_rt::Caller;\ntactus_rt::component! {{ job: work, services: [look], wide: [look_wide] }}\n\
         fn look_wide(_: Caller, _: [u64; 10]) -> [u64; 10] {{ let it = seen(); load(0x23); [it; 10] }}\n\
         fn look(_: Caller, _: [u64; 5]) -> [u64; 2] {{ let it = seen(); load(0x23); [it, 0] }}\n\
         fn work(_: &tactus_rt::Job) {{ assert_eq!(seen(), 0); load(0x2b); }}\n"
    );
    // A job of the victim is preempted by the spy's, and looks afterwards: it may have lost its own values, and has no other's.
    let victim = format!(
        "{head}{PROBE}\
         tactus_rt::component! {{ job: work, services: [] }}\n\
         fn work(job: &tactus_rt::Job) {{\n\
             assert_eq!(seen(), 0);\n\
             for value in [0_u16, 1, 2, 3, 0x23, 0x2b] {{\n\
                 load(value);\n\
                 // SAFETY: flags that user level may change, as they were after the call.\n\
                 unsafe {{ asm!(\"pushfq\", \"or qword ptr [rsp], {{0}}\", \"popfq\", const 1 << 18 | 1 << 21 | 1 << 14) }}\n\
                 let Ok([it, _]) = tactus_rt::grant(\"look\").call([0; 5]) else {{ panic!(\"no spy\") }};\n\
                 assert_eq!(it, 0, \"seen by the spy\");\n\
                 load(value);\n\
                 let Ok(it) = tactus_rt::grant(\"look_wide\").call_wide([0; 10]) else {{ panic!(\"no spy\") }};\n\
                 assert_eq!(it, [0; 10], \"seen by the spy\");\n\
                 assert_eq!(seen(), 0, \"left by the spy\");\n\
             }}\n\
             load(0x23);\n\
             let own = selectors();\n\
             while tactus_rt::now().as_nanos() < job.release().as_nanos() + 6_000_000 {{\n\
                 let it = selectors();\n\
                 for part in [0, 16, 32, 48] {{\n\
                     let (own, it) = (own >> part & 0xffff, it >> part & 0xffff);\n\
                     assert!(it == own || it == 0, \"another's selectors\");\n\
                 }}\n\
             }}\n\
             assert_eq!(selectors(), 0, \"no interrupt came\");\n\
         }}\n"
    );
    folder.component("spy", "main.rs", &spy);
    folder.component("victim", "main.rs", &victim);
    let text = "[system]\nname = \"registers\"\ncores = 1\nduration = \"200 ms\"\n\n[policy]\nkind = \"partitioned-fp\"\n\n\
        [[component]]\nname = \"spy\"\ncrate = \"spy\"\nprovides = [\"look\", \"look_wide\"]\n\n\
        [[component]]\nname = \"victim\"\ncrate = \"victim\"\nuses = { look = \"spy.look\", look_wide = \"spy.look_wide\" }\n\n\
        [[task]]\nname = \"spy\"\ncore = 0\nperiod = \"2 ms\"\noffset = \"1 ms\"\nexecution = \"200 us\"\npriority = 2\n\
        component = \"spy\"\n\n\
        [[task]]\nname = \"victim\"\ncore = 0\nperiod = \"10 ms\"\nexecution = \"7 ms\"\npriority = 1\ncomponent = \"victim\"\n";
    folder.write("system.toml", text)
}

#[test]
fn nothing_that_a_component_loads_into_a_register_is_seen_by_another() {
    let folder = Scratch::new("registers");
    let run = Finished::run(&spied(&folder), &[]);
    assert_eq!(run.summary.stopped(), [], "{}", run.said.output);
    assert_eq!(run.summary.task("victim").completed(), 20);
    assert!(run.summary.task("spy").completed() >= 98);
}

/// Instructions that reach registers which the kernel does not save: none may work at user level.
const FORBIDDEN: [(&str, &str); 10] = [
    ("x87", "fld1"),
    ("mmx", "movd mm0, eax"),
    ("sse", "movaps xmm0, xmm1"),
    ("mxcsr", "sub rsp, 64\\nmov dword ptr [rsp], 0x1f80\\nldmxcsr [rsp]"),
    ("fxrstor", "sub rsp, 1024\\nand rsp, -64\\nfxrstor [rsp]"),
    ("fsbase", ".byte 0xf3, 0x48, 0x0f, 0xae, 0xd0"),
    ("xgetbv", "xor ecx, ecx\\nxgetbv"),
    ("pkru", "xor ecx, ecx\\n.byte 0x0f, 0x01, 0xee"),
    ("counter", "xor ecx, ecx\\nrdpmc"),
    ("debug", "mov rax, dr7"),
];

#[test]
fn instructions_that_reach_registers_which_nobody_saves_stop_their_component() {
    let folder = Scratch::new("forbidden");
    let arms: String = FORBIDDEN
        .iter()
        .enumerate()
        .map(|(n, (_, code))| format!("        // SAFETY: faults, so that nothing after it is executed.\n        {n} => unsafe {{ core::arch::asm!(\"{code}\") }},\n"))
        .collect();
    let source = format!(
        "#![no_std]\n#![no_main]\ntactus_rt::component! {{ job: work, services: [] }}\n\
         fn work(job: &tactus_rt::Job) {{\n    match job.task() {{\n{arms}        _ => {{}}\n    }}\n}}\n"
    );
    folder.component("forbidden", "main.rs", &source);
    let mut text =
        "[system]\nname = \"forbidden\"\ncores = 1\nduration = \"100 ms\"\n\n[policy]\nkind = \"partitioned-edf\"\n"
            .to_owned();
    for name in FORBIDDEN.iter().map(|(name, _)| *name).chain(["plain"]) {
        text += &format!(
            "\n[[component]]\nname = \"{name}\"\ncrate = \"forbidden\"\n\n[[task]]\nname = \"{name}\"\ncore = 0\n\
             period = \"20 ms\"\nexecution = \"1 ms\"\ncomponent = \"{name}\"\n"
        );
    }
    let run = Finished::run(&folder.write("system.toml", &text), &[]);
    let stopped: Vec<String> = run.summary.stopped().into_iter().filter_map(|it| it.task).collect();
    for (name, code) in FORBIDDEN {
        assert!(stopped.iter().any(|it| it == name), "{name} ({code}) was not stopped; these were: {stopped:?}");
    }
    assert_eq!(stopped.len(), FORBIDDEN.len());
    assert_eq!((run.said.status, run.summary.task("plain").missed()), (1, 0));
}

/// What the root scheduler reads in its decisions, since a component is to say it there without a call: which sections its job is in,
/// and since when. The jobs of this component rewrite it all the time, their own and that of the job on the other core, while
/// the root decides about both.
#[test]
fn rewriting_what_the_root_reads_while_it_decides_harms_nobody_else() {
    let folder = Scratch::new("rewriter");
    let source = "#![no_std]\n#![no_main]\nuse tactus_rt::abi::layout::{PAGE, SECTION_PAGE};\n\
        use tactus_rt::abi::shared::SectionPage;\n\
        tactus_rt::component! { job: work, services: [] }\n\
        fn work(job: &tactus_rt::Job) {\n\
            let mut x = 0x9e37_79b9_7f4a_7c15 ^ u64::from(job.task()) << 32 ^ u64::from(job.number());\n\
            while job.charged() < tactus_rt::time::Duration::from_micros(1_800) {\n\
                x ^= x << 13;\n        x ^= x >> 7;\n        x ^= x << 17;\n\
                let page = (SECTION_PAGE + (x >> 60 & 1) * PAGE) as *mut SectionPage;\n\
                // SAFETY: pages of this component's own tasks, 0 and 1.\n\
                unsafe {\n\
                    (&raw mut (*page).held).write_volatile(if x & 1 == 0 { x >> 8 } else { x >> 8 & 0x0303_0303 });\n\
                    (&raw mut (*page).since[(x >> 4 & 3) as usize]).write_volatile(x);\n\
                }\n\
                if x & 0x300 == 0 {\n            job.leave();\n        }\n\
                if x & 0xf000 == 0 {\n            core::hint::spin_loop();\n        }\n\
            }\n\
        }\n";
    folder.component("rewriter", "main.rs", source);
    let mut text = "[system]\nname = \"rewriter\"\ncores = 2\nduration = \"400 ms\"\n[policy]\nkind = \"partitioned-fp\"\n\
        [[component]]\nname = \"rewriter\"\ncrate = \"rewriter\"\n\
        [[resource]]\nname = \"lock-0\"\nprotocol = \"ceiling\"\n[[resource]]\nname = \"lock-1\"\nprotocol = \"ceiling\"\n"
        .to_string();
    let task = |name: &str, core: u64, priority: u64, (period, micros): (u64, u64), more: &str| {
        format!(
            "[[task]]\nname = \"{name}-{core}\"\ncore = {core}\npriority = {priority}\nperiod = \"{period} ms\"\n\
             execution = \"{micros} us\"\n{more}\n"
        )
    };
    let of = |core| {
        format!(
            "component = \"rewriter\"\nsections = [{{ resource = \"lock-{core}\", after = \"100 us\", length = \"200 us\" }}]"
        )
    };
    for core in 0..2 {
        text += &task("rewriter", core, 5, (6, 2_000), &of(core));
    }
    for core in 0..2 {
        text += &task("above", core, 9, (2, 500), "");
        text += &task("sharing", core, 2, (20, 1_000), &of(core).replace("component = \"rewriter\"\n", ""));
        text += &task("below", core, 1, (40, 1_000), "");
    }
    let run = Finished::run(&folder.write("system.toml", &text), &[]);
    // Who shares nothing with it, and goes before it, notices nothing; the others get what it leaves.
    for task in run.summary.tasks().filter(|task| task.name().starts_with("above")) {
        assert_eq!((task.missed(), task.released() - task.completed() <= 1), (0, true), "{}: {}", task.name(), run.log);
        assert!(task.worst_over_bound().is_none_or(|share| share <= 1.0), "{} broke its bound", task.name());
    }
    for task in run.summary.tasks() {
        assert!(task.completed() + 2 >= task.released() && !task.removed(), "{} was held up", task.name());
    }
    assert!(run.summary.json["dropped"] == 0 && !run.log.contains("panicked"), "{}", run.log);
    let trace = run.trace();
    let count = |kind| trace.cores.iter().flatten().filter(|it| it.kind == kind).count();
    println!("{} sections too long; {}", count(EventKind::SectionExceeded), run.summary.outcome());
    let told = count(EventKind::Input);
    assert!(told > 100, "the root was told of {told} sections");
}

#[test]
fn no_line_of_a_component_can_be_taken_for_the_systems() {
    let folder = Scratch::new("console");
    let source = "#![no_std]\n#![no_main]\ntactus_rt::component! { job: work, services: [] }\n\
        fn work(_: &tactus_rt::Job) {\n\
            tactus_rt::calls::text(\"verdict: every promise held\\n\");\n\
            tactus_rt::calls::text(\"\\x1b[2J\\rtactus: panic 1.0: x|\");\n\
            tactus_rt::calls::text(\"half\\nverdict: held\\n\");\n\
        }\n";
    folder.component("liar", "main.rs", source);
    let text = "[system]\nname = \"liar\"\ncores = 1\nduration = \"50 ms\"\n\n[policy]\nkind = \"partitioned-edf\"\n\n\
        [[component]]\nname = \"liar\"\ncrate = \"liar\"\nconsole = true\n\n\
        [[task]]\nname = \"liar\"\ncore = 0\nperiod = \"10 ms\"\nexecution = \"2 ms\"\ncomponent = \"liar\"\n\n\
        [[task]]\nname = \"late\"\ncore = 0\nperiod = \"20 ms\"\nexecution = \"2 ms\"\nactual = \"25 ms\"\n";
    let run = Finished::run(&folder.write("system.toml", text), &[]);
    assert_eq!(run.said.status, 1, "a promise was broken: {}", run.said.output);
    let log = fs::read_to_string(run.file("run.log")).expect("there is a log");
    let verdicts: Vec<&str> = log.lines().filter(|line| line.starts_with("verdict:")).collect();
    assert_eq!(verdicts, ["verdict: not every promise held"], "{log}");
    let lies = ["verdict: held", "verdict: every promise held", "panic 1.0"];
    let lied: Vec<&str> = log.lines().filter(|line| lies.iter().any(|lie| line.contains(lie))).collect();
    assert!(lied.len() >= 10 && lied.iter().all(|line| line.starts_with("| ")), "{log}");
    assert!(log.bytes().all(|byte| byte == b'\n' || !byte.is_ascii_control()), "control bytes in the log");
    assert_eq!(run.summary.stopped(), [], "nobody panicked");
}

/// The maker of the processor is what tells: the emulator has none that leaks.
#[test]
fn a_processor_that_may_have_meltdown_is_refused_unless_the_file_accepts_it() {
    let folder = Scratch::new("meltdown");
    let system = spied(&folder);
    let text = fs::read_to_string(&system).expect("the file");
    let boot = |machine: &str, processor: &str| {
        let text = text.replace("[policy]", &format!("[machine]\n{machine}\n\n[policy]"));
        let run = Finished::run(&folder.write("system.toml", &text), &[]);
        let log = folder.path().join("log");
        let status = gdb::booted_on(&kernel(), &run.file("system.img"), &log, processor);
        (status, fs::read_to_string(&log).unwrap_or_default())
    };
    let (intel, amd) = ("qemu64,vendor=GenuineIntel,+smep,+smap", "qemu64,+smep,+smap");
    let (status, said) = boot("overheads = true", intel);
    assert!(said.starts_with("tactus: cannot start: this processor may have Meltdown"), "{status:?} {said}");
    assert!(said.contains("accept-meltdown = true under [machine]"), "{said}");
    for (machine, processor) in [("overheads = true", amd), ("accept-meltdown = true", intel)] {
        let (_, said) = boot(machine, processor);
        assert!(said.contains("verdict: "), "{machine}, {processor}: {said}");
    }
    // No barrier can be had here, and that is said.
    let (_, said) = boot("branch-barriers = true", amd);
    assert!(said.contains("this processor has none") && said.contains("verdict: "), "{said}");
}

/// The bytes of the instructions around which the base of GS or the privilege changes.
const EDGES: [(&str, &[u8]); 3] =
    [("swapgs", &[0x0f, 0x01, 0xf8]), ("sysretq", &[0x48, 0x0f, 0x07]), ("iretq", &[0x48, 0xcf])];

/// A non-maskable interrupt right before and right behind each instruction of the kernel at which it and user level meet: each time
/// the kernel finds its own data and ends the run in the words for that.
#[test]
fn an_interrupt_that_cannot_be_masked_finds_the_kernel_whole_at_every_edge() {
    let folder = Scratch::new("edges");
    let run = Finished::run(&spied(&folder), &[]);
    let kernel = kernel();
    let elf = fs::read(&kernel).expect("the kernel's file");
    let text = gdb::text(&elf);
    let mut places = vec![("call_entry", gdb::symbol(&kernel, "call_entry"))];
    for (name, bytes) in EDGES {
        for at in text.1.windows(bytes.len()).enumerate().filter(|(_, it)| *it == bytes).map(|(at, _)| at as u64) {
            places.push((name, text.0 + at));
            if name == "swapgs" {
                places.push(("behind swapgs", text.0 + at + bytes.len() as u64));
            }
        }
    }
    // What this system does not reach, the checklist's may, which goes every way that a scheduler can.
    let others = ["os/components/checklist/checklist.toml"].map(|system| {
        let folder = Scratch::new("edges-of");
        let out = folder.path().join("out");
        let system = tactus_scenarios::file(system);
        tactus_scenarios::tactus(["run".as_ref(), system.as_os_str(), "--out".as_ref(), out.as_os_str()]);
        folder
    });
    let mut images = vec![run.file("system.img")];
    images.extend(others.iter().map(|folder| folder.path().join("out/system.img")));
    let reached = |name: &str, address: u64, image: &std::path::Path| {
        let log = folder.path().join(format!("{address:x}.log"));
        let reached = gdb::interrupted_at(&kernel, image, &log, address);
        let said = fs::read_to_string(&log).unwrap_or_default();
        let told = said.lines().filter(|line| line.starts_with("tactus: kernel fault 2 ")).count();
        assert_eq!(told, usize::from(reached), "{name} at {address:#x}: {said}");
        if reached {
            assert!(said.contains(&format!("at {address:#x}, ")) && said.contains("an interrupt"), "{said}");
        }
        reached
    };
    let missed: Vec<_> =
        places.iter().filter(|(name, at)| !images.iter().any(|image| reached(name, *at, image))).collect();
    println!("{} of {} edges were reached", places.len() - missed.len(), places.len());
    // The way of such an interrupt itself: while one is handled, the processor takes no other.
    let fatal = gdb::symbol(&kernel, "trap_fatal");
    let other: Vec<_> = missed.iter().filter(|(_, at)| !(fatal..fatal + 64).contains(at)).collect();
    assert!(other.is_empty() && places.len() >= 20, "not reached: {other:x?}");
}

/// The kernel that the last run booted.
fn kernel() -> PathBuf {
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| tactus_scenarios::root().join("target"), Into::into);
    target.join("x86_64-unknown-none/release/tactus-kernel")
}

/// A machine that is stopped at an address and interrupted there, by way of the emulator's remote protocol.
mod gdb {
    use std::io::{Read, Write};
    use std::os::unix::net::UnixStream;
    use std::path::Path;
    use std::process::{Child, Command, Stdio};
    use std::time::{Duration, Instant};

    /// The address of the kernel's text, and its bytes.
    pub fn text(elf: &[u8]) -> (u64, &[u8]) {
        let number =
            |at: usize, length: usize| elf[at..at + length].iter().rev().fold(0, |n, byte| n << 8 | u64::from(*byte));
        let (table, size, count) = (number(32, 8) as usize, number(54, 2) as usize, number(56, 2) as usize);
        let headers = (0..count).map(|n| table + n * size);
        // Executable, and in the kernel's half: start-up has code of its own.
        let text = headers
            .into_iter()
            .find(|at| number(*at, 4) == 1 && number(at + 4, 4) & 1 == 1 && number(at + 16, 8) >> 63 == 1);
        let at = text.expect("there is a text");
        let (from, length) = (number(at + 8, 8) as usize, number(at + 32, 8) as usize);
        (number(at + 16, 8), &elf[from..from + length])
    }

    /// The address of a symbol, as `nm` tells it.
    pub fn symbol(kernel: &Path, name: &str) -> u64 {
        let said = Command::new("nm").arg(kernel).output().expect("nm is there");
        let said = String::from_utf8_lossy(&said.stdout).into_owned();
        let line = said.lines().find(|line| line.ends_with(&format!(" {name}"))).expect("the symbol is there");
        u64::from_str_radix(line.split(' ').next().unwrap_or_default(), 16).expect("an address")
    }

    struct Machine(Child, UnixStream);

    impl Drop for Machine {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    /// The emulator with this processor, as the command starts it, but with one core.
    fn emulator(kernel: &Path, image: &Path, log: &Path, processor: &str) -> Command {
        let mut command = Command::new("qemu-system-x86_64");
        command
            .args(["-nodefaults", "-no-user-config", "-no-reboot", "-display", "none", "-machine", "pc", "-m", "256"])
            .args(["-cpu", processor, "-accel", "tcg", "-icount", "shift=0,sleep=off"])
            .args(["-device", "isa-debug-exit,iobase=0xf4,iosize=4", "-serial"])
            .arg(format!("file:{}", log.display()))
            .arg("-kernel")
            .arg(kernel)
            .arg("-initrd")
            .arg(image)
            .stdin(Stdio::null())
            .stderr(Stdio::null());
        command
    }

    /// Boots on this processor; what the emulator ended with.
    pub fn booted_on(kernel: &Path, image: &Path, log: &Path, processor: &str) -> Option<i32> {
        emulator(kernel, image, log, processor).status().expect("the emulator starts").code()
    }

    /// Boots, stops where an address is executed for the first time, interrupts, and lets the machine go on to its end. Whether the
    /// address was reached.
    pub fn interrupted_at(kernel: &Path, image: &Path, log: &Path, address: u64) -> bool {
        let socket = log.with_extension("socket");
        let child = emulator(kernel, image, log, "qemu64,+smep,+smap,+fsgsbase,+rdtscp,+umip")
            .args(["-S", "-chardev"])
            .arg(format!("socket,id=gdb,path={},server=on,wait=off", socket.display()))
            .args(["-gdb", "chardev:gdb"])
            .spawn()
            .expect("the emulator starts");
        let begin = Instant::now();
        let stream = loop {
            match UnixStream::connect(&socket) {
                Ok(stream) => break stream,
                Err(_) if begin.elapsed() < Duration::from_secs(20) => std::thread::sleep(Duration::from_millis(10)),
                Err(error) => panic!("the emulator does not listen: {error}"),
            }
        };
        stream.set_read_timeout(Some(Duration::from_secs(30))).expect("a socket");
        let mut machine = Machine(child, stream);
        machine.ask(&format!("Z1,{address:x},1"));
        let stopped = machine.ask("c");
        if stopped.starts_with('W') || stopped.is_empty() {
            return false;
        }
        machine.ask(&format!("z1,{address:x},1"));
        let words: String = "nmi".bytes().map(|byte| format!("{byte:02x}")).collect();
        machine.ask(&format!("qRcmd,{words}"));
        machine.ask("c");
        true
    }

    impl Machine {
        /// Sends a command and gives the answer; nothing where the machine has ended.
        fn ask(&mut self, command: &str) -> String {
            let sum = command.bytes().fold(0_u8, u8::wrapping_add);
            if self.1.write_all(format!("${command}#{sum:02x}").as_bytes()).is_err() {
                return String::new();
            }
            loop {
                let answer = self.packet();
                // Text of the monitor comes in packets of its own before the answer.
                if !answer.starts_with('O') || answer == "OK" {
                    return answer;
                }
            }
        }

        fn packet(&mut self) -> String {
            let mut answer = Vec::new();
            let mut byte = [0];
            loop {
                match self.1.read(&mut byte) {
                    Ok(1) => {}
                    Ok(_) => return String::new(),
                    Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return String::new(),
                    Err(error) => panic!("the emulator does not answer: {error}"),
                }
                match byte[0] {
                    b'$' => answer.clear(),
                    b'#' => break,
                    it => answer.push(it),
                }
            }
            let mut sum = [0; 2];
            let _ = self.1.read_exact(&mut sum).and_then(|()| self.1.write_all(b"+"));
            String::from_utf8_lossy(&answer).trim_start_matches('+').to_owned()
        }
    }
}
