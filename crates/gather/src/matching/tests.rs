use proptest::prelude::*;
use tabsense_rank::Match;
use unicode_normalization::UnicodeNormalization;

use super::{Matcher, letters, quality};

#[track_caller]
fn check(typed: &str, name: &str, expected: Option<Match>) {
    assert_eq!(
        quality(typed.as_bytes(), name.as_bytes()),
        expected,
        "{typed:?} in {name:?}"
    );
}

#[test]
fn each_quality_has_its_name() {
    check("main.rs", "main.rs", Some(Match::Exact));
    check("src", "src/", Some(Match::Exact));
    check("", "a", Some(Match::Prefix));
    check("ma", "main.rs", Some(Match::Prefix));
    check("read", "README", Some(Match::PrefixCase));
    check("fb", "foo_bar", Some(Match::WordStart));
    check("foba", "foo-bar", Some(Match::WordStart));
    check("fb", "fooBar", Some(Match::WordStart));
    check("fb", "foo bar", Some(Match::WordStart));
    check("bar", "foo.bar", Some(Match::WordStart));
    check("fz", "foo_bar_zed", Some(Match::WordStart));
    check("v2", "api-v2", Some(Match::WordStart));
    check("ain", "main.rs", Some(Match::Substring));
    check("mnrs", "main.rs", Some(Match::Subsequence));
    check("mian", "main.rs", Some(Match::Typo));
    check("xyz", "main.rs", None);
}

#[test]
fn an_upper_case_letter_makes_case_count() {
    check("READ", "readme", None);
    check("Re", "README", None);
    check("FB", "FooBar", Some(Match::WordStart));
    check("FB", "foo_bar", None);
}

#[test]
fn one_typing_error_is_forgiven() {
    check("docments", "documents", Some(Match::Subsequence));
    for typed in [
        "dcouments",
        "doocuments",
        "docyments",
        "documenst",
        "documentss",
    ] {
        check(typed, "documents", Some(Match::Typo));
    }
    check("dco", "documents", Some(Match::Typo));
    check("Dcouments", "Documents", Some(Match::Typo));
    for typed in ["xocuments", "dcoumenst", "dz", "dox"] {
        check(typed, "documents", None);
    }
}

#[test]
fn hidden_names_need_a_dot() {
    check("", ".git", None);
    check("git", ".git", None);
    check(".g", ".git", Some(Match::Prefix));
    check(".mt", ".my_test", Some(Match::WordStart));
}

#[test]
fn chinese_names_are_found_by_pinyin() {
    for typed in ["x", "xz", "xia", "xiaz", "xiazai", "xzai", "xiaza"] {
        check(typed, "下载", Some(Match::Pinyin));
    }
    check("zw", "中文.txt", Some(Match::Pinyin));
    check("zhw", "中文.txt", Some(Match::Pinyin));
    check("zhongwen.t", "中文.txt", Some(Match::Pinyin));
    check("lvse", "绿色", Some(Match::Pinyin));
    check("xz", "2024下载", Some(Match::Pinyin));
    check("2024xz", "2024下载", Some(Match::Pinyin));
    for typed in ["xzz", "zaixia", "xiazaii", "XZ"] {
        check(typed, "下载", None);
    }
}

#[test]
fn all_readings_of_a_character_count() {
    for typed in ["yinyue", "yinle", "yy", "yl"] {
        check(typed, "音乐", Some(Match::Pinyin));
    }
    for typed in ["chongqing", "zhongqing", "cq"] {
        check(typed, "重庆", Some(Match::Pinyin));
    }
}

#[test]
fn composed_and_decomposed_names_are_equal() {
    for (composed, rest) in [("café", ".txt"), ("한글폴더", "x"), ("Ålesund", "-1")] {
        let decomposed: String = composed.nfd().collect();
        assert_ne!(composed.as_bytes(), decomposed.as_bytes());
        for (typed, name) in [
            (composed, decomposed.as_str()),
            (decomposed.as_str(), composed),
        ] {
            check(typed, name, Some(Match::Exact));
            check(typed, &format!("{name}{rest}"), Some(Match::Prefix));
        }
    }
    let name: String = "한글폴더".nfd().collect();
    check("한", &name, Some(Match::Prefix));
    check("하", &name, Some(Match::PrefixCase));
    check("caf", "cafe\u{301}.txt", Some(Match::Prefix));
    check("cafe", "caf\u{e9}.txt", Some(Match::PrefixCase));
    check("Éc", "école", None);
    check("éco", "École", Some(Match::PrefixCase));
}

#[test]
fn names_that_are_not_utf_8_match_by_their_bytes() {
    assert_eq!(quality(b"a\xff", b"a\xffb"), Some(Match::Prefix));
    assert_eq!(quality(b"a\xff", b"a\xfe"), None);
    assert_eq!(quality(b"a\xff", "aÿ".as_bytes()), None);
    assert_eq!(quality(b"AB", b"ab\xff"), None);
    assert_eq!(quality(b"ab", b"AB\xff"), Some(Match::PrefixCase));
}

#[test]
fn long_text_matches_by_prefix() {
    let long = "a".repeat(300);
    check(&long, &format!("{long}b"), Some(Match::Prefix));
    check(&long, &long.to_uppercase(), Some(Match::PrefixCase));
}

proptest! {
    #[test]
    fn the_letter_check_never_hides_a_match(
        typed in "[a-cezA-C.é中_]{0,5}", name in "[a-dA-D1.é中e_-]{1,8}",
    ) {
        let mut matcher = Matcher::new(typed.as_bytes());
        if matcher.quality(name.as_bytes()).is_some() {
            prop_assert!(matcher.may_match(letters(name.as_bytes())));
        }
    }

    #[test]
    fn any_bytes_are_compared_without_panic(typed: Vec<u8>, name: Vec<u8>) {
        let _ = quality(&typed, &name);
    }

    #[test]
    fn every_prefix_of_a_visible_name_matches(name in "[^./\0][^/\0]{0,12}", cut in 0_usize..13) {
        let bytes = name.as_bytes();
        let typed = &bytes[..cut.min(bytes.len())];
        prop_assert!(matches!(quality(typed, bytes), Some(Match::Exact | Match::Prefix)));
    }

    #[test]
    fn normalisation_does_not_matter(name in "[a-zé한글ñÅ가-힣à-ÿ]{1,8}") {
        let nfc: String = name.nfc().collect();
        let nfd: String = name.nfd().collect();
        prop_assert_eq!(quality(nfc.as_bytes(), nfd.as_bytes()), Some(Match::Exact));
        prop_assert_eq!(quality(nfd.as_bytes(), nfc.as_bytes()), Some(Match::Exact));
    }
}
