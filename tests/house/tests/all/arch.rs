//! What is a processor's stands in a folder `arch/`: nothing outside names a register, an instruction, a bit of a page table, a vector, a port or a
//! device of it, and nothing inside reaches for more of its room than the room says.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use tactus_house::modules::imports;
use tactus_house::rooms::{rooms, root, Room};

/// Rooms with a folder `arch/`, and what its files may import of the rest.
const ROOMS: &[(&str, &[&str])] = &[
    // The interface of counters; who gives up; the rest of taking and releasing a lock that others want.
    ("os/rt", &["crate::counters", "crate::calls::give_up", "crate::lock"]),
    // Nothing: what it needs is the trait beside the folders.
    ("os/kernel", &[]),
    ("os/image", &[]),
    ("machine", &[]),
];

/// Words that are one processor's, as they stand in code, in assembly and in comments: x86-64's first.
const WORDS: &[&str] = &[
    // Registers.
    "rax",
    "rbx",
    "rcx",
    "rdx",
    "rsi",
    "rdi",
    "rbp",
    "rsp",
    "rip",
    "eax",
    "ebx",
    "ecx",
    "edx",
    "edi",
    "r8",
    "r9",
    "r10",
    "r11",
    "r12",
    "r13",
    "r14",
    "r15",
    "rflags",
    "RFLAGS",
    "cs",
    "ss",
    "cr0",
    "cr2",
    "cr3",
    "cr4",
    "CR0",
    "CR2",
    "CR3",
    "CR4",
    "GS",
    "FS",
    "MSR",
    "MSRs",
    // Instructions and what they are about.
    "rdtsc",
    "_rdtsc",
    "TSC",
    "cpuid",
    "__cpuid",
    "CPUID",
    "wrmsr",
    "rdmsr",
    "write_msr",
    "read_msr",
    "syscall",
    "sysret",
    "sysretq",
    "iretq",
    "swapgs",
    "hlt",
    "cli",
    "sti",
    "invlpg",
    "fxsave",
    "fxsave64",
    "FXSAVE",
    "xchg",
    "cmpxchg",
    "ud2",
    "SSE",
    "AVX",
    "IBPB",
    "STIBP",
    "PCID",
    "SMEP",
    "SMAP",
    // Tables, vectors and segments.
    "GDT",
    "IDT",
    "TSS",
    "pml4",
    "boot_pml4",
    "PML4",
    "NO_EXECUTE",
    "selector",
    "selectors",
    "USER_CODE",
    "USER_DATA",
    "USER_FLAGS",
    "VECTOR_CALL",
    "VECTOR_PASS",
    "VECTOR_TIMER",
    "VECTOR_LINES",
    "VECTOR_MAIL",
    "VECTOR_STOP",
    "VECTOR_NOTIFY",
    // Devices, ports and tables of firmware.
    "APIC",
    "apic",
    "lapic",
    "ioapic",
    "PIC",
    "PIT",
    "ACPI",
    "acpi",
    "acpi_root",
    "in8",
    "out8",
    "in32",
    "out32",
    "COM1",
    "0x3f8",
    "0xf4",
    "0xcf8",
    "PVH",
    "multiboot",
    "multiboot2",
    "Multiboot",
    // Makers and names.
    "x86",
    "x86_64",
    "x86-64",
    "sysv64",
    "Intel",
    "AMD",
    "GenuineIntel",
    "AuthenticAMD",
    "EM_X86_64",
    "qemu-system-x86_64",
    "qemu64",
    "isa-debug-exit",
    "grub-mkrescue",
    // AArch64's registers, instructions and levels.
    "TTBR0",
    "TTBR1",
    "ttbr0_el1",
    "ttbr1_el1",
    "TCR",
    "MAIR",
    "SCTLR",
    "ESR",
    "SPSR",
    "spsr_el1",
    "elr_el1",
    "esr_el1",
    "far_el1",
    "sp_el0",
    "tpidr_el0",
    "tpidr_el1",
    "cntvct_el0",
    "cntfrq_el0",
    "CNTVCT",
    "cpacr_el1",
    "MPIDR",
    "mpidr_el1",
    "daifset",
    "daifclr",
    "xzr",
    "svc",
    "eret",
    "hvc",
    "wfi",
    "isb",
    "dsb",
    "dmb",
    "tlbi",
    "ldxr",
    "stxr",
    "EL0",
    "EL1",
    "EL2",
    "ASID",
    "ASIDs",
    // Its devices, firmware, makers and names.
    "GIC",
    "gic",
    "GICv3",
    "PL011",
    "PSCI",
    "semihosting",
    "fdt",
    "aarch64",
    "AArch64",
    "ARMv8",
    "Cortex",
    "cortex-a57",
    "EM_AARCH64",
    "qemu-system-aarch64",
];

/// The same in more than one word.
const PHRASES: &[&str] = &["asm!", "core::arch", "std::arch", "time-stamp counter", "arch::processor"];

