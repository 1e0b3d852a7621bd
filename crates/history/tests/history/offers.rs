//! Lists that were offered, and what was taken of them.

use tabsense_history::{Forget, Offer, Offered, Store};

use crate::support::live;

fn offered(text: &str, native: u32) -> Offered {
    Offered {
        kind: b'f',
        native: Some(native),
        text: text.as_bytes().to_vec(),
    }
}

/// `vim` was completed among two files, and the second was taken.
fn vim(at_ms: i64) -> Offer {
    Offer {
        command: b"vim src/b c.rs".to_vec(),
        at_ms,
        cwd: b"/srv/app".to_vec(),
        words: vec![b"vim".to_vec()],
        typed: b"src/".to_vec(),
        offered: vec![
            offered("aé.rs", 1),
            Offered {
                native: None,
                ..offered("b c.rs", 0)
            },
        ],
        taken: 1,
    }
}

fn store_with(offers: &[Offer]) -> Store {
    let mut store = Store::in_memory().expect("store");
    for offer in offers {
        let command = String::from_utf8_lossy(&offer.command).into_owned();
        store.insert(&[live(&command, offer.at_ms)]).expect("row");
    }
    store.insert_offers(offers).expect("offers");
    store
}

#[test]
fn an_offer_comes_back_as_it_was() {
    let store = store_with(&[vim(2_000), vim(1_000)]);
    assert_eq!(store.offers().expect("read"), [vim(1_000), vim(2_000)]);
}

#[test]
fn an_offer_without_its_command_is_not_kept() {
    let mut store = Store::in_memory().expect("store");
    assert_eq!(store.insert_offers(&[vim(1_000)]).expect("none"), 0);
    assert!(store.offers().expect("read").is_empty());
}

#[test]
fn only_the_newest_offers_are_kept() {
    let mut store = store_with(&[vim(1)]);
    let many: Vec<Offer> = (2..=2_100).map(vim).collect();
    store.insert_offers(&many).expect("offers");
    let kept = store.offers().expect("read");
    assert_eq!(kept.len(), 2_000);
    assert_eq!(kept.last().map(|offer| offer.at_ms), Some(2_100));
}

#[test]
fn an_offer_that_speaks_of_a_secret_is_not_kept() {
    let secret = "export GITHUB_TOKEN=ghp_abcdefghijklmnopqrstuvwxyz0123456789";
    let ran = Offer {
        command: secret.as_bytes().to_vec(),
        words: vec![b"export".to_vec()],
        ..vim(1_000)
    };
    let shown = Offer {
        words: vec![b"export".to_vec()],
        typed: Vec::new(),
        offered: vec![offered(&secret["export ".len()..], 0), offered("b", 1)],
        ..vim(2_000)
    };
    let store = store_with(&[ran, shown]);
    assert!(store.offers().expect("read").is_empty());
}

#[test]
fn a_forgotten_command_takes_its_offers_with_it() {
    let mut store = store_with(&[vim(1_000)]);
    store
        .forget(Forget::Command(b"vim src/b c.rs"))
        .expect("forgotten");
    assert!(store.offers().expect("read").is_empty());
}

#[test]
fn a_command_that_was_only_offered_is_forgotten_too() {
    let mut store = store_with(&[vim(1_000)]);
    store
        .forget(Forget::Command("vim src/aé.rs".as_bytes()))
        .expect("forgotten");
    assert!(store.offers().expect("read").is_empty());
}

#[test]
fn deleting_everything_deletes_offers() {
    let mut store = store_with(&[vim(1_000)]);
    store.delete_all().expect("deleted");
    assert!(store.offers().expect("read").is_empty());
}
