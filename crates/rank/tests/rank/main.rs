//! Behaviour of the ranking, seen from outside.

mod adapting;
mod directories;
mod evaluation;
mod lines;
mod properties;
mod words;

use tabsense_rank::{Context, Event, Index, Recent};

/// An index that saw commands one after the other in one session, an hour apart from the epoch.
fn seen(commands: &[(&str, &str)]) -> Index {
    let mut index = Index::new();
    for (at, (cwd, command)) in (1..).zip(commands) {
        index.observe(&Event {
            command: command.as_bytes(),
            cwd: cwd.as_bytes(),
            start: 60 * at,
            ..Event::default()
        });
    }
    index
}

/// Commands as the recent ones of a context.
fn recent<'a>(commands: &[(&'a str, &'a str)]) -> Vec<Recent<'a>> {
    let of = |(cwd, command): &(&'a str, &'a str)| Recent {
        command: command.as_bytes(),
        cwd: cwd.as_bytes(),
        exit: Some(0),
    };
    commands.iter().map(of).collect()
}

fn at<'a>(cwd: &'a str, recent: &'a [Recent<'a>]) -> Context<'a> {
    Context {
        cwd: cwd.as_bytes(),
        home: b"/home/me",
        recent,
        ..Context::default()
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
