//! This user's own history, as a replay wants it.

use std::path::Path;

use tabsense_history::{Error, Record, Store};
use tabsense_rank::eval::adapt::Shown;
use tabsense_rank::eval::{Command, User, adapt};

use crate::offers::shown;

/// The newest commands that are replayed.
const REPLAYED: u64 = 20_000;

/// The newest commands, and the lists that were offered meanwhile.
pub(crate) fn read(history: &Path) -> Result<(User, Vec<Shown>, u64), Error> {
    // A reader of its own: the recorder's thread must not wait for us.
    let store = Store::open_read_only(history)?;
    let mut commands = Vec::new();
    store.replay(REPLAYED, |record| commands.push(command(record)))?;
    let offers = store.offers()?.into_iter().map(shown).collect();
    Ok((adapt::user(commands), offers, store.count()?))
}

/// Names that are no text lose what cannot be shown; they are alike enough to learn from.
fn command(record: &Record) -> Command {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Command {
        t: (record.start_ms > 0).then(|| record.start_ms.div_euclid(1000)),
        cmd: text(record.command.trim_ascii()),
        cwd: (!record.cwd.is_empty()).then(|| text(&record.cwd)),
        exit: record.exit,
        session: (!record.session.is_empty()).then(|| text(&record.session)),
    }
}

#[cfg(test)]
mod tests {
    use tabsense_history::{Offer, Offered};
    use tabsense_rank::Weights;
    use tabsense_rank::eval::adapt::{NotAdapted, SHORTEST, adapt};

    use super::*;

    /// Two shells at once, the same four commands over and over in each.
    fn store(file: &Path, rounds: i64) {
        let mut store = Store::open(file).expect("store");
        let mut records = Vec::new();
        for round in 0..rounds {
            for (step, command) in ["git pull", "make", "make test", "git push"]
                .iter()
                .enumerate()
            {
                for session in ["1.1", "2.2"] {
                    records.push(Record {
                        command: command.as_bytes().to_vec(),
                        cwd: b"/srv/app".to_vec(),
                        exit: Some(0),
                        start_ms: 1_700_000_000_000 + round * 60_000 + step as i64 * 1_000,
                        session: session.as_bytes().to_vec(),
                        ..Record::default()
                    });
                }
            }
        }
        store.insert(&records).expect("rows");
        let offered = |text: &str| Offered {
            kind: b'w',
            native: Some(0),
            text: text.as_bytes().to_vec(),
        };
        let offer = Offer {
            command: b"git push".to_vec(),
            at_ms: 1_700_000_003_000,
            words: vec![b"git".to_vec()],
            offered: vec![offered("pull"), offered("push")],
            taken: 1,
            ..Offer::default()
        };
        store.insert_offers(&[offer]).expect("offer");
    }

    #[test]
    fn the_own_history_is_read_with_its_sessions_and_offers() {
        let data = tempfile::tempdir().expect("tempdir");
        let file = data.path().join("history.db");
        store(&file, 3);
        let (user, shown, count) = read(&file).expect("read");
        assert_eq!((user.commands.len(), count), (24, 24));
        let first = &user.commands[0];
        assert_eq!(first.session.as_deref(), Some("1.1"));
        assert_eq!(first.cwd.as_deref(), Some("/srv/app"));
        assert_eq!(
            (shown.len(), shown[0].taken, shown[0].time),
            (1, 1, 1_700_000_003)
        );
    }

    #[test]
    fn a_short_history_is_not_adapted_to_and_a_run_can_be_stopped() {
        let data = tempfile::tempdir().expect("tempdir");
        let file = data.path().join("history.db");
        store(&file, 3);
        let (user, shown, _) = read(&file).expect("read");
        let weights = Weights::default();
        let short = adapt(&user, &shown, &weights, None, &|| false);
        assert_eq!(short.expect_err("short"), NotAdapted::TooFew(24));

        let data = tempfile::tempdir().expect("tempdir");
        let file = data.path().join("history.db");
        store(&file, SHORTEST as i64 / 8 + 1);
        let (user, shown, _) = read(&file).expect("read");
        let stopped = adapt(&user, &shown, &weights, None, &|| true);
        assert_eq!(stopped.expect_err("stopped"), NotAdapted::Stopped);
    }
}
