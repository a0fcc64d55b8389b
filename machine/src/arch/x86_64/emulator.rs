//! The emulated PC. The kernel, and a monitor below it, are ELF files with a PVH entry note.

/// The name of the program.
pub const PROGRAM: &str = "qemu-system-x86_64";

/// Debian's package that has it.
pub const PACKAGE: &str = "qemu-system-x86";

/// Debian's packages with a program of a later version, and with what that needs beside it.
pub const PACKAGES: [&str; 4] = [PACKAGE, "qemu-system-common", "qemu-system-data", "seabios"];

/// Folders with what a program reads that was unpacked from [`PACKAGES`], below the folder where it was.
pub const FIRMWARE: [&str; 2] = ["usr/share/qemu", "usr/share/seabios"];

/// The oldest version whose cores' interrupt controllers have registers (x2APIC).
pub const HAS_REGISTERS: (u32, u32) = (10, 0);

/// Memory above this would be split by the PC's hole below 4 GiB, and an address would no longer be a place in the file.
pub const MOST_MEMORY: u64 = 2 << 30;

/// The port at which the guest ends the emulator; see [`status_of_exit`].
pub const EXIT_PORT: u16 = 0xf4;

/// The boards that are emulated.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Board {
    /// Of 1996: all that a run without devices needs, and the quickest to start.
    #[default]
    Pc,
    /// Of 2007: its event timer may interrupt on lines 16 to 23.
    Q35,
}

/// Only what the emulator has in every version; the kernel probes for each and goes without.
const PROCESSOR: &str = "qemu64,+smep,+smap,+fsgsbase,+rdtscp,+umip";
/// The same with virtualisation and nested paging.
const SANDBOXED_PROCESSOR: &str = "qemu64,+smep,+smap,+fsgsbase,+rdtscp,+umip,+svm,+npt";
/// The same with registers of interrupt controllers.
const HELD_BACK_PROCESSOR: &str = "qemu64,+smep,+smap,+fsgsbase,+rdtscp,+umip,+svm,+npt,+x2apic";

impl Board {
    /// The emulator's name for it.
    pub fn name(self) -> &'static str {
        match self {
            Board::Pc => "pc",
            Board::Q35 => "q35",
        }
    }
}

/// The processor by the emulator's name: of a kernel with the machine for itself, or with a monitor below it; whether that holds its
/// interrupts to other cores back.
pub fn processor(monitored: bool, held_back: bool) -> &'static str {
    match (monitored, held_back) {
        (false, _) => PROCESSOR,
        (true, false) => SANDBOXED_PROCESSOR,
        (true, true) => HELD_BACK_PROCESSOR,
    }
}

/// The device by which the guest ends the emulator.
pub fn exit_device() -> Vec<String> {
    vec!["-device".into(), format!("isa-debug-exit,iobase={EXIT_PORT:#x},iosize=4")]
}

/// What the guest wrote to its exit port, from the emulator's exit status; nothing if it ended in another way. The
/// device turns the value `n` into the status `2n + 1`, so an even status is the emulator's own. So is 1, for trouble
/// with its command line; the guest never writes 0.
pub fn status_of_exit(status: i32) -> Option<u32> {
    (status > 1 && status & 1 == 1).then_some((status >> 1) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_odd_statuses_above_one_come_from_the_guest() {
        assert_eq!(status_of_exit(0), None);
        assert_eq!(status_of_exit(1), None);
        assert_eq!(status_of_exit(33), Some(16));
        assert_eq!(status_of_exit(34), None);
    }
}
