//! What the check of a system file counts is what an image has; a file with more components or threads, or shorter periods, is simulated
//! alone, and the image says what does not fit.

use crate::common::{image, image_with, program, programs, system, task, unfit};
use std::fmt::Write;
use std::path::Path;
use tactus_abi::shared::{COMPLETE, EVENT, RAISE, SECTION, WAIT};
use tactus_model::{Demand, System, SYSTEM_GRANTS};
use tactus_time::Duration;

#[test]
fn names_of_the_systems_own_grants_are_those_that_the_file_may_not_use() {
    assert_eq!(SYSTEM_GRANTS, [COMPLETE, RAISE, SECTION, EVENT, WAIT]);
}

/// So many tasks of the built-in workload, one of each component, and components without any.
fn text(workloads: usize, components: usize, (spares, brands): (usize, usize)) -> String {
    let mut text =
        String::from("[system]\ncores = 1\nduration = '1 s'\nmemory = '1 GiB'\n[policy]\nkind = 'partitioned-edf'\n");
    for n in 0..workloads {
        let _ = writeln!(text, "[[task]]\nname = 't{n}'\nperiod = '1 s'\nexecution = '1 ms'");
    }
    for n in 0..components {
        let (threads, brands) = if n == 0 { (spares, brands) } else { (0, 0) };
        let _ = writeln!(text, "[[component]]\nname = 'u{n}'\ncrate = '.'\nthreads = {threads}\nbrands = {brands}");
    }
    text
}

/// Whether the check accepts the text, and whether an image of that system holds it.
fn both(text: &str) -> (Result<(), String>, bool) {
    match System::parse_toml(text, &Path::new(env!("CARGO_MANIFEST_DIR")).join("limits.toml")) {
        Ok(system) => (Ok(()), image(&system).is_ok()),
        Err(problems) => (Err(problems.to_string()), false),
    }
}

#[test]
fn a_file_with_as_much_as_an_image_holds_fits_and_of_one_with_more_the_image_says_what_does_not() {
    let plain = text(1, 0, (0, 0));
    let often = plain.replace("period = '1 s'\nexecution = '1 ms'", "period = '50 us'\nexecution = '5 us'");
    let cases = [
        (text(240, 15, (0, 0)), text(240, 16, (0, 0)), "the system has 257 components, an image holds at most 256"),
        (text(239, 1, (24, 0)), text(240, 1, (24, 0)), "threads, an image holds at most"),
        (
            plain,
            often,
            "the period of task \"t0\" is 50 µs; a machine with this instruction time serves 100 µs or more",
        ),
    ];
    for (fits, more, what) in cases {
        assert_eq!(both(&fits), (Ok(()), true), "{what}");
        let system =
            System::parse_toml(&more, Path::new("limits.toml")).unwrap_or_else(|problems| panic!("{problems}"));
        let error = image(&system).expect_err(what).to_string();
        assert!(error.contains(what), "{error}");
    }
    let brands = text(1, 1, (0, 32));
    assert_eq!(both(&brands), (Ok(()), true));
    let (refused, _) = both(&(brands + "[[component]]\nname = 'v'\ncrate = '.'\nbrands = 1"));
    assert!(refused.is_err_and(|text| text.contains("brands")));
}

#[test]
fn what_a_component_may_call_is_counted_as_the_image_does() {
    let used = |count: usize, provides: usize| {
        let services: Vec<String> = (0..provides).map(|n| format!("'s{n}'")).collect();
        let uses: Vec<String> = (0..count).map(|n| format!("c{n} = 'other.s{n}'")).collect();
        format!(
            "{}[[task]]\nname = 'own'\nperiod = '1 s'\nexecution = '1 ms'\ncomponent = 'user'\nwaits = [{{ after = '0.1 ms', length = '1 ms' }}]\n\
             [[component]]\nname = 'other'\ncrate = '.'\nprovides = [{}]\n[[component]]\nname = 'user'\ncrate = '.'\nuses = {{ {} }}\n",
            text(1, 0, (0, 0)),
            services.join(", "),
            uses.join(", ")
        )
    };
    // Two are the schedulers': the end of a job, and to wait.
    let fits = System::parse_toml(&used(14, 15), &Path::new(env!("CARGO_MANIFEST_DIR")).join("limits.toml"))
        .unwrap_or_else(|problems| panic!("{problems}"));
    let (scheduler, workload) = (program(&SYSTEM_GRANTS, 1), program(&[], 2));
    image_with(&fits, &scheduler, &workload, &programs(&fits)).unwrap_or_else(|error| panic!("{error}"));
    let refused = System::parse_toml(&used(15, 15), &Path::new(env!("CARGO_MANIFEST_DIR")).join("limits.toml"))
        .expect_err("one too many");
    assert!(refused.to_string().contains("uses 15 services, and 2 of the schedulers; 16"), "{refused}");
}

#[test]
fn a_chain_of_calls_is_as_long_as_a_thread_can_go() {
    let chain = |length: usize| {
        let mut text = text(1, 0, (0, 0));
        for n in 0..length {
            let uses = if n + 1 < length { format!("uses = {{ next = 'c{}.x' }}", n + 1) } else { String::new() };
            let _ = writeln!(text, "[[component]]\nname = 'c{n}'\ncrate = '.'\nprovides = ['x']\n{uses}");
        }
        text
    };
    assert_eq!(both(&chain(7)), (Ok(()), true));
    let (refused, _) = both(&chain(8));
    assert!(refused.is_err_and(|text| text.contains("go through 8 components (c0 → c1")));
    let taken = "[[component]]\nname = 'a'\ncrate = '.'\nprovides = ['x']\n[[component]]\nname = 'b'\ncrate = '.'\nuses = { wait = 'a.x' }";
    let (refused, _) = both(&(text(1, 0, (0, 0)) + taken));
    assert!(refused.is_err_and(|text| text.contains("the system's own")));
}

#[test]
fn what_fits_with_no_programs_is_known_before_they_are_compiled() {
    let (mut before, mut after) = (0, 0);
    for (megabytes, seconds, count) in
        (2..42).step_by(3).flat_map(|it| [1, 20, 200].into_iter().flat_map(move |s| [1, 8].map(|n| (it, s, n))))
    {
        let mut system = system(1, (0..count).map(|n| task(&format!("t{n}"), Some(0))).collect(), Vec::new());
        (system.memory, system.duration) = (megabytes << 20, Duration::from_secs(seconds));
        system.tasks[0].demand = Demand::Uniform { min: Duration::from_micros(1), max: Duration::from_millis(1) };
        let (unfit, refused) = (unfit(&system), image(&system).err());
        if let Some(unfit) = &unfit {
            let refused = refused.as_ref().map(std::mem::discriminant);
            assert_eq!(refused, Some(std::mem::discriminant(unfit)), "{megabytes} MiB, {seconds} s: {unfit}");
        }
        before += usize::from(unfit.is_some());
        after += usize::from(refused.is_some());
    }
    println!("{after} refused, {before} of them before");
    // What the small programs of these tests take beside the shortest is less than a megabyte.
    assert!(before > 20 && before < 64 && after - before <= 4, "{after} refused, {before} of them before");
}
