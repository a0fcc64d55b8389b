//! Golden files of drawn schedules.

/// Compares a drawing with the golden file. The file's first lines, marked with `#`, tell what it is.
///
/// After a change that is meant, write the files anew with `GOLDEN=write cargo test -p tactus-policy`, and look at
/// every difference.
pub fn compare(file: &str, drawn: &str) {
    let path = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(file);
    let kept = std::fs::read_to_string(&path).unwrap_or_default();
    let head: String = kept.lines().take_while(|line| line.starts_with('#')).map(|line| format!("{line}\n")).collect();
    let fresh = head + drawn;
    if std::env::var_os("GOLDEN").is_some_and(|how| how == "write") {
        std::fs::write(&path, &fresh).expect("the golden file can be written");
    } else {
        assert!(kept == fresh, "{} is no longer what happens, which is:\n{fresh}", path.display());
    }
}
