//! `tactus new`: a system of one's own in a folder of its own. It begins as one of the examples, all of which the tests run.

use crate::arguments::New;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};
use tactus_machine::build::give_lock;
use tactus_machine::failure::{Failure, Outcome};
use tactus_machine::place;
use tactus_machine::toolchain::Toolchain;
use tactus_model::MAX_NAME;
use tactus_terminal::lines;

/// What a new system begins as.
struct Beginning {
    /// The example: a folder below `examples/`, or a file without its ending.
    example: &'static str,
    /// What it is, for the person.
    what: &'static str,
}

/// Writes the files.
pub fn new(arguments: &New) -> Result<Outcome, Failure> {
    let beginning = match arguments {
        New { component: true, .. } => Beginning {
            example: "control-loop",
            what: "a controller and a watch that share a plant, each a component of your own",
        },
        New { scheduler: true, .. } => {
            Beginning { example: "own-scheduler", what: "a scheduler of your own, and a component of two threads" }
        }
        New { partition: true, .. } => {
            Beginning { example: "c-partition", what: "a partition of your own in C, beside one without a program" }
        }
        _ => Beginning { example: "start", what: "three tasks on a core, one of them in a server" },
    };
    let folder = &arguments.folder;
    let cannot = |error: io::Error| Failure::Machine(format!("{}: {error}", folder.display()));
    let name = name_of(folder)?;
    match fs::read_dir(folder).map(|mut entries| entries.next().is_some()) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => fs::create_dir_all(folder).map_err(cannot)?,
        Ok(false) => {}
        Ok(true) => {
            let said = format!("{} is not empty: name a new folder, so that nothing there is lost", folder.display());
            return Err(Failure::Input(said));
        }
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            return Err(Failure::Input(format!("{} is a file: name a new folder", folder.display())));
        }
        Err(error) => return Err(cannot(error)),
    }
    let root = place::root()?;
    let mut crates = Vec::new();
    let examples = root.join("examples");
    let system = format!("{name}.toml");
    let begin = |text: &str| begun(text, &root, (beginning.example, &name));
    let alone = examples.join(format!("{}.toml", beginning.example));
    if alone.exists() {
        copy(&alone, &folder.join(&system), &begin).map_err(cannot)?;
    } else {
        let from = examples.join(beginning.example);
        for file in files_of(&from).map_err(cannot)? {
            let place = file.strip_prefix(&from).unwrap_or(&file);
            let own = place == Path::new(beginning.example).with_extension("toml");
            let to = folder.join(if own { Path::new(&system) } else { place });
            copy(&file, &to, &begin).map_err(cannot)?;
            if to.ends_with("Cargo.toml") {
                crates.extend(to.parent().map(Path::to_path_buf));
            }
        }
    }
    fs::write(folder.join(".gitignore"), "/out\ntarget/\n").map_err(cannot)?;
    fs::write(folder.join("README.md"), readme(&name, &system, beginning.what, &root)).map_err(cannot)?;

    lines::line("new", format!("{} · {}", folder.join(&system).display(), beginning.what));
    let unlocked = lock(&crates, &root)?;
    if !unlocked.is_empty() {
        let names: Vec<String> = unlocked.iter().map(|it| it.display().to_string()).collect();
        let text = format!("{} has no Cargo.lock yet: cargo writes it at the first run", names.join(", "));
        lines::line("lock", text);
    }
    if is_new_repository(folder) {
        lines::line("git", "an empty repository");
    }
    let tactus = lines::quoted(&root.join("tactus").display().to_string());
    lines::line("next", format!("cd {} && {tactus} run {system}", lines::quoted(&folder.display().to_string())));
    Ok(Outcome::Held)
}

/// The name of the system: that of its folder.
fn name_of(folder: &Path) -> Result<String, Failure> {
    // `.` and `a/..` have names, too, where they are.
    let whole = match folder.file_name() {
        Some(_) => folder.to_path_buf(),
        None => folder.canonicalize().unwrap_or_else(|_| folder.to_path_buf()),
    };
    let name = whole.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let plain = name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-' || c == '_');
    if plain && name.starts_with(|c: char| c.is_ascii_alphanumeric()) && name.len() <= MAX_NAME {
        return Ok(name);
    }
    Err(Failure::Input(format!(
        "{:?} is the system's name too, which is of letters, digits, \"-\" and \"_\", begins with a letter or digit, and has \
         {MAX_NAME} characters at most: name the folder so",
        name.chars().take(40).collect::<String>()
    )))
}

