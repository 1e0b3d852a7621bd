//! Links the unwinder into the programs, for the client's sake. A shell starts it at each TAB, and
//! `libgcc_s.so`, where it would come from otherwise, asks the processor for its features as it is loaded: in a
//! virtual machine a tenth of a millisecond and more.

use std::env;
use std::path::Path;
use std::process::Command;

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    let target = |key: &str| env::var(format!("CARGO_CFG_TARGET_{key}")).unwrap_or_default();
    if target("OS") == "linux" && target("ENV") == "gnu" && has_static_unwinder() {
        println!("cargo:rustc-link-lib=gcc_eh");
    }
}

/// Whether the linker's compiler came with the unwinder as an archive.
fn has_static_unwinder() -> bool {
    let linker = env::var_os("RUSTC_LINKER").unwrap_or_else(|| "cc".into());
    let found = Command::new(linker)
        .arg("-print-file-name=libgcc_eh.a")
        .output();
    found.is_ok_and(|found| {
        let path = String::from_utf8_lossy(&found.stdout);
        Path::new(path.trim()).is_absolute()
    })
}
