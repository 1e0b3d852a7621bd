//! `tabsensed`: the worker. Everything it does is in `tabsense-worker`.

fn main() -> std::process::ExitCode {
    tabsense_worker::main()
}
