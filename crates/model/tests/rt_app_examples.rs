//! The example files of rt-app itself, which are not kept here: what `docs/measured/rt-app.md` says of each is so.
//!
//! ```console
//! $ git clone https://github.com/scheduler-tools/rt-app
//! $ RT_APP_EXAMPLES=$PWD/rt-app/doc/examples cargo test -p tactus-model --test rt_app_examples -- --ignored
//! ```

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use tactus_model::System;

/// All JSON files under a folder, by their name from there.
fn files(root: &Path) -> BTreeMap<String, PathBuf> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder of rt-app's examples") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "json") {
                let name = path.strip_prefix(root).expect("a path below the root");
                found.insert(name.to_string_lossy().into_owned(), path.clone());
            }
        }
    }
    found
}

#[test]
#[ignore = "needs rt-app's own example files, in RT_APP_EXAMPLES"]
fn the_table_in_the_book_tells_the_truth_about_rt_apps_own_examples() {
    let root = std::env::var_os("RT_APP_EXAMPLES").expect("RT_APP_EXAMPLES names rt-app's folder doc/examples");
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/measured/rt-app.md");
    let book = std::fs::read_to_string(book).expect("docs/measured/rt-app.md");
    let rows = book.lines().filter_map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let name = cells.get(1)?.strip_prefix('`')?.strip_suffix('`')?;
        let verdict = *cells.get(2)?;
        (name.ends_with(".json") && (verdict == "runs" || verdict == "refused")).then_some((name.to_string(), verdict))
    });
    let told: BTreeMap<String, &str> = rows.collect();
    let found = files(Path::new(&root)).into_iter().map(|(name, path)| {
        let verdict = if System::read(&path).is_ok() { "runs" } else { "refused" };
        (name, verdict)
    });
    let found: BTreeMap<String, &str> = found.collect();
    assert!(!found.is_empty());
    assert_eq!(told, found);
}
