//! The client alone, as small as a release has it: what the test of its size builds.

fn main() -> std::process::ExitCode {
    tabsense_client::main()
}
