//! Every setting there is: one table that the parser, the reference page and the completions share.

/// What values a key takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `true` or `false`.
    Bool {
        /// Used when the key is absent or bad.
        default: bool,
    },
    /// A whole number from `min` to `max`.
    Number {
        /// Used when the key is absent or bad.
        default: u64,
        /// Smallest value.
        min: u64,
        /// Largest value.
        max: u64,
    },
    /// A text.
    Text {
        /// Used when the key is absent or bad.
        default: &'static str,
    },
    /// One of a few words.
    Word {
        /// Used when the key is absent or bad.
        default: &'static str,
        /// What it may be.
        words: &'static [&'static str],
    },
}

/// One setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Key {
    /// The table it stands in; empty for the top of the file.
    pub table: &'static str,
    /// Its name.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// What it does, for the reference page.
    pub help: &'static str,
}

impl Key {
    /// The name as people write it: `table.name`.
    pub fn path(&self) -> String {
        match self.table {
            "" => self.name.to_owned(),
            table => format!("{table}.{}", self.name),
        }
    }
}

const fn number(default: u64, min: u64, max: u64) -> Kind {
    Kind::Number { default, min, max }
}

/// All settings, in the order of the reference page.
pub const KEYS: &[Key] = &[
    Key {
        table: "",
        name: "deadline_ms",
        kind: number(50, 5, 200),
        help: "How long a TAB may wait for the worker, in milliseconds from the client's start. \
               Later than that the shell's own completion appears.",
    },
    Key {
        table: "complete",
        name: "add",
        kind: Kind::Bool { default: true },
        help: "Whether candidates that the shell did not think of are offered: directories you \
               visited, names matched by word starts, pinyin or with one typo, words you used before. \
               They are only offered where the shell itself finds nothing.",
    },
    Key {
        table: "complete",
        name: "max_candidates",
        kind: number(5000, 100, 20_000),
        help: "Lists longer than this are left in the shell's own order.",
    },
    Key {
        table: "complete",
        name: "model",
        kind: Kind::Text { default: "builtin" },
        help: "The decision model that refines the ranking: `builtin`, `off`, or the directory of \
               a checkpoint. Read when the worker starts.",
    },
    Key {
        table: "do",
        name: "model",
        kind: Kind::Text { default: "builtin" },
        help: "The decision model that `tabsense do` asks: `builtin`, `off`, or the directory of a \
               checkpoint with the layout `separate`. Without one, words are compared, and the \
               best are offered but never taken for sure. Read when the worker starts.",
    },
    Key {
        table: "do",
        name: "threshold",
        kind: number(85, 50, 100),
        help: "From this probability on, in percent, `tabsense do` takes the likeliest shortcut for \
               the one that is meant. Below it the three best are offered.",
    },
    Key {
        table: "do",
        name: "floor",
        kind: number(20, 0, 50),
        help: "When no shortcut has this probability, in percent, `tabsense do` says that nothing \
               fits.",
    },
    Key {
        table: "complete",
        name: "insert",
        kind: Kind::Word {
            default: "sure",
            words: &["sure", "never"],
        },
        help: "When TAB inserts the first of several candidates at once, as if it were the only one: \
               `sure` is when you began to type it, took it here at least three times and none of \
               the others, and it is almost certain; only behind commands that do no harm. TAB \
               again, after taking it back, shows the list. `never` always shows the list.",
    },
    Key {
        table: "complete",
        name: "insert_percent",
        kind: number(90, 50, 100),
        help: "How likely the first candidate must be, in percent, to be inserted at once. Read when the \
               worker starts.",
    },
    Key {
        table: "complete",
        name: "native_percent",
        kind: number(3, 0, 100),
        help: "When the first candidate is less likely than this, in percent, and hardly likelier \
               than any other, the shell's own order is left as it is. Read when the worker starts.",
    },
    Key {
        table: "history",
        name: "record",
        kind: Kind::Bool { default: true },
        help: "Whether commands are recorded. What your shell's own settings keep out of its history \
               is never recorded.",
    },
    Key {
        table: "history",
        name: "import",
        kind: Kind::Bool { default: true },
        help: "Whether the first run reads the shell's own history file.",
    },
    Key {
        table: "worker",
        name: "idle_exit_min",
        kind: number(360, 1, 100_000),
        help: "The worker ends after this many minutes without a request. The next TAB starts it.",
    },
    Key {
        table: "worker",
        name: "memory_mb",
        kind: number(300, 50, 10_000),
        help: "Above this much memory, in MB, the worker empties its caches, and ends when it then \
               still has a fifth more than this. The next TAB starts it. In place of a model whose \
               weights take more than half of it, the built-in one ranks.",
    },
    Key {
        table: "worker",
        name: "adapt",
        kind: Kind::Bool { default: true },
        help: "Whether the ranking adapts to you: at most once a day, in the background, by replaying \
               your history. `tabsense adapt` does it now, `tabsense adapt --reset` goes back.",
    },
    Key {
        table: "worker",
        name: "log",
        kind: Kind::Word {
            default: "warn",
            words: &["off", "error", "warn", "info", "debug"],
        },
        help: "How much the worker writes to its log.",
    },
];

/// The reference page, as Markdown.
pub fn reference() -> String {
    let mut page = String::from(
        "# Settings\n\n<!-- Made by `tabsense config reference`; do not edit by hand. -->\n\n\
         `tabsense config path` prints where the file is. It is TOML; a key that is absent has its\n\
         default, and a bad value is reported by `tabsense config` and `tabsense doctor` and replaced\n\
         by its default. What stands below `[worker]` is read when the worker starts\n\
         (`tabsense worker restart`).\n",
    );
    let mut table = None;
    for key in KEYS {
        if table != Some(key.table) {
            table = Some(key.table);
            if !key.table.is_empty() {
                page.push_str(&format!("\n## `[{}]`\n", key.table));
            }
        }
        let values = match key.kind {
            Kind::Bool { default } => format!("`true` or `false`, default `{default}`"),
            Kind::Number { default, min, max } => format!("{min} to {max}, default `{default}`"),
            Kind::Text { default } => format!("text, default `\"{default}\"`"),
            Kind::Word { default, words } => {
                format!("{}, default `\"{default}\"`", quoted(words))
            }
        };
        page.push_str(&format!(
            "\n### `{}`\n\n{values}\n\n{}\n",
            key.path(),
            key.help
        ));
    }
    page
}

/// Words as TOML has them: `"a"`, `"b"` or `"c"`.
pub(crate) fn quoted(words: &[&str]) -> String {
    let each: Vec<String> = words.iter().map(|word| format!("`\"{word}\"`")).collect();
    match each.split_last() {
        Some((last, before)) if !before.is_empty() => format!("{} or {last}", before.join(", ")),
        _ => each.concat(),
    }
}
