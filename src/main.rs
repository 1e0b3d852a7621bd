//! `tabsense`: the thin client and command line. Everything it does is in `tabsense-client`.

fn main() -> std::process::ExitCode {
    tabsense_client::main()
}
