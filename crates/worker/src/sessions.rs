//! What each interactive shell did last.

use std::collections::{HashMap, VecDeque};

/// Commands kept for each session.
const COMMANDS: usize = 10;

/// Sessions kept; the one unused for longest goes.
const SESSIONS: usize = 256;

/// Each prompt tells its command through a process of its own, and one may overtake the other by so
/// many milliseconds. What is further apart is another clock's time.
const OVERTAKING_MS: i64 = 2000;

/// One command of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Command {
    pub(crate) command: Vec<u8>,
    pub(crate) cwd: Vec<u8>,
    pub(crate) exit: Option<i32>,
    /// When it started, in milliseconds since 1970; 0 when that is unknown.
    pub(crate) start_ms: i64,
}

/// The latest commands of the latest sessions.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    clock: u64,
    sessions: HashMap<Vec<u8>, (u64, VecDeque<Command>)>,
}

impl Sessions {
    /// Adds the command that a session ran last, or just before what is known already.
    pub(crate) fn push(&mut self, session: &[u8], command: Command) {
        self.clock += 1;
        if self.sessions.len() >= SESSIONS && !self.sessions.contains_key(session) {
            self.drop_oldest();
        }
        let (used, commands) = self.sessions.entry(session.to_vec()).or_default();
        *used = self.clock;
        if commands.len() == COMMANDS {
            commands.pop_front();
        }
        let overtaken = |known: &Command| {
            let ahead = known.start_ms.saturating_sub(command.start_ms);
            command.start_ms > 0 && ahead > 0 && ahead < OVERTAKING_MS
        };
        let later = commands.iter().rev().take_while(|known| overtaken(known));
        let place = commands.len() - later.count();
        commands.insert(place, command);
    }

    /// What a session ran, newest last.
    pub(crate) fn recent(&self, session: &[u8]) -> Vec<Command> {
        self.sessions
            .get(session)
            .map_or_else(Vec::new, |(_, commands)| commands.iter().cloned().collect())
    }

    /// Takes a command out of every session.
    pub(crate) fn forget(&mut self, command: &[u8]) {
        for (_, commands) in self.sessions.values_mut() {
            commands.retain(|known| known.command != command);
        }
    }

    /// Takes everything out.
    pub(crate) fn clear(&mut self) {
        self.sessions.clear();
    }

    fn drop_oldest(&mut self) {
        let oldest = self.sessions.iter().min_by_key(|(_, (used, _))| *used);
        if let Some(session) = oldest.map(|(session, _)| session.clone()) {
            self.sessions.remove(&session);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(text: &str) -> Command {
        Command {
            command: text.into(),
            cwd: b"/".to_vec(),
            exit: Some(0),
            start_ms: 0,
        }
    }

    fn started(text: &str, start_ms: i64) -> Command {
        Command {
            start_ms,
            ..command(text)
        }
    }

    #[test]
    fn a_command_that_was_overtaken_on_its_way_gets_its_place() {
        let mut sessions = Sessions::default();
        for (text, start_ms) in [
            ("one", 5000),
            ("three", 5020),
            ("two", 5010),
            ("four", 5030),
        ] {
            sessions.push(b"a", started(text, start_ms));
        }
        let texts = |sessions: &Sessions| -> Vec<String> {
            let recent = sessions.recent(b"a");
            let text = |c: &Command| String::from_utf8_lossy(&c.command).into_owned();
            recent.iter().map(text).collect()
        };
        assert_eq!(texts(&sessions), ["one", "two", "three", "four"]);
        // A clock that was set back, and no clock at all, change no order.
        sessions.push(b"a", started("a day earlier", 5030 - 86_400_000));
        sessions.push(b"a", started("a week earlier", 5030 - 604_800_000));
        sessions.push(b"a", command("any time"));
        assert_eq!(
            texts(&sessions)[4..],
            ["a day earlier", "a week earlier", "any time"]
        );
    }

    #[test]
    fn a_session_keeps_its_latest_commands_in_order() {
        let mut sessions = Sessions::default();
        for n in 0..COMMANDS + 3 {
            sessions.push(b"a", command(&n.to_string()));
        }
        let recent = sessions.recent(b"a");
        assert_eq!(recent.len(), COMMANDS);
        assert_eq!(recent.last(), Some(&command("12")));
        assert!(sessions.recent(b"b").is_empty());
    }

    #[test]
    fn the_session_unused_for_longest_goes_first() {
        let mut sessions = Sessions::default();
        for n in 0..SESSIONS {
            sessions.push(n.to_string().as_bytes(), command("x"));
        }
        sessions.push(b"0", command("y"));
        sessions.push(b"new", command("z"));
        assert_eq!(sessions.recent(b"0").len(), 2);
        assert!(sessions.recent(b"1").is_empty());
    }

    #[test]
    fn a_forgotten_command_is_in_no_session() {
        let mut sessions = Sessions::default();
        sessions.push(b"a", command("secret"));
        sessions.push(b"b", command("secret"));
        sessions.push(b"b", command("plain"));
        sessions.forget(b"secret");
        assert!(sessions.recent(b"a").is_empty());
        assert_eq!(sessions.recent(b"b"), [command("plain")]);
    }
}
