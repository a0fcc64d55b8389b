//! A study gives the same results however it was cut, and refuses files that say nothing clear.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use tactus_studies::{engine, results, Study};

const FILE: &str = "name = 'small'
title = 'small'
cores = 4
cluster = 2
sets = 3
seed = 5
caps = { from = 1.0, to = 4.0, step = 0.5 }
utilisations = ['uni-medium']
periods = ['short', 'log-long']
tests = ['G-EDF', 'C-EDF', 'P-EDF', 'GFB', 'NFD']
";

fn csv(folder: &Path, parts: &[(usize, usize)]) -> String {
    let study = Study::parse(FILE, Path::new("."), None).expect("a good file");
    let _ = std::fs::remove_dir_all(folder);
    for &(every, threads) in parts {
        let missing: Vec<usize> = engine::kept(&study, folder)
            .iter()
            .enumerate()
            .filter(|(n, chunk)| chunk.is_none() && n % every == 0)
            .map(|(n, _)| n)
            .collect();
        engine::run(&study, folder, &missing, threads, &AtomicBool::new(false), |_| {}).expect("a folder to write to");
    }
    let csv = results::collect(engine::kept(&study, folder)).expect("all chunks").csv(&study);
    let _ = std::fs::remove_dir_all(folder);
    csv
}

#[test]
fn results_do_not_depend_on_threads_or_interruptions() {
    let folder = |n: u32| std::env::temp_dir().join(format!("tactus-study-{}-{n}", std::process::id()));
    let whole = csv(&folder(1), &[(1, 1)]);
    assert_eq!(whole, csv(&folder(2), &[(3, 2), (2, 1), (1, 3)]));
    assert_eq!(whole.lines().count(), 1 + 2 * 5 * 7);
}

#[test]
fn a_damaged_or_foreign_chunk_counts_as_not_there() {
    let folder = std::env::temp_dir().join(format!("tactus-study-{}-damaged", std::process::id()));
    let study = Study::parse(FILE, Path::new("."), None).expect("a good file");
    engine::run(&study, &folder, &[0, 1], 1, &AtomicBool::new(false), |_| {}).expect("a folder to write to");
    let text = std::fs::read_to_string(engine::file(&folder, 0)).expect("the chunk");
    std::fs::write(engine::file(&folder, 0), &text[..text.len() - 2]).expect("to write");
    let there = engine::kept(&study, &folder);
    assert!(there[0].is_none() && there[1].is_some());
    let other = Study::parse(&FILE.replace("seed = 5", "seed = 6"), Path::new("."), None).expect("a good file");
    assert!(engine::kept(&other, &folder).iter().all(Option::is_none));
    let _ = std::fs::remove_dir_all(folder);
}

#[test]
fn a_wrong_file_is_told_what_may_be_written() {
    let told = |text: &str| Study::parse(text, Path::new("."), None).expect_err("a bad file").to_string();
    assert!(told(&FILE.replace("'NFD'", "'NDF'")).contains("NFD"));
    assert!(told(&FILE.replace("uni-medium", "uni-middle")).contains("uni-medium"));
    assert!(told(&FILE.replace("cluster = 2", "cluster = 3")).contains("divides"));
    assert!(told(&FILE.replace("sets = 3", "set = 3")).contains("set"));
    assert!(told(&FILE.replace("from = 1.0", "from = 0.0")).contains("from"));
}

#[test]
fn every_study_that_comes_along_is_read() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    for name in ["quick", "epos-8-cores", "epos-100-cores", "epos-weighted", "global-tests"] {
        let study = Study::read(&folder.join(format!("{name}.toml")), None).unwrap_or_else(|fault| panic!("{fault}"));
        assert_eq!(study.name, name);
    }
}

#[test]
fn the_file_of_the_book_is_read() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let page = std::fs::read_to_string(root.join("../../docs/lab/studies.md")).expect("the page");
    let block = page.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("a block of TOML");
    let study = tactus_studies::spec::Study::parse(block, root, None);
    assert!(study.is_ok(), "{}", study.err().map(|fault| fault.to_string()).unwrap_or_default());
}
