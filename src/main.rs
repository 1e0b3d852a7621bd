//! `tabsense`: the thin client and command line. Everything it does is in `tabsense-client`.

#![cfg_attr(all(target_os = "linux", target_env = "gnu"), no_main)]

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn main() -> std::process::ExitCode {
    tabsense_client::main()
}

/// C's own `main`: glibc tells Rust the arguments without it.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[expect(unsafe_code, reason = "the name that C starts with")]
// SAFETY: no other function of this program has the name.
#[unsafe(no_mangle)]
extern "C" fn main() -> std::ffi::c_int {
    tabsense_client::enter(tabsense_client::main)
}