/// The things of one processor that a text names.
fn named(text: &str) -> BTreeSet<&'static str> {
    let inside = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    let whole: BTreeSet<&str> = text.split(|c| !inside(c)).collect();
    let parts: BTreeSet<&str> = text.split(|c: char| !inside(c) || c == '-').collect();
    let words = WORDS.iter().filter(|word| whole.contains(**word) || parts.contains(**word));
    words.chain(PHRASES.iter().filter(|phrase| text.contains(**phrase))).copied().collect()
}

/// Files with their texts.
type Texts = Vec<(String, String)>;

/// The files of a room: those of its processors, and the others. Left out is `arch/mod.rs`, which names its folders.
fn files(room: &Room) -> [Texts; 2] {
    let source = root().join(&room.path).join("src");
    let all = room.files.iter().map(|file| {
        let inside = file.strip_prefix(&source).unwrap_or(file).to_string_lossy().into_owned();
        let text = fs::read_to_string(file).expect("the file was listed");
        // What tests say of the machine that they run on is theirs.
        (inside, text.split("\n#[cfg(test)]\nmod tests").next().unwrap_or_default().to_string())
    });
    let (inside, outside) =
        all.filter(|(file, _)| file != "arch/mod.rs").partition(|(file, _)| file.starts_with("arch/"));
    [inside, outside]
}

fn of(name: &str) -> Room {
    rooms().into_iter().find(|room| room.path == name).expect("the room is there")
}

#[test]
fn nothing_outside_arch_names_a_processors_own() {
    let mut wrong = Vec::new();
    for (name, _) in ROOMS {
        let [inside, outside] = files(&of(name));
        assert!(inside.len() > 1 && outside.len() > 3, "{name}: the files are read");
        for (file, text) in outside {
            for (number, line) in text.lines().enumerate() {
                wrong.extend(named(line).iter().map(|word| format!("{name}/src/{file}:{}: {word}", number + 1)));
            }
        }
    }
    assert!(wrong.is_empty(), "{} places:\n{}", wrong.len(), wrong.join("\n"));
}

/// The words of the list are those of the machine, and a planted one is found, in code, in assembly and in a comment.
#[test]
fn a_planted_word_is_found() {
    for word in WORDS.iter().chain(PHRASES) {
        for text in [
            format!("let it = {word};"),
            format!("// the {word}'s"),
            format!("\"mov {word}, 1\""),
            format!("a::{word}::b"),
        ] {
            assert!(named(&text).contains(word), "{text}");
        }
    }
    assert_eq!(named("relax(); a_rax_b; chapic; x86ish"), BTreeSet::new());
}

/// What a file imports of its room but `arch/`, in the words of the list of what it may: paths from `crate` in code and in macros.
fn reaches(text: &str) -> BTreeSet<String> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n");
    let mut found = BTreeSet::new();
    for (at, _) in code.match_indices("crate::") {
        let path: String = code[at..].chars().take_while(|c| c.is_alphanumeric() || *c == '_' || *c == ':').collect();
        // `crate::{…}` stays as it is: a list names its paths one by one.
        found.insert(path.strip_suffix("::").map_or_else(|| path.clone(), str::to_string));
    }
    found.retain(|path| path != "crate::arch" && !path.starts_with("crate::arch::"));
    found
}

fn may(path: &str, allowed: &[&str]) -> bool {
    allowed.iter().any(|it| path == *it || path.strip_prefix(it).is_some_and(|rest| rest.starts_with("::")))
}

#[test]
fn arch_imports_of_its_room_only_what_the_list_names() {
    let mut wrong = Vec::new();
    for (name, allowed) in ROOMS {
        let room = of(name);
        let [inside, _] = files(&room);
        let reached: BTreeSet<String> = inside.iter().flat_map(|(_, text)| reaches(text)).collect();
        wrong.extend(reached.iter().filter(|path| !may(path, allowed)).map(|path| format!("{name}: {path}")));
        let unused = allowed.iter().filter(|it| !reached.iter().any(|path| may(path, &[it])));
        wrong.extend(unused.map(|it| format!("{name}: nobody imports {it}: take it off the list")));
        // By `super` as well: the files that are reached.
        let known: BTreeSet<String> =
            allowed.iter().filter_map(|it| it.split("::").nth(1)).map(str::to_string).collect();
        let all: BTreeMap<String, BTreeSet<String>> = imports(&room, &root());
        for (file, imports) in all.iter().filter(|(file, _)| file.starts_with("arch/") && *file != "arch/mod.rs") {
            let others = imports.iter().filter(|it| !it.starts_with("arch/"));
            let module = |it: &str| it.split(['/', '.']).next().unwrap_or_default().to_string();
            wrong.extend(
                others.filter(|it| !known.contains(&module(it))).map(|it| format!("{name}: {file} imports {it}")),
            );
        }
        // The reader sees imports where there are some.
        assert!(all.iter().any(|(file, imports)| !file.starts_with("arch/") && !imports.is_empty()));
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert_eq!(reaches("use crate::{arch, policy};"), [String::from("crate")].into());
    assert_eq!(reaches("use crate::policy::Order;\n// crate::no\nsym crate::lock::take, $crate::arch::x"), {
        ["crate::lock::take", "crate::policy::Order"].map(String::from).into()
    });
}
