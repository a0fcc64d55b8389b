//! A study on the kernel where something of the machine is missing.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::{Command, Stdio};
use tactus_lab_scenarios::command;
use tactus_scenarios::Scratch;

/// What the kernel needs is looked for before a sweep of minutes, not after it.
#[test]
fn a_machine_without_emulator_or_compiler_is_3_for_a_study_with_a_kernel_at_once() {
    let all = std::env::var_os("PATH").expect("PATH is set");
    for (lacks, named) in [(["qemu-system-x86_64"; 2], "qemu-system-x86"), (["rustc", "cargo"], "no Rust compiler")] {
        let scratch = Scratch::new("status");
        // Links to all programs but these; the first of a name is the one that counts.
        let path = scratch.path().join("bin");
        fs::create_dir_all(&path).expect("below the temporary folder");
        for entry in std::env::split_paths(&all).filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten() {
            if !lacks.iter().any(|name| entry.file_name() == *name) {
                let _ = symlink(entry.path(), path.join(entry.file_name()));
            }
        }
        let begun = std::time::Instant::now();
        let mut call = Command::new(command());
        call.args(["study", "mc2-robustness", "--systems", "1000"]).current_dir(scratch.path()).stdin(Stdio::null());
        call.env("PATH", &path).env_remove("CARGO").env_remove("RUSTC");
        let output = call.output().expect("the command starts");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{errors}");
        assert!(errors.contains(named), "{errors}");
        assert!(begun.elapsed().as_secs() < 60, "it was told after {:?}", begun.elapsed());
    }
}
