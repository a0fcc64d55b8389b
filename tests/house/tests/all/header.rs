//! The header of APEX for partitions in C is what the runtime's sources say, and compiles without a warning.

use std::fs;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};

fn root() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}

fn kept() -> PathBuf {
    root().join("os/rt/include/apex.h")
}

/// The header as its sources have it.
fn made() -> String {
    let says = "/* The services of ARINC 653 part 1 as os/rt has them. Made from os/rt/src/apex/c: do not edit. */";
    let source = |name: &str| root().join("os/rt/src/apex/c").join(name);
    let types = fs::read_to_string(source("types.rs")).expect("types");
    let named = types.lines().filter_map(|line| line.strip_prefix("pub type ")?.split(' ').next());
    let config = cbindgen::Config {
        export: cbindgen::ExportConfig {
            include: named.map(str::to_owned).collect(),
            ..cbindgen::ExportConfig::default()
        },
        language: cbindgen::Language::C,
        header: Some(says.to_owned()),
        include_guard: Some("TACTUS_APEX_H".to_owned()),
        cpp_compat: true,
        no_includes: true,
        sys_includes: vec!["stdint.h".to_owned()],
        style: cbindgen::Style::Type,
        usize_is_size_t: true,
        ..cbindgen::Config::default()
    };
    let builder = cbindgen::Builder::new().with_config(config);
    let services = ["processes", "errors", "ports", "inside"].map(|name| source(&format!("services/{name}.rs")));
    let sources = services.into_iter().fold(builder.with_src(source("types.rs")), cbindgen::Builder::with_src);
    let mut text = Vec::new();
    sources.generate().expect("sources that cbindgen reads").write(&mut text);
    String::from_utf8(text).expect("a text")
}

#[test]
fn the_header_is_what_the_sources_say() {
    let kept = fs::read_to_string(kept()).expect("a header");
    assert!(made() == kept, "the header is old: cargo test -p tactus-house header -- --ignored makes it anew");
    let services = kept.matches("RETURN_CODE_TYPE *RETURN_CODE").count();
    assert_eq!(services, 60, "all services but STOP_SELF tell what came of them");
}

#[test]
#[ignore = "writes os/rt/include/apex.h"]
fn the_header_is_written() {
    fs::write(kept(), made()).expect("a file that can be written");
}

#[test]
fn compilers_have_nothing_to_say_about_the_header() {
    let mut met = 0;
    for (compiler, language, standard) in [
        ("gcc", "c", "c99"),
        ("gcc", "c", "c17"),
        ("g++", "c++", "c++11"),
        ("clang", "c", "c99"),
        ("clang", "c", "c17"),
    ] {
        let flags = ["-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror", "-ffreestanding", "-fsyntax-only"];
        let mut command = Command::new(compiler);
        command
            .args(flags)
            .arg(format!("-std={standard}"))
            .args(["-x", language, "-"])
            .arg("-I")
            .arg(root().join("os/rt/include"));
        let Ok(mut child) = command.stdin(Stdio::piped()).stderr(Stdio::piped()).spawn() else {
            println!("skipped: there is no {compiler}");
            continue;
        };
        // Widths that C code counts on, and a use of a service.
        let program = "#include <apex.h>\ntypedef char widths[sizeof(PROCESS_ATTRIBUTE_TYPE) == 72 && sizeof(SYSTEM_TIME_TYPE) == 8 \
                       && sizeof(NAME_TYPE) == 32 ? 1 : -1];\nwidths *own(RETURN_CODE_TYPE *code);\n\
                       widths *own(RETURN_CODE_TYPE *code) { EVENT_ID_TYPE id; CREATE_EVENT(\"done\", &id, code); return 0; }\n";
        child.stdin.take().expect("a pipe").write_all(program.as_bytes()).expect("a compiler that reads");
        let said = child.wait_with_output().expect("a compiler that ends");
        assert!(said.status.success(), "{compiler} -std={standard}: {}", String::from_utf8_lossy(&said.stderr));
        met += 1;
    }
    assert!(met > 0, "a C compiler links every program of ours: there must be one");
}
