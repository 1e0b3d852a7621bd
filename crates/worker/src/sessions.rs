//! What each interactive shell did last.

use std::collections::{HashMap, VecDeque};

/// Commands kept for each session.
const COMMANDS: usize = 10;

/// Sessions kept; the one unused for longest goes.
const SESSIONS: usize = 256;

/// One command of a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Command {
    pub(crate) command: Vec<u8>,
    pub(crate) cwd: Vec<u8>,
    pub(crate) exit: Option<i32>,
}

/// The latest commands of the latest sessions.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    clock: u64,
    sessions: HashMap<Vec<u8>, (u64, VecDeque<Command>)>,
}

impl Sessions {
    /// Adds the command that a session ran last.
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
        commands.push_back(command);
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
        }
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
