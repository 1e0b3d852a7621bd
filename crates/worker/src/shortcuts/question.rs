//! Whether a phrase only asks: "who uses port 3000", but not "what is on port 3000, kill it".

/// Words that ask who or what; of languages without blanks, parts of words.
const WHO: &str = "\
    who who's whos whose what what's whats which wer welche welcher welches welchen qui quel \
    quelle quels quelles qu'est quién quien quiénes qué cuál cuáles 谁 什么 哪个 哪些 哪里 啥 \
    何 誰 どの どれ なに";

/// Words that ask where a phrase begins with them, and say little anywhere else.
const STARTS: [&str; 6] = ["was", "is", "are", "does", "ist", "está"];

/// Starts of words that ask for a deed that loses something, however much else is asked.
const DEEDS: &str = "\
    kill stop free end terminate delete remov clear clean empt rid shut close drop discard \
    uninstall restart reboot quit abort throw purge wipe prune undo release reset revert get \
    turn power off log make nuke beend stopp frei lösch entfern töte schließ fahr aus ab leer \
    schieß räum verwirf weg tue arrêt libèr libér supprim ferm vid étei redémarr effac vir \
    nettoi annul jett mata mátal liber para cierr borr elimin apag vací reinici detén limpi 杀 \
    关 停 释放 腾 删 清 结束 卸载 干掉 重启 终止 注销 踢 丢 扔 退出 止め 空け 終了 消し 消す \
    削除 殺 切 落と 閉じ 解放 捨て";

/// Whether a phrase in lower case asks about something and for no deed.
pub(super) fn only_asks(lower: &str) -> bool {
    let words = lower.split(|c: char| !(c.is_alphanumeric() || c == '\''));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    let starts = words.first().is_some_and(|first| STARTS.contains(first));
    let mut who = WHO.split_ascii_whitespace();
    let asks = starts
        || who.any(|who| match is_wide(who) {
            true => lower.contains(who),
            false => words.contains(&who),
        });
    let mut deeds = DEEDS.split_ascii_whitespace();
    asks && !deeds.any(|deed| match is_wide(deed) {
        true => lower.contains(deed),
        false => words.iter().any(|word| word.starts_with(deed)),
    })
}

/// Written in a script without blanks: Chinese and Japanese characters begin behind this one.
fn is_wide(word: &str) -> bool {
    word.chars().all(|c| c > '\u{2e7f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_asks_for_no_deed() {
        for phrase in [
            "who uses port 3000",
            "what is running on port 8080?",
            "which process has 5432",
            "is port 3000 in use",
            "3000端口被谁占了",
            "wer benutzt port 3000",
            "was läuft auf port 8080",
            "qui utilise le port 8080",
            "quién usa el puerto 3000",
            "3000番ポートを使っているのは何",
        ] {
            assert!(only_asks(phrase), "{phrase}");
        }
        for phrase in [
            "kill whatever runs on port 3000",
            "what is on 3000, kill it",
            "who uses port 3000? get rid of it",
            "杀掉占用5432端口的什么进程",
            "tue ce qui occupe le port 3000",
            "port 3000 was taken",
            "",
        ] {
            assert!(!only_asks(phrase), "{phrase}");
        }
    }
}
