//! What files of shortcuts may hold, and what is told about the rest.

use super::*;

fn read(text: &str) -> (Vec<Shortcut>, Vec<Problem>) {
    parse(text, "shortcuts.toml", Source::File)
}

#[test]
fn a_shortcut_has_texts_in_languages_and_commands_for_platforms() {
    let (shortcuts, problems) = read(
        r#"
            [[shortcut]]
            id = "open_vpn"
            risk = "read"
            title = { en = "Connect the VPN", zh = "连接 VPN" }
            description = "Bring the tunnel up"
            examples = { en = ["get me into the office network"] }
            macos = "scutil --nc start Office"
            linux = [
              { desktop = "gnome", needs = ["nmcli"], run = "nmcli con up office" },
              "wg-quick up office",
            ]
            [[shortcut]]
            id = "notes"
            title = "My notes"
            command = "cd ~/notes"
            "#,
    );
    assert_eq!(problems, []);
    let first = &shortcuts[0];
    assert_eq!((first.id.as_str(), first.risk), ("open_vpn", Risk::Read));
    assert_eq!(first.title.get("zh"), "连接 VPN");
    assert_eq!(first.title.get("fr"), "Connect the VPN");
    assert_eq!(first.examples[0].language, "en");
    let Action::Run { macos, linux } = &first.action else {
        panic!("{first:?}");
    };
    assert_eq!((macos.len(), linux.len()), (1, 2));
    assert_eq!(linux[0].desktop, Some(Desktop::Gnome));
    assert_eq!(linux[0].needs, ["nmcli"]);
    assert_eq!(shortcuts[1].risk, Risk::Write);
}

#[test]
fn what_is_wrong_is_told_with_its_line_and_leaves_the_others() {
    let good = "[[shortcut]]\nid = \"good\"\ncommand = \"true\"\n";
    for (text, line, part) in [
        (
            "id = 1",
            5,
            "id takes lower case letters, digits and `_`, not `1`",
        ),
        ("id = \"A b\"", 5, "not `\"A b\"`"),
        ("title = \"x\"", 4, "a shortcut without an id"),
        (
            "id = \"a\"\nrisk = \"high\"\ncommand = \"x\"",
            6,
            "a: risk takes `read`",
        ),
        ("id = \"a\"", 4, "a: there is no command"),
        ("id = \"a\"\ncomand = \"x\"", 6, "unknown key `comand`"),
        (
            "id = \"a\"\ncommand = \"echo {what}\"",
            6,
            "`{what}` is no slot",
        ),
        (
            "id = \"a\"\ncommand = \"echo '{text}'\"",
            6,
            "stands inside quotes",
        ),
        ("id = \"a\"\ncommand = 5", 6, "a: command takes a command"),
        (
            "id = \"a\"\nlinux = [{ desktop = \"cde\", run = \"x\" }]",
            6,
            "desktop takes gnome, kde",
        ),
        (
            "id = \"a\"\nlinux = [{ need = [] }]",
            6,
            "unknown key `need`",
        ),
        (
            "id = \"a\"\ncommand = \"x\"\nproject = \"test\"",
            4,
            "do not go together",
        ),
        (
            "id = \"a\"\nproject = \"deploy\"",
            6,
            "project takes `test`",
        ),
        (
            "id = \"a\"\ncommand = \"x\"\ntitle = { en = 1 }",
            7,
            "a: title takes a text",
        ),
        (
            "id = \"good\"\ncommand = \"x\"",
            4,
            "a second shortcut `good`",
        ),
    ] {
        let (shortcuts, problems) = read(&format!("{good}[[shortcut]]\n{text}\n"));
        assert_eq!(shortcuts.len(), 1, "{text}");
        assert_eq!(problems.len(), 1, "{text}: {problems:?}");
        assert_eq!(problems[0].line, line, "{text}: {problems:?}");
        assert!(problems[0].message.contains(part), "{text}: {problems:?}");
        assert!(!problems[0].hint.is_empty(), "{text}");
    }
}

#[test]
fn a_file_that_is_no_toml_or_holds_something_else_says_so() {
    let (shortcuts, problems) = read("[[shortcut]]\nid = \"a\"\ncommand = \"x\"\nwhat\n");
    assert!(shortcuts.is_empty());
    assert_eq!(problems[0].line, 4);
    let (_, problems) = read("[shortcuts]\nid = 1\n");
    assert!(problems[0].message.contains("unknown key `shortcuts`"));
    let (_, problems) = read("[shortcut]\nid = \"a\"\n");
    assert!(problems[0].hint.contains("[[shortcut]]"));
}

#[test]
fn a_variant_may_say_how_to_switch_on_and_off() {
    let (shortcuts, problems) = read(
        r#"
            [[shortcut]]
            id = "lamp"
            off_words = ["dark"]
            reverse_words = ["shade"]
            command = [{ run = "lamp toggle", on = "lamp on", off = "lamp off" }]
            [[shortcut]]
            id = "bad"
            command = [{ run = "x", on = "y {what}" }]
            "#,
    );
    assert_eq!(shortcuts.len(), 1);
    assert_eq!(shortcuts[0].switch.off, ["dark"]);
    assert_eq!(shortcuts[0].switch.reverse, ["shade"]);
    let Action::Run { linux, .. } = &shortcuts[0].action else {
        panic!("{:?}", shortcuts[0]);
    };
    assert!(linux[0].on.is_some() && linux[0].off.is_some());
    assert!(
        problems[0].message.contains("on: `{what}` is no slot"),
        "{problems:?}"
    );
}
