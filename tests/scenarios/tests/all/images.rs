//! What a system's policy does not use is not in its image: no function of another policy, and nothing that chooses among them.

use object::{Object, ObjectSymbol};
use std::path::PathBuf;
use std::{env, fs};
use tactus_scenarios::{file, root, Finished};

/// Systems, the program that is their root scheduler, and the one module of `tactus_policy` that decides there.
const SYSTEMS: [(&str, &str, &str); 4] = [
    ("partitioned-edf", "partitioned-edf", "partitioned"),
    ("global-edf", "clustered-edf", "clustered"),
    ("avionics", "mc2", "mc2"),
    ("platforms", "servers", "tree"),
];
const DECIDING: [&str; 5] = ["partitioned", "clustered", "mc2", "mixed", "tree"];

fn program(name: &str) -> PathBuf {
    let target = env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    target.join("x86_64-unknown-none/release").join(format!("tactus-scheduler-{name}"))
}

#[test]
fn a_root_scheduler_holds_the_policy_of_its_system_and_no_other() {
    for (system, name, module) in SYSTEMS {
        Finished::run(&file(&format!("examples/{system}.toml")), &["--duration", "600 ms"]);
        let bytes = fs::read(program(name)).expect("it was built for the run");
        let elf = object::File::parse(&*bytes).expect("it is a program");
        // Long names: `13tactus_policy11partitioned…`. Parameters are what a set-up is read into, not what decides.
        let functions: Vec<&str> = elf.symbols().filter_map(|symbol| symbol.name().ok()).collect();
        for other in DECIDING {
            let part = format!("13tactus_policy{}{other}", other.len());
            let of_it = functions.iter().filter(|name| name.contains(&part) && !name.contains("10parameters"));
            let (count, is_own) = (of_it.count(), other == module);
            assert_eq!(count > 0, is_own, "{name}: {count} functions of `{other}`");
        }
        println!("{name}: {} symbols, {} bytes", functions.len(), bytes.len());
    }
}
