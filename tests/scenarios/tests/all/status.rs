//! The exit status tells a script how a command ended: 0 the promise held, 1 it did not, 2 bad input, 3 this machine
//! could not do it.

use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use tactus_scenarios::{command, file, root, Said, Scratch};

/// Calls the command in `folder`, with another `PATH` if one is given.
fn call(folder: &Path, words: &[&str], path: Option<&Path>) -> Said {
    let mut call = Command::new(command());
    call.args(words).current_dir(folder).stdin(Stdio::null());
    if let Some(path) = path {
        call.env("PATH", path).env_remove("CARGO").env_remove("RUSTC");
    }
    let output = call.output().expect("the command starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let status = output.status.code().expect("no signal ended it");
    Said { status, output: text(&output.stdout), errors: text(&output.stderr) }
}

fn expect(status: i32, said: &Said, what: &str) {
    assert_eq!(said.status, status, "{what}\n{}\n{}", said.output, said.errors);
}

const FITS: &str =
    "[system]\nname = \"fits\"\ncores = 1\nduration = \"100 ms\"\n[policy]\nkind = \"partitioned-edf\"\n\
    [[task]]\nname = \"half\"\ncore = 0\nperiod = \"10 ms\"\nexecution = \"5 ms\"\n";

/// A folder with links to all programs of `PATH` but these.
fn programs_without(scratch: &Scratch, left_out: &[&str]) -> std::path::PathBuf {
    let folder = scratch.path().join(format!("bin-without-{}", left_out.join("-")));
    fs::create_dir_all(&folder).expect("below the temporary folder");
    let path: OsString = std::env::var_os("PATH").expect("PATH is set");
    for entry in std::env::split_paths(&path).filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten() {
        if !left_out.iter().any(|name| entry.file_name() == *name) {
            // The first of a name is the one that counts.
            let _ = symlink(entry.path(), folder.join(entry.file_name()));
        }
    }
    folder
}

#[test]
fn a_system_that_fits_is_0_for_check_simulate_and_run() {
    let scratch = Scratch::new("status");
    scratch.write("fits.toml", FITS);
    for verb in ["check", "simulate", "run"] {
        expect(0, &call(scratch.path(), &[verb, "fits.toml"], None), verb);
    }
    expect(0, &call(scratch.path(), &["report", "out/fits"], None), "report");
    expect(0, &call(scratch.path(), &["--help"], None), "--help");
}

#[test]
fn a_system_that_asks_for_more_than_there_is_is_1_for_check_simulate_and_run() {
    let scratch = Scratch::new("status");
    let overload = file("examples/overload.toml");
    let overload = overload.to_str().expect("a plain path");
    for verb in ["check", "simulate", "run"] {
        expect(1, &call(scratch.path(), &[verb, overload], None), verb);
    }
}

#[test]
fn broken_input_is_2_and_the_message_names_the_file() {
    let scratch = Scratch::new("status");
    scratch.write("fits.toml", FITS);
    scratch.write("broken.toml", &FITS.replace("cores = 1", "cores = 99"));
    for verb in ["check", "simulate", "run", "iso"] {
        for name in ["broken.toml", "absent.toml"] {
            let said = call(scratch.path(), &[verb, name], None);
            expect(2, &said, &format!("{verb} {name}"));
            assert!(said.errors.contains(name), "{}", said.errors);
        }
        expect(2, &call(scratch.path(), &[verb, "fits.toml", "--duration", "soon"], None), "a bad duration");
        expect(2, &call(scratch.path(), &[verb, "fits.toml", "--at-level", "A"], None), "a level without levels");
        assert!(!scratch.path().join("out").exists(), "{verb} left something behind");
    }
    expect(2, &call(scratch.path(), &["no-such-command"], None), "no such command");
    expect(2, &call(scratch.path(), &["report", "absent"], None), "no results");
}

#[test]
fn every_broken_example_is_2() {
    let mut count = 0;
    for entry in fs::read_dir(file("examples/broken")).expect("the broken examples").flatten() {
        let path = entry.path();
        if path.is_file() {
            let text = path.to_str().expect("a plain path");
            expect(2, &call(&root(), &["check", text], None), text);
            count += 1;
        }
    }
    assert!(count >= 30, "{count} broken examples");
    println!("{count} broken files, each 2");
}

#[test]
fn a_machine_without_the_emulator_is_3_for_run_and_0_for_check_and_simulate() {
    let scratch = Scratch::new("status");
    scratch.write("fits.toml", FITS);
    let path = programs_without(&scratch, &["qemu-system-x86_64"]);
    for verb in ["check", "simulate"] {
        expect(0, &call(scratch.path(), &[verb, "fits.toml"], Some(&path)), verb);
    }
    let said = call(scratch.path(), &["run", "fits.toml"], Some(&path));
    expect(3, &said, "run");
    assert!(said.errors.contains("apt-get install qemu-system-x86"), "{}", said.errors);
}

#[test]
fn a_machine_without_a_compiler_is_3_for_run() {
    let scratch = Scratch::new("status");
    scratch.write("fits.toml", FITS);
    let path = programs_without(&scratch, &["rustc", "cargo"]);
    let said = call(scratch.path(), &["run", "fits.toml"], Some(&path));
    expect(3, &said, "run");
    assert!(said.errors.contains("no Rust compiler"), "{}", said.errors);
}

#[test]
fn a_folder_that_cannot_be_written_is_3() {
    let scratch = Scratch::new("status");
    scratch.write("fits.toml", FITS);
    scratch.write("out", "a file where the folder of results would be");
    for verb in ["simulate", "run"] {
        expect(3, &call(scratch.path(), &[verb, "fits.toml"], None), verb);
    }
}

#[test]
fn a_machine_without_grubs_tools_is_3_for_iso_which_names_the_packages() {
    let scratch = Scratch::new("status");
    scratch.write("fits.toml", FITS);
    let path = programs_without(&scratch, &["grub-mkrescue", "xorriso"]);
    let said = call(scratch.path(), &["iso", "fits.toml"], Some(&path));
    expect(3, &said, "iso");
    assert!(said.errors.contains("apt-get install grub-common xorriso"), "{}", said.errors);
    let left: Vec<_> = fs::read_dir(scratch.path().join("out/fits")).into_iter().flatten().flatten().collect();
    assert!(left.is_empty(), "half-made files are left: {left:?}");
}
