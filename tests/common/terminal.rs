//! A terminal with a shell in it.

use super::LIMIT;
use portable_pty::{Child, CommandBuilder, MasterPty, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard};
use std::time::Instant;

pub(crate) const TAB: &str = "\t";
pub(crate) const ENTER: &str = "\r";
pub(crate) const ESC: &str = "\x1b";
pub(crate) const DOWN: &str = "\x1b[B";
pub(crate) const CTRL_C: &str = "\x03";
pub(crate) const CTRL_U: &str = "\x15";

/// Size of every terminal here.
const ROWS: u16 = 30;
const COLUMNS: u16 = 100;

/// Questions that shells ask a terminal at start, and what an xterm answers. fish waits for them.
const QUERIES: [(&[u8], &[u8]); 5] = [
    (b"\x1b[c", b"\x1b[?62;22c"),
    (b"\x1b[0c", b"\x1b[?62;22c"),
    (b"\x1b[>c", b"\x1b[>41;354;0c"),
    (b"\x1b[>0c", b"\x1b[>41;354;0c"),
    (b"\x1b[>0q", b"\x1bP>|XTerm(354)\x1b\\"),
];
/// The question where the cursor is.
const CURSOR_QUERY: &[u8] = b"\x1b[6n";

/// What the shell has printed so far.
struct Output {
    parser: vt100::Parser,
    raw: Vec<u8>,
    /// Bytes of `raw` already searched for questions.
    answered: usize,
    closed: bool,
}

type Shared = Arc<(Mutex<Output>, Condvar)>;
type Writer = Arc<Mutex<Box<dyn Write + Send>>>;

/// A terminal with a shell in it. Dropping it hangs up and kills the shell.
pub(crate) struct Terminal {
    shared: Shared,
    writer: Writer,
    child: Box<dyn Child + Send + Sync>,
    master: Option<Box<dyn MasterPty + Send>>,
    prompt: u32,
}

impl Terminal {
    #[track_caller]
    pub(super) fn spawn(command: CommandBuilder) -> Self {
        let size = PtySize {
            rows: ROWS,
            cols: COLUMNS,
            pixel_width: 0,
            pixel_height: 0,
        };
        let pair = native_pty_system()
            .openpty(size)
            .expect("open a pseudo-terminal");
        let child = pair.slave.spawn_command(command).expect("start the shell");
        let reader = pair
            .master
            .try_clone_reader()
            .expect("read from the terminal");
        let writer: Writer = Arc::new(Mutex::new(
            pair.master.take_writer().expect("write to the terminal"),
        ));
        let output = Output {
            parser: vt100::Parser::new(size_of(ROWS), size_of(COLUMNS), 200),
            raw: Vec::new(),
            answered: 0,
            closed: false,
        };
        let shared: Shared = Arc::new((Mutex::new(output), Condvar::new()));
        let (for_reader, for_answers) = (Arc::clone(&shared), Arc::clone(&writer));
        std::thread::spawn(move || follow(reader, &for_reader, &for_answers));
        Self {
            shared,
            writer,
            child,
            master: Some(pair.master),
            prompt: 0,
        }
    }

    /// Sends keys to the shell.
    pub(crate) fn press(&mut self, keys: impl AsRef<[u8]>) {
        self.send(keys);
    }

    /// As [`Terminal::press`], where several terminals are in use at once.
    pub(crate) fn send(&self, keys: impl AsRef<[u8]>) {
        let mut writer = self.writer.lock().expect("the writer");
        writer.write_all(keys.as_ref()).expect("type");
        writer.flush().expect("type");
    }

    /// Types one character after the other, each only after the one before is on the screen.
    #[track_caller]
    pub(crate) fn type_slowly(&mut self, text: &str) {
        for character in text.chars() {
            let before = self.cursor();
            self.press(character.to_string());
            self.wait_for("the typed character shows", |screen| {
                screen.cursor_position() != before
            });
        }
    }

    /// Waits until `ready` holds for the screen; on failure the screen is shown.
    #[track_caller]
    pub(crate) fn wait_for(&self, what: &str, mut ready: impl FnMut(&vt100::Screen) -> bool) {
        let end = Instant::now() + LIMIT;
        let (lock, changed) = &*self.shared;
        let mut output = lock.lock().expect("the output");
        while !ready(output.parser.screen()) {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || output.closed {
                let why = if output.closed {
                    "the shell ended before"
                } else {
                    "not within the limit"
                };
                let dump = dump(&output);
                drop(output);
                panic!("{why}: {what}\n{dump}");
            }
            output = changed.wait_timeout(output, left).expect("the output").0;
        }
    }

