//! Whether a phrase says on or off.

use super::words::is_wide;
use super::{Phrase, words};
use crate::shortcut::SwitchWords;

/// What something that can be switched is to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "each is its own name")]
pub enum State {
    On,
    Off,
}

/// Words for it in languages with blanks; a trailing `-` stands for any ending.
const ON: &[&str] = &[
    "enable",
    "activate",
    "unmute",
    "resume",
    "allow",
    "reenable",
    "re-enable",
    "einschalten",
    "anschalten",
    "aktivier-",
    "anmachen",
    "einzuschalten",
    "anzuschalten",
    "zulassen",
    "allume",
    "allumer",
    "allumez",
    "active",
    "activer",
    "activez",
    "remets",
    "remettre",
    "rallume",
    "rallumer",
    "réactive",
    "réactiver",
    "enciende",
    "encender",
    "encienda",
    "activa",
    "activar",
    "active",
    "prende",
    "prender",
    "conecta",
    "reactiva",
    "reactivar",
];
const OFF: &[&str] = &[
    "off",
    "disable",
    "deactivate",
    "stop",
    "kill",
    "disconnect",
    "mute",
    "silence",
    "cut",
    "hide",
    "aus",
    "ausschalten",
    "abschalten",
    "deaktivier-",
    "ausmachen",
    "abstellen",
    "stumm",
    "stummschalten",
    "auszuschalten",
    "abzuschalten",
    "trennen",
    "éteins",
    "éteindre",
    "éteignez",
    "désactive",
    "désactiver",
    "désactivez",
    "coupe",
    "couper",
    "coupez",
    "arrête",
    "arrêter",
    "apaga",
    "apagar",
    "apague",
    "desactiva",
    "desactivar",
    "quita",
    "quitar",
    "corta",
    "cortar",
    "silencia",
    "silenciar",
    "desconecta",
    "desconectar",
];

/// Small words that mean on only at certain places: "on this laptop" says nothing.
const SMALL_ON: &[&str] = &["on", "an", "ein"];
const BEFORE_SMALL: &[&str] = &[
    "turn", "turned", "switch", "switched", "put", "flip", "leave", "keep", "get", "back",
    "wieder", "bitte", "it", "them",
];
const BEHIND_SMALL: &[&str] = &[
    "please", "again", "now", "for", "until", "bitte", "wieder", "jetzt",
];

/// Ways to say that something is to become what is named, where nothing else says on or off.
const BECOME: &[&str] = &[
    "switch to",
    "change to",
    "go to",
    "set to",
    "go dark",
    "in den dunklen modus",
    "in den hellen modus",
    "wechsle",
    "wechseln",
    "auf dunkel",
    "auf hell",
    "passe en",
    "passer en",
    "passe au",
    "mets en",
    "cambia a",
    "cambiar a",
    "pon el modo",
    "pon modo",
    "切换到",
    "切到",
    "换成",
    "换到",
    "调成",
    "改成",
    "进入",
    "にして",
    "に切り替え",
    "に変え",
];

/// The same in languages without blanks.
const WIDE_ON: &[&str] = &[
    "取消静音",
    "ミュート解除",
    "ミュートを解除",
    "打开",
    "开启",
    "启用",
    "开一下",
    "恢复",
    "连上",
    "开",
    "オン",
    "つけ",
    "付け",
    "入れて",
    "入れる",
    "有効",
];
const WIDE_OFF: &[&str] = &[
    "ミュート",
    "关闭",
    "关掉",
    "关上",
    "关了",
    "禁用",
    "停用",
    "断开",
    "切断",
    "屏蔽",
    "静音",
    "退出",
    "停掉",
    "关",
    "オフ",
    "切って",
    "切る",
    "消して",
    "消す",
    "止めて",
    "止める",
    "無効",
    "停止",
];
/// What has such a character and says neither.
const WIDE_NEITHER: &[&str] = &[
    "开关",
    "打不开",
    "关不掉",
    "关于",
    "相关",
    "关系",
    "离开",
    "公开",
    "开会",
    "开发",
    "展开",
    "分开",
    "避开",
    "オンライン",
];

impl State {
    /// What a phrase says; none when it says neither, or both.
    pub fn said(phrase: &str, own: &SwitchWords) -> Option<Self> {
        let phrase = Phrase::new(phrase);
        let lower = phrase.lower.as_str();
        let has = |list: &[String]| list.iter().any(|word| lower.contains(word.as_str()));
        let of_off = has(&own.off);
        let of_reverse = !of_off && has(&own.reverse);
        let said = spoken(&phrase);
        match (said, of_off || of_reverse) {
            (Some(Self::On), true) | (None, true) if of_off => Some(Self::Off),
            (Some(Self::Off), true) => Some(Self::On),
            (Some(Self::On), true) => Some(Self::Off),
            (said, _) => said,
        }
    }
}

