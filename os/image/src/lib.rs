//! From system file and component binaries to a boot image.
