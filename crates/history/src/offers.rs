//! Lists that were offered at a prompt, and what was taken of them.

use rusqlite::{OptionalExtension, Row, params};

use crate::merge::Writer;
use crate::redact;

/// Offers that are kept; the oldest go.
pub(crate) const KEPT: i64 = 2_000;

/// One candidate of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offered {
    /// What it is: one ASCII letter, chosen by the caller.
    pub kind: u8,
    /// Its place in the shell's own order; `None` if the shell did not offer it.
    pub native: Option<u32>,
    /// Its text, unquoted, without the word's directory part.
    pub text: Vec<u8>,
}

/// One list, and what was taken of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Offer {
    /// The command that was then run.
    pub command: Vec<u8>,
    /// When it was run, in milliseconds since the Unix epoch.
    pub at_ms: i64,
    /// The working directory; empty when unknown.
    pub cwd: Vec<u8>,
    /// The words before the one that was completed, unquoted.
    pub words: Vec<Vec<u8>>,
    /// What was typed of that word, unquoted.
    pub typed: Vec<u8>,
    /// What was offered, best first.
    pub offered: Vec<Offered>,
    /// Which of it was taken, from 0.
    pub taken: usize,
}

impl Offer {
    /// Whether any line that it speaks of holds a secret.
    fn holds_secret(&self) -> bool {
        let is_secret = |line: &[u8]| redact(line).as_ref() != line;
        is_secret(&self.command) || self.lines().any(|line| is_secret(&line))
    }

    /// The lines that the candidates would have made.
    fn lines(&self) -> impl Iterator<Item = Vec<u8>> {
        let slash = self.typed.iter().rposition(|byte| *byte == b'/');
        let base = &self.typed[..slash.map_or(0, |at| at + 1)];
        let mut front: Vec<u8> = Vec::new();
        for word in &self.words {
            front.extend_from_slice(word);
            front.push(b' ');
        }
        front.extend_from_slice(base);
        self.offered
            .iter()
            .map(move |offered| [front.as_slice(), &offered.text].concat())
    }

    fn words_blob(&self) -> Vec<u8> {
        self.words
            .iter()
            .flat_map(|word| word.iter().copied().chain([0]))
            .collect()
    }

    fn offered_blob(&self) -> Vec<u8> {
        let mut blob = Vec::new();
        for offered in &self.offered {
            blob.push(offered.kind);
            if let Some(native) = offered.native {
                blob.extend_from_slice(native.to_string().as_bytes());
            }
            blob.push(b' ');
            blob.extend_from_slice(&offered.text);
            blob.push(0);
        }
        blob
    }

    pub(crate) fn read(row: &Row<'_>) -> rusqlite::Result<Self> {
        let parts = |blob: &[u8]| -> Vec<Vec<u8>> {
            let texts = blob.strip_suffix(b"\0").map(|all| all.split(|b| *b == 0));
            texts.into_iter().flatten().map(<[u8]>::to_vec).collect()
        };
        let offered = parts(row.get_ref(5)?.as_bytes()?)
            .iter()
            .filter_map(|part| {
                let (kind, rest) = part.split_first()?;
                let blank = rest.iter().position(|byte| *byte == b' ')?;
                Some(Offered {
                    kind: *kind,
                    native: std::str::from_utf8(&rest[..blank])
                        .ok()
                        .and_then(|n| n.parse().ok()),
                    text: rest[blank + 1..].to_vec(),
                })
            })
            .collect();
        Ok(Self {
            command: row.get_ref(0)?.as_bytes()?.to_vec(),
            at_ms: row.get(1)?,
            cwd: row
                .get_ref(2)?
                .as_bytes_or_null()?
                .unwrap_or_default()
                .to_vec(),
            words: parts(row.get_ref(3)?.as_bytes()?),
            typed: row.get_ref(4)?.as_bytes()?.to_vec(),
            offered,
            taken: row.get::<_, i64>(6)?.try_into().unwrap_or(0),
        })
    }
}

/// Reads offers, oldest first.
pub(crate) const READ: &str =
    "SELECT c.text, o.at_ms, d.path, o.words, o.typed, o.offered, o.taken, o.id
    FROM offer o JOIN command c ON c.id = o.command LEFT JOIN directory d ON d.id = o.directory
    ORDER BY o.at_ms, o.id";

impl Writer<'_> {
    /// Adds an offer whose command is in the store. One that speaks of a secret is left out.
    pub(crate) fn offer(&mut self, offer: &Offer) -> rusqlite::Result<bool> {
        if offer.offered.is_empty() || offer.holds_secret() {
            return Ok(false);
        }
        let Some(command) = self.texts.find_command(&offer.command)? else {
            return Ok(false);
        };
        let directory = self.texts.directory_or_null(&offer.cwd)?;
        self.prepare(
            "INSERT INTO offer (command, at_ms, directory, words, typed, offered, taken)
            VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
        )?
        .execute(params![
            command,
            offer.at_ms,
            directory,
            offer.words_blob(),
            offer.typed,
            offer.offered_blob(),
            i64::try_from(offer.taken).unwrap_or(0),
        ])?;
        self.prepare("DELETE FROM offer WHERE id <= (SELECT max(id) FROM offer) - ?1")?
            .execute([KEPT])?;
        Ok(true)
    }

    /// Removes the offers that a command was run after, and those that would have made it.
    pub(crate) fn forget_offers(&mut self, text: &[u8]) -> rusqlite::Result<()> {
        let any = self
            .prepare("SELECT 1 FROM offer LIMIT 1")?
            .query_row((), |_| Ok(()))
            .optional()?;
        if any.is_none() {
            return Ok(());
        }
        let mut telling = Vec::new();
        {
            let mut statement = self.prepare(READ)?;
            let mut rows = statement.query(())?;
            while let Some(row) = rows.next()? {
                let offer = Offer::read(row)?;
                let made = offer.lines().any(|line| line == text);
                if made || offer.command == text {
                    telling.push(row.get::<_, i64>(7)?);
                }
            }
        }
        for id in telling {
            self.prepare("DELETE FROM offer WHERE id = ?1")?
                .execute([id])?;
        }
        Ok(())
    }
}
