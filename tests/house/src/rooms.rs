//! The rooms: packages of the workspace, with what their manifests import and where their files are.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A package of ours.
#[derive(Debug)]
pub struct Room {
    /// Its folder, from the repository's root: `crates/policy`.
    pub path: String,
    /// The folders of the packages of ours that its manifest imports, without those for tests.
    pub imports: BTreeSet<String>,
    /// Its source files, tests and examples not among them.
    pub files: Vec<PathBuf>,
}

/// The repository's root.
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}

/// All packages of the workspace, those of the laboratory's, and the Python package beside them.
///
/// # Panics
/// Where a manifest cannot be read: then nothing can be said about the house.
pub fn rooms() -> Vec<Room> {
    let root = root();
    let members = |workspace: &str| -> Vec<String> {
        let manifest = manifest(&root.join(workspace));
        let members = manifest["workspace"]["members"].as_array().expect("the workspace has members");
        members.iter().filter_map(|it| it.as_str()).map(|member| format!("{workspace}{member}")).collect()
    };
    let mut paths = [members(""), members("lab/")].concat();
    paths.push("python".into());
    let named: Vec<(String, String)> =
        paths.iter().map(|path| (name(&manifest(&root.join(path))), path.clone())).collect();
    let room = |path: &String| {
        let folder = root.join(path);
        let manifest = manifest(&folder);
        let mut imports = BTreeSet::new();
        let sections = [Some(&manifest), manifest.get("target")];
        let targets = sections[1].and_then(|it| it.as_table()).into_iter().flat_map(|all| all.values());
        for section in sections[..1].iter().flatten().copied().chain(targets) {
            let Some(all) = section.get("dependencies").and_then(|it| it.as_table()) else { continue };
            for key in all.keys() {
                imports.extend(named.iter().filter(|(name, _)| name == key).map(|(_, path)| path.clone()));
            }
        }
        let mut files = Vec::new();
        collect(&folder.join("src"), &mut files);
        files.sort();
        Room { path: path.clone(), imports, files }
    };
    paths.iter().map(room).collect()
}

fn manifest(folder: &Path) -> toml::Value {
    let path = folder.join("Cargo.toml");
    let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn name(manifest: &toml::Value) -> String {
    manifest["package"]["name"].as_str().expect("a package has a name").to_string()
}

/// All Rust files beneath a folder.
pub fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let Ok(entries) = fs::read_dir(folder) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.is_dir() {
            collect(&path, files);
        } else if path.extension().is_some_and(|it| it == "rs") {
            files.push(path);
        }
    }
}

/// A file's syntax.
///
/// # Panics
/// Where it does not parse: then nothing can be said about the house.
pub fn parse(path: &Path) -> syn::File {
    let text = fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    syn::parse_file(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Whether an item is for tests only.
pub fn is_for_tests(attributes: &[syn::Attribute]) -> bool {
    let test = |it: &syn::Attribute| {
        it.path().is_ident("cfg") && it.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
    };
    attributes.iter().any(test)
}
