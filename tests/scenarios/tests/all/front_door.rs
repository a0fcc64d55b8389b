//! The front door, `./tactus`, in a clone of its own with a toolchain that only pretends: what it chooses, and what it does where
//! two begin at once or nothing can be written.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use tactus_scenarios::{file, Scratch};

/// A toolchain in `folder`; with `core` for the bare machine or without.
fn toolchain(scratch: &Scratch, folder: &str, core: bool) {
    let sysroot = scratch.path().join(folder).join("root");
    let libraries = sysroot.join("lib");
    fs::create_dir_all(&libraries).expect("below the temporary folder");
    if core {
        fs::write(libraries.join("libcore-0.rlib"), "").expect("below the temporary folder");
    }
    let rustc = format!(
        "#!/bin/sh\ncase $* in --version) echo 'rustc 1.90.0' ;; *target-libdir*) echo {} ;; *) echo {} ;; esac\n",
        libraries.display(),
        sysroot.display()
    );
    // Building takes a while, is noted, and makes a command that says which folder it came from: the last of cargo's words is a package.
    let cargo = format!(
        "#!/bin/sh\n[ \"$1\" = --version ] && echo 'cargo 1.90.0' && exit\necho {folder} >>\"$CARGO_TARGET_DIR/builds\"\nsleep 1\n\
        mkdir -p \"$CARGO_TARGET_DIR/release\"\nfor word; do :; done\ncase $word in *-lab) name=tactus-lab ;; *) name=tactus ;; esac\n\
        printf '#!/bin/sh\\necho '$name' built by {folder}\\n' >\"$CARGO_TARGET_DIR/release/$name\"\nchmod +x \"$CARGO_TARGET_DIR/release/$name\"\n"
    );
    for (name, text) in [("rustc", rustc), ("cargo", cargo)] {
        let path = scratch.write(&format!("{folder}/{name}"), &text);
        fs::set_permissions(path, fs::Permissions::from_mode(0o755)).expect("it is ours");
    }
}

/// A clone with nothing but the front door.
fn clone(scratch: &Scratch) {
    fs::copy(file("tactus"), scratch.path().join("tactus")).expect("the front door");
    for name in ["Cargo.toml", "Cargo.lock", "cli/x", "crates/x", "lab/x", "os/abi/x", "os/image/x"] {
        scratch.write(name, "");
    }
}

fn start(scratch: &Scratch, words: &str, path: &[&str], target: &Path) -> Command {
    let folders = path.iter().map(|it| scratch.path().join(it));
    let all = std::env::var_os("PATH").expect("PATH is set");
    let path = std::env::join_paths(folders.chain(std::env::split_paths(&all))).expect("plain names");
    let mut call = Command::new(scratch.path().join("tactus"));
    call.args(words.split(' '))
        .env("PATH", path)
        .env("CARGO_TARGET_DIR", target)
        .env("CARGO_HOME", scratch.path().join("none"));
    call.env_remove("CARGO").env_remove("RUSTC").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    call
}

fn words(output: &Output) -> String {
    format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr))
}

#[test]
fn of_several_first_starts_at_once_one_builds_and_all_go_on() {
    let scratch = Scratch::new("door");
    clone(&scratch);
    toolchain(&scratch, "tools", true);
    let target = scratch.path().join("target");
    let begun: Vec<_> =
        (0..4).map(|_| start(&scratch, "check", &["tools"], &target).spawn().expect("the front door starts")).collect();
    for child in begun {
        let output = child.wait_with_output().expect("it ended");
        assert_eq!(output.status.code(), Some(0), "{}", words(&output));
        assert!(words(&output).contains("built by tools"), "{}", words(&output));
    }
    assert_eq!(fs::read_to_string(target.join("builds")).expect("it was built"), "tools\n", "built once");
}

#[test]
fn check_and_run_choose_one_toolchain_and_build_once() {
    let scratch = Scratch::new("door");
    clone(&scratch);
    toolchain(&scratch, "bare", false);
    toolchain(&scratch, "whole", true);
    let target = scratch.path().join("target");
    for verb in ["check", "run", "check", "run"] {
        let output = start(&scratch, verb, &["bare", "whole"], &target).output().expect("the front door starts");
        assert_eq!(output.status.code(), Some(0), "{verb}: {}", words(&output));
    }
    assert_eq!(fs::read_to_string(target.join("builds")).expect("it was built").lines().count(), 1);
}

/// Whoever asks for no study and no rig never compiles the laboratory, and whoever does, compiles it once.
#[test]
fn the_laboratory_is_built_when_it_is_first_asked_for() {
    let scratch = Scratch::new("door");
    clone(&scratch);
    toolchain(&scratch, "tools", true);
    let target = scratch.path().join("target");
    let built = || fs::read_to_string(target.join("builds")).expect("it was built").lines().count();
    for (words, by, builds) in [
        ("check", "tactus built", 1),
        ("study bdm", "tactus-lab built", 2),
        ("rig compare", "tactus-lab built", 2),
        ("help rig", "tactus-lab built", 2),
        ("simulate", "tactus built", 2),
    ] {
        let output = start(&scratch, words, &["tools"], &target).output().expect("the front door starts");
        assert!(crate::front_door::words(&output).contains(by), "{words}: {}", crate::front_door::words(&output));
        assert_eq!(built(), builds, "{words}");
    }
    // A source of the laboratory is none of the command's.
    std::thread::sleep(std::time::Duration::from_millis(20));
    scratch.write("lab/x", "changed");
    for (words, builds) in [("check", 2), ("rig run", 3)] {
        start(&scratch, words, &["tools"], &target).output().expect("the front door starts");
        assert_eq!(built(), builds, "{words}");
    }
}

#[test]
fn what_boots_a_kernel_is_given_a_machine_and_what_does_not_is_not() {
    let scratch = Scratch::new("door");
    clone(&scratch);
    toolchain(&scratch, "tools", true);
    let target = scratch.path().join("target");
    let needs = |words: &str| {
        for stamp in ["front-door-machine", "front-door-host"] {
            let _ = fs::remove_file(target.join(stamp));
        }
        let output = start(&scratch, words, &["tools"], &target).output().expect("the front door starts");
        assert_eq!(output.status.code(), Some(0), "{words}: {}", crate::front_door::words(&output));
        match (target.join("front-door-machine").exists(), target.join("front-door-host").exists()) {
            (true, false) => "machine",
            (false, true) => "host",
            other => panic!("{words}: {other:?}"),
        }
    };
    let boots = [
        "run",
        "study interrupts",
        "study overheads --tasks 5",
        "study mc2-overheads",
        "study mc2-robustness --systems 3",
    ];
    for words in boots {
        assert_eq!(needs(words), "machine", "{words}");
    }
    for words in ["check", "study bdm", "study schedulability x", "study disk", "study interrupts --help"] {
        assert_eq!(needs(words), "host", "{words}");
    }
    assert_eq!(needs("study mc2-robustness --kernel 0 s"), "host", "a word with a blank looks the same");
}

#[test]
fn a_folder_of_builds_that_cannot_be_written_is_3_with_the_reason() {
    let scratch = Scratch::new("door");
    clone(&scratch);
    toolchain(&scratch, "tools", true);
    // Where a folder of builds would be there is a file: nobody can write below that, not even root.
    let target = scratch.write("taken", "").join("target");
    let output = start(&scratch, "check", &["tools"], &target).output().expect("the front door starts");
    assert_eq!(output.status.code(), Some(3), "{}", words(&output));
    assert!(words(&output).contains("nothing can be written to"), "{}", words(&output));
}