/// All files of an example but those that a build or a run has left there, in order.
fn files_of(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() {
            if !["target", "out"].contains(&&*name) {
                files.extend(files_of(&path)?);
            }
        } else if name != "Cargo.lock" {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

fn copy(from: &Path, to: &Path, begin: &dyn Fn(&str) -> String) -> io::Result<()> {
    if let Some(folder) = to.parent() {
        fs::create_dir_all(folder)?;
    }
    fs::write(to, begin(&fs::read_to_string(from)?))
}

/// The text of an example where it goes: paths that lead out of the examples lead into the clone, and the system has its new name.
fn begun(text: &str, root: &Path, (example, name): (&str, &str)) -> String {
    const UP: &str = "../";
    let (mut whole, mut rest) = (String::new(), text);
    while let Some(place) = rest.find(UP) {
        let ups = rest[place..].split_inclusive(UP).take_while(|it| *it == UP).count();
        let after = &rest[place + ups * UP.len()..];
        whole.push_str(&rest[..place]);
        match after.starts_with("os/") {
            true => whole.push_str(&format!("{}/", root.display())),
            false => whole.push_str(&rest[place..place + ups * UP.len()]),
        }
        rest = after;
    }
    whole.push_str(rest);
    whole.replacen(&format!("name = {example:?}"), &format!("name = {name:?}"), 1)
}

/// Gives each crate its lock. Those that got none are given back: where cargo has never fetched what they need, or there is no cargo.
fn lock(crates: &[PathBuf], root: &Path) -> Result<Vec<PathBuf>, Failure> {
    let mut without = Vec::new();
    for folder in crates {
        let given = match Toolchain::find() {
            Ok(toolchain) => {
                let whole = env::current_dir().map(|here| here.join(folder)).unwrap_or_else(|_| folder.clone());
                give_lock(&toolchain, &whole, root).is_ok()
            }
            Err(_) => false,
        };
        if !given || !folder.join("Cargo.lock").exists() {
            without.push(folder.clone());
        }
    }
    Ok(without)
}

/// Makes the folder a repository of its own unless it lies in one, or there is no git.
fn is_new_repository(folder: &Path) -> bool {
    let git = |words: &[&str]| {
        let mut git = Command::new("git");
        git.args(words).current_dir(folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        git.status().is_ok_and(|status| status.success())
    };
    !git(&["rev-parse", "--is-inside-work-tree"]) && git(&["init", "--quiet"])
}

/// What a person reads first in the folder.
fn readme(name: &str, system: &str, what: &str, root: &Path) -> String {
    let root = root.display();
    format!(
        "# {name}\n\nA system of Tactus: {what}. `{system}` says what runs and how long it may take.\n\n    \
         {root}/tactus check {system}       can every task keep its deadline?\n    \
         {root}/tactus simulate {system}    what will the schedule look like?\n    \
         {root}/tactus run {system}         boot it, and judge what happened\n\n\
         All keys of a system file: `{root}/docs/system-file.md`. How components are written: `{root}/docs/components.md`.\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_into_the_clone_are_kept_and_others_are_as_they_were() {
        let text =
            "crate = \"../../os/rt\"\npath = \"../other\"\n../../examples/../os/x ..\nname = \"a\"\nname = \"a\"\n";
        let begun = begun(text, Path::new("/clone"), ("a", "mine"));
        assert_eq!(
            begun,
            "crate = \"/clone/os/rt\"\npath = \"../other\"\n../../examples//clone/os/x ..\nname = \"mine\"\nname = \"a\"\n"
        );
    }

    #[test]
    fn a_folder_whose_name_no_system_can_have_is_refused() {
        for good in ["a", "robot-2", "x/y_z", "x/./plant"] {
            assert!(name_of(Path::new(good)).is_ok(), "{good}");
        }
        for bad in ["-a", "a b", "é", "", "/", "x.toml", &"a".repeat(MAX_NAME + 1)] {
            assert!(name_of(Path::new(bad)).is_err(), "{bad}");
        }
    }
}
