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
