//! Tells the linker where the trial lies.
fn main() {
    // Asked for when it runs: a build folder may have moved since this was compiled.
    let folder = std::env::var("CARGO_MANIFEST_DIR").expect("cargo says where the package is");
    let script = format!("{folder}/trial.ld");
    println!("cargo:rerun-if-changed={script}");
    println!("cargo:rustc-link-arg-bins=-T{script}");
    println!("cargo:rustc-link-arg-bins=-zmax-page-size=4096");
}
