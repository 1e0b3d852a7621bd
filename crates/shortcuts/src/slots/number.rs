//! Numbers, in digits and in the words of six languages.

use super::{Found, Phrase};

/// The first number of a phrase.
pub(super) fn find(phrase: &Phrase<'_>) -> Option<Found> {
    let words = phrase.words();
    let digits = words.iter().find_map(|word| {
        let digits: String = word.text.chars().take_while(char::is_ascii_digit).collect();
        let rest = &word.text[digits.len()..];
        let plain = rest.is_empty() || rest.chars().all(char::is_alphabetic);
        (plain && !digits.is_empty()).then(|| (word.range.clone(), digits.into_bytes()))
    });
    let said = || {
        words.iter().find_map(|word| {
            let (number, range) = match super::words::is_wide(word.text.chars().next()?) {
                true => inside(word.text)?,
                // "a" and "one" are seldom meant as a number.
                false => (read(word.lower).filter(|n| *n > 1)?, 0..word.text.len()),
            };
            let range = word.range.start + range.start..word.range.start + range.end;
            Some((range, number.to_string().into_bytes()))
        })
    };
    digits.or_else(said)
}

/// The first number written in Chinese characters, and where it stands.
fn inside(text: &str) -> Option<(u32, std::ops::Range<usize>)> {
    let start = text.find(|c| digit(c).is_some() || c == '十' || c == '百')?;
    let rest = &text[start..];
    let end = rest
        .find(|c| digit(c).is_none() && c != '十' && c != '百')
        .unwrap_or(rest.len());
    let number = chinese(&rest[..end])?;
    // "一" alone is an article as often as a number.
    (number > 1).then_some((number, start..start + end))
}

/// A number in digits or words, the whole of `text`.
pub(super) fn read(text: &str) -> Option<u32> {
    if text.len() <= 6 && text.bytes().all(|byte| byte.is_ascii_digit()) {
        return text.parse().ok();
    }
    let table = WORDS
        .iter()
        .find(|(words, _)| words.contains(&text))
        .map(|(_, number)| *number);
    table.or_else(|| chinese(text)).or_else(|| compound(text))
}

/// `twenty-five`, `fünfundzwanzig`, `vingt-cinq`.
fn compound(text: &str) -> Option<u32> {
    let tens_and_ones = |tens: &str, ones: &str| {
        let (tens, ones) = (read(tens)?, read(ones)?);
        (tens >= 20 && tens % 10 == 0 && ones < 20).then_some(tens + ones)
    };
    if let Some((tens, ones)) = text.split_once('-') {
        return tens_and_ones(tens, ones);
    }
    let (ones, tens) = text.split_once("und")?;
    tens_and_ones(tens, if ones == "ein" { "eins" } else { ones })
}

fn digit(c: char) -> Option<u32> {
    let place = "〇一二三四五六七八九".chars().position(|digit| digit == c);
    match c {
        '两' | '兩' => Some(2),
        '零' => Some(0),
        _ => place.and_then(|place| u32::try_from(place).ok()),
    }
}

/// Chinese and Japanese numbers below 1000: 二十五, 一百二十.
fn chinese(text: &str) -> Option<u32> {
    let mut total = 0;
    let mut last = None;
    for c in text.chars() {
        let unit = match c {
            '十' => 10,
            '百' => 100,
            c => {
                last = Some(digit(c)?);
                continue;
            }
        };
        total += last.take().unwrap_or(1) * unit;
    }
    (!text.is_empty()).then(|| total + last.unwrap_or(0))
}

/// English, German, French and Spanish.
const WORDS: [(&[&str], u32); 30] = [
    (
        &[
            "a", "an", "one", "eins", "ein", "eine", "einer", "einem", "un", "une", "uno", "una",
        ],
        1,
    ),
    (&["two", "zwei", "deux", "dos"], 2),
    (&["three", "drei", "trois", "tres"], 3),
    (&["four", "vier", "quatre", "cuatro"], 4),
    (&["five", "fünf", "cinq", "cinco"], 5),
    (&["six", "sechs", "seis"], 6),
    (&["seven", "sieben", "sept", "siete"], 7),
    (&["eight", "acht", "huit", "ocho"], 8),
    (&["nine", "neun", "neuf", "nueve"], 9),
    (&["ten", "zehn", "dix", "diez"], 10),
    (&["eleven", "elf", "onze", "once"], 11),
    (&["twelve", "zwölf", "douze", "doce"], 12),
    (&["thirteen", "dreizehn", "treize", "trece"], 13),
    (&["fourteen", "vierzehn", "quatorze", "catorce"], 14),
    (&["fifteen", "fünfzehn", "quinze", "quince"], 15),
    (&["sixteen", "sechzehn", "seize", "dieciséis"], 16),
    (&["seventeen", "siebzehn", "dix-sept", "diecisiete"], 17),
    (&["eighteen", "achtzehn", "dix-huit", "dieciocho"], 18),
    (&["nineteen", "neunzehn", "dix-neuf", "diecinueve"], 19),
    (&["twenty", "zwanzig", "vingt", "veinte"], 20),
    (&["veinticinco"], 25),
    (&["thirty", "dreißig", "dreissig", "trente", "treinta"], 30),
    (&["forty", "vierzig", "quarante", "cuarenta"], 40),
    (&["fifty", "fünfzig", "cinquante", "cincuenta"], 50),
    (&["sixty", "sechzig", "soixante", "sesenta"], 60),
    (&["seventy", "siebzig", "setenta"], 70),
    (&["eighty", "achtzig", "quatre-vingts", "ochenta"], 80),
    (&["ninety", "neunzig", "noventa"], 90),
    (&["hundred", "hundert", "cent", "cien"], 100),
    (&["thousand", "tausend", "mille", "mil"], 1000),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_six_languages() {
        for (text, number) in [
            ("42", 42),
            ("ten", 10),
            ("twenty-five", 25),
            ("fünfundzwanzig", 25),
            ("einundzwanzig", 21),
            ("vingt-cinq", 25),
            ("quince", 15),
            ("二十五", 25),
            ("十", 10),
            ("十二", 12),
            ("两", 2),
            ("一百二十", 120),
        ] {
            assert_eq!(read(text), Some(number), "{text}");
        }
        for text in ["", "x", "tenth", "-5", "rund", "und", "9999999999"] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
