//! The medium boots: a kernel of 77 bytes prints what GRUB handed it and ends the machine.
//!
//! Run with `cargo test -p tactus-image --test all iso:: -- --ignored`.

use crate::common::elf::{Elf, Segment, EXECUTE, READ};
use std::fs;
use std::path::Path;
use std::process::Command;
use tactus_image::{iso, IsoError};

/// `mov esp, 0x202000`, then for each tag of the boot information: text of the command line (type 1) or at the start
/// of the module (type 3) to the first serial port, a line each; at the end `out 0xf4, 0x2a`, which ends the emulator.
const CODE: [u8; 77] = [
    0xbc, 0x00, 0x20, 0x20, 0x00, // mov esp, 0x202000
    0x8d, 0x7b, 0x08, // lea edi, [ebx + 8]
    0x8b, 0x07, 0x85, 0xc0, 0x74, 0x35, // next: mov eax, [edi]; test eax, eax; jz done
    0x8d, 0x77, 0x08, 0x83, 0xf8, 0x01, 0x74, 0x08, // lea esi, [edi + 8]; cmp eax, 1; je print
    0x83, 0xf8, 0x03, 0x75, 0x1b, 0x8b, 0x77, 0x08, // cmp eax, 3; jne skip; mov esi, [edi + 8]
    0x66, 0xba, 0xfd, 0x03, 0xec, 0xa8, 0x20, 0x74,
    0xf7, // print: mov dx, 0x3fd; in al, dx; test al, 0x20; jz print
    0x66, 0xba, 0xf8, 0x03, 0xac, 0x84, 0xc0, 0x74, 0x03, // mov dx, 0x3f8; lodsb; test al, al; jz line
    0xee, 0xeb, 0xeb, 0xb0, 0x0a, 0xee, // out dx, al; jmp print; line: mov al, 10; out dx, al
    0x8b, 0x47, 0x04, 0x83, 0xc0, 0x07, 0x83, 0xe0, 0xf8, // skip: mov eax, [edi + 4]; add eax, 7; and eax, -8
    0x01, 0xc7, 0xeb, 0xc5, // add edi, eax; jmp next
    0xb8, 0x2a, 0x00, 0x00, 0x00, 0xe7, 0xf4, // done: mov eax, 0x2a; out 0xf4, eax
    0xf4, 0xeb, 0xfd, // stop: hlt; jmp stop
];

/// The kernel as an ELF file with a multiboot2 head.
fn kernel() -> Vec<u8> {
    let (magic, length) = (0xe852_50d6_u32, 24_u32);
    let head = [magic, 0, length, magic.wrapping_add(length).wrapping_neg(), 0, 8];
    let mut contents: Vec<u8> = head.iter().flat_map(|word| word.to_le_bytes()).collect();
    contents.extend(CODE);
    let segment = Segment { bytes: 0x2000, ..Segment::new(0x20_0000, READ | EXECUTE, contents) };
    Elf { entry: 0x20_0000 + u64::from(length), segments: vec![segment], ..Elf::default() }.write()
}

/// Makes a medium, boots it with these further options, and gives what came out of the serial port.
fn boot(options: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("kernel"), kernel()).unwrap();
    fs::write(at("image"), b"this is the module\0").unwrap();
    iso(&at("kernel"), &at("image"), "colour=blue size=4", &at("out.iso")).unwrap_or_else(|error| panic!("{error}"));
    let left: Vec<_> = fs::read_dir(folder.path()).unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(left.len(), 3, "nothing is left beside the medium: {left:?}");

    let serial = at("serial");
    let mut machine = Command::new("timeout");
    machine.args(["120", "qemu-system-x86_64", "-nodefaults", "-no-reboot", "-display", "none", "-m", "256M"]);
    machine.args(["-device", "isa-debug-exit,iobase=0xf4,iosize=4", "-serial"]);
    machine.arg(format!("file:{}", serial.display()));
    let options = options.iter().map(|option| option.replace("ISO", at("out.iso").to_str().unwrap()));
    let ended = machine.args(options).status().unwrap();
    let said = String::from_utf8_lossy(&fs::read(serial).unwrap()).into_owned();
    assert_eq!(ended.code(), Some(0x2a << 1 | 1), "{said}");
    said
}

fn check(said: &str) {
    assert!(said.contains("colour=blue size=4\n"), "{said}");
    assert!(said.contains("this is the module\n"), "{said}");
}

#[test]
#[ignore = "needs GRUB's tools and the emulator, takes 10 s"]
fn the_medium_boots_from_a_disc_with_bios() {
    check(&boot(&["-cdrom", "ISO"]));
}

#[test]
#[ignore = "needs GRUB's tools and the emulator, takes 10 s"]
fn the_medium_boots_from_a_disk_with_bios() {
    check(&boot(&["-drive", "file=ISO,format=raw,if=ide,snapshot=on"]));
}

#[test]
#[ignore = "needs GRUB's tools, the emulator and OVMF, takes 30 s"]
fn the_medium_boots_from_a_disc_with_uefi() {
    check(&boot(&["-bios", "/usr/share/ovmf/OVMF.fd", "-cdrom", "ISO"]));
}

#[test]
fn a_kernel_that_is_not_there_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.iso");
    let missing = Path::new("/nonexistent/kernel");
    match iso(missing, missing, "", &out) {
        Err(IsoError::File { path, .. }) => assert_eq!(path, missing),
        Err(IsoError::Missing { packages, .. }) => assert!(!packages.is_empty()),
        other => panic!("{other:?}"),
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "nothing half-made is left");
}
