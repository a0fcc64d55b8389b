//! Components of the user's own: crates anywhere on disk are built into the image, call the services that they were
//! granted and no others; and a crate that cannot be used is refused with words that help.

use std::fs;
use std::path::{Path, PathBuf};
use tactus_scenarios::{file, tactus, Finished, Said, Scratch};

/// A system of one core with a component and a task of this name; more lines for the component.
fn system(folder: &Scratch, name: &str, more: &str) -> PathBuf {
    folder.write(
        "system.toml",
        &format!(
            "[system]\nname = \"users\"\ncores = 1\nduration = \"100 ms\"\n\n[policy]\nkind = \"partitioned-edf\"\n\n\
             [[component]]\nname = \"{name}\"\ncrate = \"{name}\"\n{more}\n\n[[task]]\nname = \"{name}\"\ncore = 0\n\
             period = \"10 ms\"\nexecution = \"1 ms\"\ncomponent = \"{name}\"\n"
        ),
    )
}

const IDLE: &str = "#![no_std]\n#![no_main]\n\
    tactus_rt::component! { job: idle, services: [] }\nfn idle(_: &tactus_rt::Job) {}\n";

fn run(file: &Path) -> Said {
    let out = file.with_file_name("out");
    tactus(["run".as_ref(), file.as_os_str(), "--out".as_ref(), out.as_os_str()])
}

/// The run was refused as bad input, at a place in the system file, in these words.
fn refused(said: &Said, words: &[&str]) {
    let all = format!("{}{}", said.output, said.errors);
    assert_eq!(said.status, 2, "{all}");
    for word in words {
        assert!(all.contains(word), "{word:?} is not said:\n{all}");
    }
    assert!(!all.contains("panicked"), "{all}");
}

#[test]
fn the_control_loop_brings_the_cart_where_it_should_be_and_keeps_its_promises() {
    let run = Finished::run(&file("examples/control-loop/control-loop.toml"), &[]);
    assert!(run.summary.accepted() && run.summary.held(), "{}", run.said.output);
    assert_eq!(run.said.status, 0);
    // The watch gives up if the cart is not where it should be.
    assert_eq!(run.summary.stopped(), []);
    for task in run.summary.tasks() {
        assert_eq!(task.missed(), 0, "{}", task.name());
    }
    let watch = run.summary.task("watch");
    assert_eq!((watch.released(), watch.completed()), (40, 40));
    assert_eq!(run.summary.task("control").completed(), 200);
}

#[test]
fn a_controller_that_pushes_the_wrong_way_is_found_out_by_the_watch() {
    let folder = Scratch::new("wrong-way");
    let example = file("examples/control-loop");
    let program = fs::read_to_string(example.join("controller/src/main.rs")).expect("the example's program");
    let (right, wrong) = ("60 * (TARGET - position)", "60 * (TARGET / 2 - position)");
    assert!(program.contains(right));
    folder.component("astray", "main.rs", &program.replace(right, wrong));
    let text = fs::read_to_string(example.join("control-loop.toml")).expect("the example's system file");
    let mut text = text.replace("crate = \"controller\"", "crate = \"astray\"");
    for part in ["plant", "watch"] {
        let place = example.join(part);
        text = text.replace(&format!("crate = \"{part}\""), &format!("crate = \"{}\"", place.display()));
    }
    let run = Finished::run(&folder.write("control-loop.toml", &text), &[]);
    let stopped = run.summary.stopped();
    assert_eq!(stopped.len(), 1);
    assert_eq!(stopped[0].task.as_deref(), Some("watch"));
    assert_eq!(run.components()[stopped[0].component as usize], "watch");
}

#[test]
fn a_service_that_was_not_granted_does_not_exist() {
    let folder = Scratch::new("stranger");
    // The plant is in the image and serves others; the stranger was granted nothing.
    folder.component(
        "stranger",
        "main.rs",
        "#![no_std]\n#![no_main]\nuse tactus_rt::{calls, grant, Error, Job};\n\
         tactus_rt::component! { job: ask, services: [] }\n\
         fn ask(_: &Job) {\n    assert_eq!(grant(\"sense\").call([0; 5]), Err(Error::NotGranted));\n\
         \x20   for number in 1..100 { assert_eq!(calls::invoke(number, [0; 5]), Err(Error::NotGranted)); }\n}\n",
    );
    let plant = file("examples/control-loop/plant");
    let plant = format!("\n[[component]]\nname = \"plant\"\ncrate = \"{}\"\nprovides = [\"sense\"]", plant.display());
    let run = Finished::run(&system(&folder, "stranger", &plant), &[]);
    assert_eq!(run.summary.stopped(), [], "every answer was the right one");
    assert_eq!(run.summary.task("stranger").completed(), 10);
    let counted: u64 = run.kernel().iter().map(|core| core.refused).sum();
    assert_eq!(counted, 10 * 100, "and the kernel counted each");
}

#[test]
fn a_crate_that_does_not_compile_is_refused_with_the_compilers_words() {
    let folder = Scratch::new("no-rust");
    folder.component("broken", "main.rs", &format!("{IDLE}this is not Rust\n"));
    refused(
        &run(&system(&folder, "broken", "")),
        &["system.toml:9", "error: expected", "main.rs:5", "could not be built"],
    );
}

#[test]
fn a_crate_without_a_program_is_refused() {
    let folder = Scratch::new("library");
    folder.component("library", "lib.rs", "#![no_std]\n");
    refused(&run(&system(&folder, "library", "")), &["system.toml:9", "library", "src/main.rs"]);
}

