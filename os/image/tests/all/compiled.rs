//! A program as compiler and linker really make it.

use crate::common::{component, image_with, program, system, task};
use std::fs;
use std::process::Command;
use tactus_image::{verify, Image, ImageError, ProgramError};
use tactus_model::Body;

const SOURCE: &str = r#"
#![no_std]
#![no_main]
#[repr(C)]
pub struct Service { name: *const u8, length: u64, entry: extern "C" fn(u64) -> u64 }
// SAFETY: never changed, and read by nobody at run time.
unsafe impl Sync for Service {}
static COUNT: core::sync::atomic::AtomicU64 = core::sync::atomic::AtomicU64::new(7);
static ROOM: [core::sync::atomic::AtomicU64; 2000] = [const { core::sync::atomic::AtomicU64::new(0) }; 2000];
extern "C" fn count(by: u64) -> u64 {
    ROOM[by as usize % 2000].store(by, core::sync::atomic::Ordering::Relaxed);
    COUNT.fetch_add(by, core::sync::atomic::Ordering::Relaxed)
}
extern "C" fn log(by: u64) -> u64 { by / count(1) }
#[no_mangle]
pub static TACTUS_SERVICES: [Service; 2] = [
    Service { name: b"count".as_ptr(), length: 5, entry: count },
    Service { name: b"log".as_ptr(), length: 3, entry: log },
];
#[no_mangle]
pub extern "C" fn _start() -> ! { loop { count(core::hint::black_box(&TACTUS_SERVICES)[0].length); } }
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! { loop {} }
"#;

/// Compiles the program with these further options and puts it into an image.
fn compiled(options: &[&str]) -> Result<Image, ImageError> {
    let folder = tempfile::tempdir().unwrap();
    let (source, out) = (folder.path().join("it.rs"), folder.path().join("it"));
    fs::write(&source, SOURCE).unwrap();
    let mut command = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()));
    command.args(["--edition=2021", "-O", "--target=x86_64-unknown-none", "-Cpanic=abort"]).args(options);
    let done = command.arg(&source).arg("-o").arg(&out).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));

    let mut first = task("first", Some(0));
    first.body = Body::Component(0);
    let system = system(1, vec![first], vec![component("mine", &["log", "count"], &[])]);
    image_with(&system, &program(&["complete"], 1), &program(&[], 2), &[fs::read(&out).unwrap()])
}

#[test]
#[ignore = "needs the compiler's core for x86_64-unknown-none"]
fn a_compiled_component_becomes_part_of_a_right_image() {
    let image = compiled(&["-Crelocation-model=static"]).unwrap_or_else(|error| panic!("{error}"));
    verify(&image.bytes).unwrap_or_else(|error| panic!("{error}"));
}

#[test]
#[ignore = "needs the compiler's core for x86_64-unknown-none"]
fn a_component_compiled_without_fixed_addresses_is_told_how_to_get_them() {
    match compiled(&[]) {
        Err(ImageError::Program { error: error @ ProgramError::NotFixed(_), .. }) => {
            assert!(error.to_string().contains("-C relocation-model=static"), "{error}");
        }
        other => panic!("{:?}", other.map(|image| image.facts)),
    }
}

#[test]
#[ignore = "needs the compiler's core for x86_64-unknown-none"]
fn a_component_whose_code_is_linked_writable_is_refused() {
    match compiled(&["-Crelocation-model=static", "-Clink-arg=-N"]) {
        Err(ImageError::Program { error: ProgramError::WritableAndExecutable { .. }, .. }) => {}
        other => panic!("{:?}", other.map(|image| image.facts)),
    }
}
