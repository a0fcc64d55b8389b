//! Reading files that people name: ordinary ones of sensible length, and nothing that could block or never end.

use std::fs::{canonicalize, metadata, File};
use std::io::Read;
use std::path::Path;

/// Folders of files that the operating system makes up while they are read: some block, some never end.
const MADE_UP: [&str; 2] = ["/proc", "/sys"];

/// The bytes of an ordinary file of at most `most` bytes.
///
/// # Errors
/// In words: that it cannot be read, is longer, or is a folder, a device, a pipe or a file of the operating system.
pub fn read_ordinary(path: &Path, most: u64) -> Result<Vec<u8>, String> {
    let meta = metadata(path).map_err(|error| error.to_string())?;
    let made_up = || canonicalize(path).is_ok_and(|path| MADE_UP.iter().any(|folder| path.starts_with(folder)));
    if !meta.is_file() || made_up() {
        return Err("it is not an ordinary file; copy what it holds into one".into());
    }
    let too_long = |bytes: u64| Err(format!("it has {bytes} bytes, more than {most}"));
    if meta.len() > most {
        return too_long(meta.len());
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(|error| error.to_string())?;
    // It may grow while it is read.
    file.take(most + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    if bytes.len() as u64 > most {
        return too_long(bytes.len() as u64);
    }
    Ok(bytes)
}

/// The same as text.
///
/// # Errors
/// As [`read_ordinary`], and if it is no text.
pub fn read_ordinary_text(path: &Path, most: u64) -> Result<String, String> {
    String::from_utf8(read_ordinary(path, most)?).map_err(|_| "this is not UTF-8 text; save the file as UTF-8".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_block_or_never_end_is_refused_at_once() {
        for path in ["/dev/zero", "/dev/null", "/proc/kmsg", "/proc/self/maps", "/proc", "/"] {
            let why = read_ordinary(Path::new(path), 1 << 20).expect_err(path);
            assert!(why.contains("not an ordinary file"), "{path}: {why}");
        }
    }

    #[test]
    fn a_file_may_be_as_long_as_the_limit_and_no_longer() {
        let path = std::env::temp_dir().join(format!("tactus-ordinary-{}", std::process::id()));
        std::fs::write(&path, "1234").expect("the temporary folder can be written");
        assert_eq!(read_ordinary_text(&path, 4), Ok("1234".into()));
        assert_eq!(read_ordinary_text(&path, 3), Err("it has 4 bytes, more than 3".into()));
        std::fs::remove_file(path).expect("it was there");
    }
}
