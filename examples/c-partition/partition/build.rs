//! Compiles the partition for the bare machine: fixed addresses, no red zone, and no registers of floating point.

fn main() {
    println!("cargo:rerun-if-changed=partition.c");
    println!("cargo:rerun-if-changed=../../../os/rt/include/apex.h");
    let mut compiler = cc::Build::new();
    compiler.file("partition.c").include("../../../os/rt/include").pic(false).warnings_into_errors(true);
    for flag in [
        "-std=c99",
        "-Wall",
        "-Wextra",
        "-ffreestanding",
        "-fno-stack-protector",
        "-mno-red-zone",
        "-mgeneral-regs-only",
    ] {
        compiler.flag(flag);
    }
    compiler.compile("partition");
}