    /// Waits until the screen holds `text` somewhere.
    #[track_caller]
    pub(crate) fn wait_text(&self, text: &str) {
        self.wait_for(&format!("{text:?} shows"), |screen| {
            screen.contents().contains(text)
        });
    }

    /// Waits until the text left of the cursor, after the prompt, is exactly `text`.
    #[track_caller]
    pub(crate) fn wait_line(&self, text: &str) {
        self.wait_for(&format!("the line is {text:?}"), |screen| {
            edit_line(screen).as_deref() == Some(text)
        });
    }

    /// Waits for an empty numbered prompt later than all seen so far.
    #[track_caller]
    pub(crate) fn wait_prompt(&mut self) {
        let last = self.prompt;
        let mut seen = last;
        self.wait_for("a new prompt", |screen| {
            let (row, column) = screen.cursor_position();
            let text = row_text(screen, row);
            let Some(number) = prompt_number(&text) else {
                return false;
            };
            seen = number;
            number > last
                && usize::from(column) == format!("p{number}> ").len()
                && text.trim_end().ends_with('>')
        });
        self.prompt = seen;
    }

    /// Types a line, presses Enter and waits for the next prompt.
    #[track_caller]
    pub(crate) fn run(&mut self, line: impl AsRef<[u8]>) {
        self.press(line);
        self.press(ENTER);
        self.wait_prompt();
    }

    /// Empties the edit line and waits until it is empty.
    #[track_caller]
    pub(crate) fn clear_line(&mut self) {
        self.press(CTRL_U);
        self.wait_line("");
    }

    /// Changes the size of the terminal.
    pub(crate) fn resize(&mut self, rows: u16, columns: u16) {
        let size = PtySize {
            rows,
            cols: columns,
            pixel_width: 0,
            pixel_height: 0,
        };
        self.master
            .as_ref()
            .expect("open")
            .resize(size)
            .expect("resize");
        self.output()
            .parser
            .screen_mut()
            .set_size(size_of(rows), size_of(columns));
    }

    /// Hangs up, as closing a terminal window does.
    pub(crate) fn hang_up(&mut self) {
        self.master = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
    }

    /// Waits until the shell has ended and everything it printed has been read.
    #[track_caller]
    pub(crate) fn wait_end(&mut self) {
        let end = Instant::now() + LIMIT;
        let (lock, changed) = &*self.shared;
        let mut output = lock.lock().expect("the output");
        while !output.closed {
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "the shell does not end\n{}", dump(&output));
            output = changed.wait_timeout(output, left).expect("the output").0;
        }
        drop(output);
        let _ = self.child.wait();
    }

    /// The shell's process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.process_id().expect("a process id")
    }

    /// A copy of the screen: text, cursor, cell attributes.
    pub(crate) fn screen(&self) -> vt100::Screen {
        self.output().parser.screen().clone()
    }

    /// The screen's text.
    pub(crate) fn text(&self) -> String {
        self.screen().contents()
    }

    /// The rows of the screen below the last prompt's row, blank ones left out.
    pub(crate) fn rows_below(&self) -> Vec<String> {
        rows_below(&self.screen())
    }

    /// The words below the last prompt's row, in reading order.
    pub(crate) fn list(&self) -> Vec<String> {
        words_below(&self.screen())
    }

    /// Waits until the rows below the last prompt's row are exactly `rows`.
    #[track_caller]
    pub(crate) fn wait_rows(&self, rows: &[&str]) {
        self.wait_for(&format!("the rows {rows:?}"), |screen| {
            rows_below(screen) == rows
        });
    }

    /// Waits until the words below the last prompt's row, in reading order, are exactly `words`.
    #[track_caller]
    pub(crate) fn wait_list(&self, words: &[&str]) {
        self.wait_for(&format!("the list {words:?}"), |screen| {
            words_below(screen) == words
        });
    }

    /// Row and column of the cursor, from 0.
    pub(crate) fn cursor(&self) -> (u16, u16) {
        self.screen().cursor_position()
    }

    /// The text between the prompt and the cursor.
    pub(crate) fn line(&self) -> Option<String> {
        edit_line(&self.screen())
    }

    /// Every byte printed so far.
    pub(crate) fn raw(&self) -> Vec<u8> {
        self.output().raw.clone()
    }

    fn output(&self) -> MutexGuard<'_, Output> {
        self.shared.0.lock().expect("the output")
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        self.hang_up();
    }
}

