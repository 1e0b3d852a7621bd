//! The harness itself: that a bare zsh in it behaves as in any terminal.

use crate::common::{ENTER, Home, Options, Shell, TAB};

#[test]
fn bare_zsh_completes_and_argdump_gets_the_bytes() {
    let Some(home) = Home::new(Shell::Zsh) else {
        return;
    };
    home.files(&["d_space/a b"]);
    let mut terminal = home.start(&Options::bare());
    terminal.press("argdump d_sp");
    terminal.press(TAB);
    terminal.wait_line("argdump d_space/");
    terminal.press(TAB);
    terminal.wait_line("argdump d_space/a\\ b ");
    terminal.press(ENTER);
    terminal.wait_text("argdump: 1");
    terminal.wait_prompt();
    assert_eq!(home.next_arguments(0), [b"d_space/a b".to_vec()]);
    terminal.run("argdump '' x");
    assert_eq!(home.arguments()[1], [b"".to_vec(), b"x".to_vec()]);
}