#[test]
fn a_service_that_the_file_promises_and_the_program_lacks_is_refused() {
    let folder = Scratch::new("no-service");
    folder.component("poor", "main.rs", IDLE);
    refused(&run(&system(&folder, "poor", "provides = [\"riches\"]")), &["system.toml", "poor", "riches", "line 9"]);
}

#[test]
fn a_crate_without_a_beginning_is_refused() {
    let folder = Scratch::new("no-beginning");
    folder.component(
        "empty",
        "main.rs",
        "#![no_std]\n#![no_main]\n#[panic_handler]\nfn panic(_: &core::panic::PanicInfo) -> ! { loop {} }\n",
    );
    refused(&run(&system(&folder, "empty", "")), &["system.toml", "empty"]);
}

#[test]
fn the_page_on_components_shows_the_example_word_for_word() {
    let page = fs::read_to_string(file("docs/components.md")).expect("the page is there");
    let example = file("examples/control-loop");
    let files =
        ["plant/src/main.rs", "controller/src/main.rs", "watch/src/main.rs", "plant/Cargo.toml", "control-loop.toml"]
            .map(|name| fs::read_to_string(example.join(name)).expect("a part of the example"));
    let mut blocks = 0;
    for block in page.split("```").skip(1).step_by(2) {
        let Some((language, code)) = block.split_once('\n') else { continue };
        if !["rust", "toml"].contains(&language.trim()) {
            continue;
        }
        assert!(files.iter().any(|text| text.contains(code)), "not in the example:\n{code}");
        blocks += 1;
    }
    assert!(blocks >= 4, "the page shows {blocks} blocks");
}

#[test]
fn components_of_one_name_in_two_folders_are_not_taken_for_each_other() {
    let scratch = Scratch::new("namesakes");
    let write = |folder: &str, body: &str| {
        let source = format!(
            "#![no_std]\n#![no_main]\nuse tactus_rt::Job;\ntactus_rt::component! {{ job: job, services: [] }}\n\
             fn job(_: &Job) {{\n    {body}\n}}\n"
        );
        scratch.component_at(&format!("{folder}/part"), "part", "main.rs", &source);
        scratch.write(
            &format!("{folder}/system.toml"),
            "[system]\ncores = 1\nduration = \"20 ms\"\n[policy]\nkind = \"partitioned-edf\"\n\
             [[component]]\nname = \"part\"\ncrate = \"part\"\n\
             [[task]]\nname = \"part\"\ncore = 0\nperiod = \"10 ms\"\nexecution = \"1 ms\"\ncomponent = \"part\"\n",
        )
    };
    // Both are there before either is built.
    let (one, two) = (write("one", ""), write("two", "panic!()"));
    assert_eq!(Finished::run(&one, &[]).summary.outcome(), "held");
    assert_eq!(Finished::run(&two, &[]).summary.outcome(), "stopped");
    assert_eq!(Finished::run(&one, &[]).summary.outcome(), "held");
}

#[test]
fn a_component_without_a_lock_is_built_offline_with_the_versions_of_tactus_and_keeps_them() {
    let folder = Scratch::new("unlocked");
    let source = "#![no_std]\n#![no_main]\nuse tactus_rt::Job;\ntactus_rt::component! { job: job, services: [] }\nfn job(_: &Job) {}\n";
    folder.component("own", "main.rs", source);
    let text = "[system]\nname = \"unlocked\"\ncores = 1\nduration = \"50 ms\"\n[policy]\nkind = \"partitioned-fp\"\n\
                [[component]]\nname = \"own\"\ncrate = \"own\"\n[[task]]\nname = \"own\"\ncore = 0\npriority = 1\n\
                period = \"10 ms\"\nexecution = \"1 ms\"\ncomponent = \"own\"\n";
    let file = folder.write("system.toml", text);
    assert!(!folder.path().join("own/Cargo.lock").exists());
    let run = Finished::run(&file, &["--offline"]);
    assert_eq!(run.summary.outcome(), "held", "{}", run.said.output);
    let lock = std::fs::read_to_string(folder.path().join("own/Cargo.lock")).expect("a lock");
    assert!(lock.contains("name = \"own\"") && !lock.contains("name = \"clap\""), "{lock}");
}

#[test]
fn each_job_knows_its_tasks_whole_name_whatever_the_tasks_order() {
    let long = "a-name-as-long-as-a-name-may-be";
    assert_eq!(long.len(), 31);
    let folder = Scratch::new("names");
    let work = format!(
        "#![no_std]\n#![no_main]\nuse tactus_rt::Job;\n\
         tactus_rt::component! {{ job: work, services: [] }}\n\
         fn work(job: &Job) {{\n    match job.name() {{\n        {long:?} => assert_eq!(job.index(), 1),\n        \
         \"first\" => assert_eq!(job.index(), 0),\n        other => panic!(\"a task of the name {{other}}\"),\n    }}\n}}\n"
    );
    folder.component("named", "main.rs", &work);
    let task = |name: &str| {
        format!(
            "\n[[task]]\nname = {name:?}\ncomponent = \"named\"\ncore = 0\nperiod = \"10 ms\"\nexecution = \"1 ms\"\n"
        )
    };
    let file = folder.write(
        "system.toml",
        &format!(
            "[system]\nname = \"names\"\ncores = 1\nduration = \"100 ms\"\n\n[policy]\nkind = \"partitioned-edf\"\n\n\
             [[component]]\nname = \"named\"\ncrate = \"named\"\n{}{}",
            task("first"),
            task(long)
        ),
    );
    let said = run(&file);
    assert_eq!(said.status, 0, "{}{}", said.output, said.errors);
    assert!(said.output.contains("every promise held"), "{}", said.output);
}