fn size_of(cells: u16) -> std::num::NonZeroU16 {
    std::num::NonZeroU16::new(cells).expect("not zero")
}

/// Reads what the shell prints until it ends, and answers its questions to the terminal.
fn follow(mut reader: Box<dyn Read + Send>, shared: &Shared, writer: &Writer) {
    let mut buffer = [0; 8192];
    loop {
        let count = reader.read(&mut buffer).unwrap_or(0);
        let mut output = shared.0.lock().expect("the output");
        output.raw.extend_from_slice(&buffer[..count]);
        output.parser.process(&buffer[..count]);
        output.closed = count == 0;
        let answer = answers(&mut output);
        drop(output);
        shared.1.notify_all();
        if count == 0 {
            return;
        }
        if !answer.is_empty() {
            // The shell may be gone already: then nobody waits for the answer.
            let _ = writer.lock().expect("the writer").write_all(&answer);
        }
    }
}

fn answers(output: &mut Output) -> Vec<u8> {
    let mut answer = Vec::new();
    while let Some(start) = output.raw[output.answered..]
        .iter()
        .position(|&byte| byte == 0x1b)
    {
        let rest = &output.raw[output.answered + start..];
        let (row, column) = output.parser.screen().cursor_position();
        let reply = QUERIES.iter().find(|(query, _)| rest.starts_with(query));
        if let Some((_, reply)) = reply {
            answer.extend_from_slice(reply);
        } else if rest.starts_with(CURSOR_QUERY) {
            answer.extend_from_slice(format!("\x1b[{};{}R", row + 1, column + 1).as_bytes());
        } else if rest.len() < CURSOR_QUERY.len() + 1 {
            // Perhaps the start of a question: look again when more has come.
            output.answered += start;
            return answer;
        }
        output.answered += start + 1;
    }
    output.answered = output.raw.len();
    answer
}

fn row_text(screen: &vt100::Screen, row: u16) -> String {
    screen
        .rows(0, screen.size().1.get())
        .nth(usize::from(row))
        .unwrap_or_default()
}

/// The words below the last prompt's row, in reading order.
pub(crate) fn words_below(screen: &vt100::Screen) -> Vec<String> {
    rows_below(screen)
        .iter()
        .flat_map(|row| row.split_whitespace())
        .map(str::to_owned)
        .collect()
}

fn rows_below(screen: &vt100::Screen) -> Vec<String> {
    let rows: Vec<String> = screen.rows(0, screen.size().1.get()).collect();
    let prompt = rows.iter().rposition(|row| prompt_number(row).is_some());
    let below = &rows[prompt.map_or(0, |row| row + 1)..];
    below
        .iter()
        .map(|row| row.trim_end().to_owned())
        .filter(|row| !row.is_empty())
        .collect()
}

/// `p12> ls` gives 12.
fn prompt_number(text: &str) -> Option<u32> {
    text.strip_prefix('p')?.split_once('>')?.0.parse().ok()
}

pub(super) fn edit_line(screen: &vt100::Screen) -> Option<String> {
    let (row, column) = screen.cursor_position();
    // A long line wraps: the prompt is on the nearest row above that has one.
    let top = (0..=row)
        .rev()
        .find(|&above| prompt_number(&row_text(screen, above)).is_some())?;
    let columns = screen.size().1.get();
    let mut text = String::new();
    for above in top..=row {
        for cell in
            (0..if above == row { column } else { columns }).filter_map(|at| screen.cell(above, at))
        {
            match cell.contents() {
                "" if cell.is_wide_continuation() => {}
                "" => text.push(' '),
                contents => text.push_str(contents),
            }
        }
    }
    Some(text.split_once("> ")?.1.to_owned())
}

fn dump(output: &Output) -> String {
    let screen = output.parser.screen();
    let (row, column) = screen.cursor_position();
    let rows: Vec<String> = screen.rows(0, screen.size().1.get()).collect();
    let used = rows
        .iter()
        .rposition(|text| !text.trim().is_empty())
        .map_or(0, |last| last + 1);
    let tail = &output.raw[output.raw.len().saturating_sub(600)..];
    let mut text = format!("--- screen, cursor at row {row} column {column}\n");
    for line in &rows[..used.max(usize::from(row) + 1)] {
        text.push_str("| ");
        text.push_str(line);
        text.push('\n');
    }
    text.push_str(&format!("--- last bytes: {}\n", tail.escape_ascii()));
    text
}
