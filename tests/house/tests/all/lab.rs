//! The laboratory is beside the house: nobody needs it, and what both workspaces bring from registries is the same and compiled once.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use tactus_house::rooms::root;
use toml::{Table, Value};

fn read(path: &str) -> Table {
    let text = fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{path}: {error}"));
    toml::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
}

/// The packages of a lock file with their versions; those of registries alone, or ours.
fn locked(path: &str, from_registry: bool) -> BTreeMap<String, BTreeSet<String>> {
    let lock = read(path);
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let packages = lock["package"].as_array().expect("a lock file has packages");
    for package in packages.iter().filter(|it| it.get("source").is_some() == from_registry) {
        let [name, version] = ["name", "version"].map(|key| package[key].as_str().expect("a text").to_string());
        found.entry(name).or_default().insert(version);
    }
    found
}

/// The lock files tell of dependencies for tests, too.
#[test]
fn no_package_outside_the_laboratory_needs_one_of_it() {
    let main = locked("Cargo.lock", false);
    let members = read("lab/Cargo.toml");
    let members = members["workspace"]["members"].as_array().expect("it has members");
    let name = |member: &Value| {
        let manifest = read(&format!("lab/{}/Cargo.toml", member.as_str().expect("a path")));
        manifest["package"]["name"].as_str().expect("a name").to_string()
    };
    let own: Vec<String> = members.iter().map(name).collect();
    assert!(own.len() > 4 && own.iter().all(|name| locked("lab/Cargo.lock", false).contains_key(name)), "{own:?}");
    for (path, packages) in [("Cargo.lock", main), ("python/Cargo.lock", locked("python/Cargo.lock", false))] {
        let needed: Vec<&String> = own.iter().filter(|name| packages.contains_key(*name)).collect();
        assert!(needed.is_empty(), "{path}: {needed:?}");
    }
}

#[test]
fn what_both_workspaces_bring_from_registries_is_of_the_same_versions() {
    let (main, lab) = (locked("Cargo.lock", true), locked("lab/Cargo.lock", true));
    let other = |(name, versions): (&String, &BTreeSet<String>)| {
        let there = main.get(name)?;
        (!versions.is_subset(there)).then(|| format!("{name}: {versions:?} in lab/Cargo.lock, {there:?} in Cargo.lock"))
    };
    let wrong: Vec<String> = lab.iter().filter_map(other).collect();
    assert!(wrong.is_empty(), "cargo update --precise in lab/ mends it:\n{}", wrong.join("\n"));
    assert!(lab.keys().filter(|name| main.contains_key(*name)).count() > 30, "the files are read");
}

/// What a profile says of a package that both compile must be the same, or registry packages are compiled twice.
#[test]
fn profiles_of_both_workspaces_say_the_same_of_a_package() {
    let [main, lab] = ["Cargo.toml", "lab/Cargo.toml"].map(read);
    for profile in ["release", "dev"] {
        let [main, lab] = [&main, &lab].map(|it| it["profile"][profile].as_table().expect("a profile").clone());
        let split = |mut table: Table| {
            let packages = table.remove("package").expect("some packages have an entry");
            (table, packages.as_table().expect("a table").clone())
        };
        let ((main, of_main), (lab, of_lab)) = (split(main), split(lab));
        assert_eq!(main, lab, "profile.{profile}");
        let needed = locked("lab/Cargo.lock", true);
        for (name, entry) in &of_main {
            let both = name == "*" || needed.contains_key(name) || of_lab.contains_key(name);
            assert!(
                !both || of_lab.get(name) == Some(entry),
                "profile.{profile}.package.{name}: {:?}",
                of_lab.get(name)
            );
        }
    }
}
