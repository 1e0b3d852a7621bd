use super::*;
use crate::shortcut::Source;

fn index(text: &str) -> (Index, Vec<crate::Shortcut>) {
    let (shortcuts, problems) = crate::parse(text, "x", Source::File);
    assert_eq!(problems, []);
    (Index::new(&shortcuts), shortcuts)
}

const SOME: &str = r#"
    [[shortcut]]
    id = "window_snap_left"
    title = { en = "Snap window left", zh = "窗口靠左" }
    description = { en = "Move the current window to the left half of the screen", zh = "把窗口移到左半边" }
    command = "true"
    [[shortcut]]
    id = "window_snap_right"
    title = { en = "Snap window right", zh = "窗口靠右" }
    command = "true"
    [[shortcut]]
    id = "launch_mail"
    title = { en = "Open mail", zh = "打开邮件", de = "E-Mail öffnen", ja = "メールを開く" }
    examples = { en = ["check my inbox"] }
    command = "true"
    [[shortcut]]
    id = "screenshot_full"
    title = { en = "Take a screenshot", zh = "全屏截图", fr = "Capture d'écran" }
    command = "true"
"#;

#[test]
fn the_shortcut_with_the_most_telling_words_comes_first() {
    let (index, shortcuts) = index(SOME);
    for (phrase, id) in [
        ("move this window to the left", "window_snap_left"),
        ("window right please", "window_snap_right"),
        ("snap_right", "window_snap_right"),
        ("把窗口调到左边", "window_snap_left"),
        ("看看邮件", "launch_mail"),
        ("my inbox", "launch_mail"),
        ("メール", "launch_mail"),
        ("e-mail offnen", "launch_mail"),
        ("screnshot", "screenshot_full"),
        ("screenshots", "screenshot_full"),
        ("screens", "screenshot_full"),
        ("capture ecran", "screenshot_full"),
        ("chuangkou kao zuo", "window_snap_left"),
        ("chuangkoukaoyou", "window_snap_right"),
        ("dkyj", "launch_mail"),
        ("dakai youjian", "launch_mail"),
    ] {
        let hits = search(&[&index], phrase, 4);
        let first = hits.first().map(|hit| shortcuts[hit.shortcut].id.as_str());
        assert_eq!(first, Some(id), "{phrase}: {hits:?}");
    }
}

#[test]
fn a_phrase_without_a_word_in_common_finds_nothing() {
    let (index, _) = index(SOME);
    for phrase in ["", "   ", "?!", "xyzzy", "天气"] {
        assert_eq!(search(&[&index], phrase, 4), [], "{phrase}");
    }
}

#[test]
fn several_lists_are_searched_as_one() {
    let (first, _) = index(SOME);
    let (second, shortcuts) = index(
        "[[shortcut]]\nid = \"vpn\"\ntitle = \"Connect the office network\"\ncommand = \"x\"\n",
    );
    let hits = search(&[&first, &second], "office network", 4);
    assert_eq!((hits[0].index, hits[0].shortcut), (1, 0));
    assert_eq!(shortcuts[0].id, "vpn");
    assert!(hits[0].coverage > 0.9, "{hits:?}");
    let hits = search(&[&first, &second], "office weather tomorrow", 4);
    assert!(hits[0].coverage < 0.5, "{hits:?}");
}

#[test]
fn at_most_so_many_are_found_each_once() {
    let (index, _) = index(SOME);
    let hits = search(&[&index], "window left right screen", 2);
    assert_eq!(hits.len(), 2);
    assert_ne!(hits[0].shortcut, hits[1].shortcut);
    assert!(hits[0].score >= hits[1].score);
}