fn spoken(phrase: &Phrase<'_>) -> Option<State> {
    let lower = phrase.lower.as_str();
    let words = words::split(phrase.text, lower);
    let (mut on, mut off) = wide(lower);
    for (at, word) in words.iter().enumerate() {
        on |= is_one_of(word.lower, ON) || is_small_on(&words, at);
        off |= is_one_of(word.lower, OFF);
    }
    if !on && !off {
        on = BECOME.iter().any(|words| lower.contains(words));
    }
    match (on, off) {
        (true, false) => Some(State::On),
        (false, true) => Some(State::Off),
        _ => None,
    }
}

fn is_one_of(word: &str, list: &[&str]) -> bool {
    list.iter().any(|known| match known.strip_suffix('-') {
        Some(start) => word.starts_with(start),
        None => word == *known,
    })
}

fn is_small_on(words: &[words::Word<'_>], at: usize) -> bool {
    if !SMALL_ON.contains(&words[at].lower) {
        return false;
    }
    let before = at.checked_sub(1).map(|at| words[at].lower);
    let behind = words.get(at + 1).map(|word| word.lower);
    before.is_some_and(|word| BEFORE_SMALL.contains(&word))
        || (at > 0 && behind.is_none_or(|word| BEHIND_SMALL.contains(&word)))
}

/// On and off in languages without blanks, each character read once.
fn wide(text: &str) -> (bool, bool) {
    let (mut on, mut off) = (false, false);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let longest = |list: &[&str]| {
            let found = list.iter().filter(|word| rest.starts_with(**word));
            found.map(|word| word.len()).max().unwrap_or(0)
        };
        let [neither, is_off, is_on] = match is_wide(c) {
            true => [longest(WIDE_NEITHER), longest(WIDE_OFF), longest(WIDE_ON)],
            false => [0; 3],
        };
        let length = neither.max(is_off).max(is_on);
        off |= is_off > neither && is_off >= is_on;
        on |= is_on > neither && is_on > is_off;
        rest = &rest[length.max(c.len_utf8())..];
    }
    (on, off)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(own: &SwitchWords, cases: &[(&str, Option<State>)]) {
        for (phrase, expected) in cases {
            assert_eq!(State::said(phrase, own), *expected, "{phrase}");
        }
    }

    #[test]
    fn on_and_off_are_read_in_six_languages() {
        use State::{Off, On};
        check(
            &SwitchWords::default(),
            &[
                ("turn on wifi", Some(On)),
                ("wifi on", Some(On)),
                ("Turn the wifi on please", Some(On)),
                ("turn off wifi on this laptop", Some(Off)),
                ("disable bluetooth", Some(Off)),
                ("wifi aus", Some(Off)),
                ("WLAN an", Some(On)),
                ("schalte Bluetooth ein", Some(On)),
                ("Bluetooth ausschalten", Some(Off)),
                ("deaktiviere das WLAN", Some(Off)),
                ("打开蓝牙", Some(On)),
                ("把wifi关了", Some(Off)),
                ("关一下蓝牙", Some(Off)),
                ("开蓝牙", Some(On)),
                ("coupe le wifi", Some(Off)),
                ("active le bluetooth", Some(On)),
                ("apaga el wifi", Some(Off)),
                ("enciende el bluetooth", Some(On)),
                ("Wi-Fiをオンにして", Some(On)),
                ("Bluetoothを切って", Some(Off)),
            ],
        );
    }

    #[test]
    fn what_says_neither_or_both_is_none() {
        for phrase in [
            "wifi",
            "toggle the wifi",
            "bluetooth on this laptop",
            "switch it off or on",
            "蓝牙开关",
            "WLAN umschalten",
            "Wi-Fiを切り替えて",
            "couper ou remettre le wifi",
            "",
        ] {
            check(&SwitchWords::default(), &[(phrase, None)]);
        }
    }

    #[test]
    fn words_of_the_other_side_turn_it_around() {
        use State::{Off, On};
        let dark = SwitchWords {
            off: vec!["light mode".to_owned(), "浅色".to_owned()],
            ..SwitchWords::default()
        };
        check(
            &dark,
            &[
                ("light mode", Some(Off)),
                ("switch to light mode", Some(Off)),
                ("turn off light mode", Some(On)),
                ("切换到浅色", Some(Off)),
                ("switch to dark mode", Some(On)),
                ("切换到深色", Some(On)),
            ],
        );
        let quiet = SwitchWords {
            reverse: vec!["notification".to_owned(), "通知".to_owned()],
            ..SwitchWords::default()
        };
        check(
            &quiet,
            &[
                ("turn off notifications", Some(On)),
                ("mute the notifications", Some(On)),
                ("关掉通知", Some(On)),
                ("turn notifications back on", Some(Off)),
                ("turn on do not disturb", Some(On)),
                ("取消静音", Some(On)),
                ("静音", Some(Off)),
                ("too many notifications", None),
            ],
        );
    }
}
