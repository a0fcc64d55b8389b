//! AArch64: the emulator's board `virt`.
//!
//! The kernel is an ELF file that the emulator enters at a physical address, with a device tree at the beginning of memory. The image is
//! put to the end of memory, and the tree's command line says where (`os/kernel/src/arch/aarch64/loader.rs`).

use super::Emulated;
use tactus_model::System;

/// Where memory begins on this board.
const MEMORY: u64 = 1 << 30;

/// The board `virt`.
pub const EMULATED: Emulated = Emulated {
    target: "aarch64-unknown-none-softfloat",
    floating_point_target: "aarch64-unknown-none",
    program: "qemu-system-aarch64",
    package: "qemu-system-arm",
    most_memory: 2 << 30,
    memory: MEMORY,
    board: |_| "virt,gic-version=3",
    // The counter of time counts nanoseconds.
    processor: |_, _| "cortex-a57,cntfrq=1000000000",
    exit: || ["-semihosting-config", "enable=on,target=native"].map(str::to_string).into(),
    image,
    status_of_exit,
    refuses,
};

fn image(name: &str, bytes: u64, memory: u64, counted: bool) -> Vec<String> {
    let at = MEMORY + (memory - bytes) / 4096 * 4096;
    let counted = if counted { "counted " } else { "" };
    vec![
        "-device".into(),
        format!("loader,file={name},addr={at:#x},force-raw=on"),
        "-append".into(),
        format!("image={at:#x}+{bytes:#x} {counted}exit-codes"),
    ]
}

/// The guest's status is the emulator's. 0 says that the machine was switched off, and 1 is the emulator's own, for trouble with its command
/// line; the guest never ends with either.
fn status_of_exit(status: i32) -> Option<u32> {
    (status > 1).then_some(status as u32)
}

/// What this processor's kernel or machine has not yet.
fn refuses(system: &System) -> Option<&'static str> {
    let platform = &system.platform;
    let has = |right: fn(&tactus_model::Rights) -> bool| system.components.iter().any(|it| right(&it.rights));
    [
        (system.cores > 1, "it has several cores, and the kernel starts one there: set cores = 1"),
        (
            platform.colours > 1,
            "its memory has colours, which are told for the first processor's tables alone: leave colours out",
        ),
        (
            !system.slots.is_empty(),
            "it has slots for programs, which are packed for the first processor alone: leave them out",
        ),
        (!platform.devices.is_empty(), "its devices are a PC's: leave them and their drivers out"),
        (
            has(|it| it.floating_point),
            "a component has floating point, which is not tried there: leave floating-point out",
        ),
        (
            system.scheduling.servers.iter().any(|server| server.kind.reads_counters()),
            "a server counts misses, which no plug-in models there: choose another kind",
        ),
    ]
    .into_iter()
    .find_map(|(refused, why)| refused.then_some(why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_image_ends_where_memory_ends_and_begins_with_a_page() {
        let words = image("system.img", 0x1801, 0x10_0000, true);
        assert_eq!(words[1], "loader,file=system.img,addr=0x400fe000,force-raw=on");
        assert_eq!(words[3], "image=0x400fe000+0x1801 counted exit-codes");
    }

    #[test]
    fn statuses_that_the_emulator_has_of_itself_are_no_codes_of_the_guest() {
        assert_eq!([0, 1, 16, 115].map(status_of_exit), [None, None, Some(16), Some(115)]);
    }
}
