//! Tells the linker where the kernel lies.
fn main() {
    // Asked for when it runs: a build folder may have moved since this was compiled.
    let folder = std::env::var("CARGO_MANIFEST_DIR").expect("cargo says where the package is");
    let processor = std::env::var("CARGO_CFG_TARGET_ARCH").expect("cargo says for which processor");
    let script = format!("{folder}/src/arch/{processor}/kernel.ld");
    println!("cargo:rerun-if-changed={script}");
    println!("cargo:rustc-link-arg-bins=-T{script}");
    println!("cargo:rustc-link-arg-bins=-zmax-page-size=4096");
}
