//! A client against peers that do everything but answer properly.

use std::io::{Read, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use tabsense_protocol::{Reply, Request, encode, read_frame, reply, request};

use super::{assert_native, press_tab};
use crate::common::{Home, Shell, Worker, eventually};

/// The deadline is 50 ms; a test machine may be busy, but it is never a second.
const GENEROUS: Duration = Duration::from_secs(1);

fn listen(home: &Home) -> UnixListener {
    let directory = home.runtime().join("tabsense");
    std::fs::create_dir_all(&directory).expect("runtime directory");
    std::fs::set_permissions(&directory, std::fs::Permissions::from_mode(0o700)).expect("mode");
    UnixListener::bind(directory.join("worker.sock")).expect("bind")
}

/// Serves every connection with `serve`, as long as the test runs.
fn stub(home: &Home, serve: impl Fn(UnixStream) + Send + Sync + 'static) {
    let listener = listen(home);
    let serve = std::sync::Arc::new(serve);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let serve = std::sync::Arc::clone(&serve);
            thread::spawn(move || serve(stream));
        }
    });
}

#[track_caller]
fn native_in_time(home: &Home) {
    for _ in 0..3 {
        let start = Instant::now();
        assert_native(&press_tab(home));
        assert!(start.elapsed() < GENEROUS, "{:?}", start.elapsed());
    }
}

#[test]
fn a_peer_that_never_accepts_means_native() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    let _listener = listen(&home);
    // Fill the backlog, so that even connecting would wait.
    let socket = home.runtime().join("tabsense/worker.sock");
    let mut waiting = Vec::new();
    while waiting.len() < 5000 {
        match rustix::net::socket_with(
            rustix::net::AddressFamily::UNIX,
            rustix::net::SocketType::STREAM,
            rustix::net::SocketFlags::NONBLOCK,
            None,
        ) {
            Ok(fd) => {
                let address = rustix::net::SocketAddrUnix::new(&socket).expect("address");
                if rustix::net::connect(&fd, &address).is_err() {
                    break;
                }
                waiting.push(fd);
            }
            Err(_) => break,
        }
    }
    native_in_time(&home);
}

#[test]
fn a_peer_that_accepts_and_is_silent_means_native() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    stub(&home, |stream| {
        let _keep = stream;
        thread::park();
    });
    native_in_time(&home);
}

#[test]
fn a_peer_that_trickles_means_native() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    stub(&home, |mut stream| {
        for &byte in b"TBS\x01\x08\0\0\0abcdefgh".iter().cycle() {
            if stream.write_all(&[byte]).is_err() {
                return;
            }
            thread::sleep(Duration::from_millis(20));
        }
    });
    native_in_time(&home);
}

#[test]
fn a_peer_that_hangs_up_means_native() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    stub(&home, drop);
    native_in_time(&home);
}

#[test]
fn noise_and_absurd_lengths_mean_native() {
    for noise in [
        vec![0xff; 8 << 20],
        b"TBS\x01\xff\xff\xff\xff".to_vec(),
        b"TBS\x01\x04\0\0\0\xff\xff\xff\xff".to_vec(),
        b"TBS\x07\0\0\0\0".to_vec(),
        b"HTTP/1.1 200 OK\r\n\r\n".to_vec(),
    ] {
        let Some(home) = Home::new(Shell::Bash) else {
            return;
        };
        stub(&home, move |mut stream| {
            let _ = stream.write_all(&noise);
        });
        native_in_time(&home);
    }
}

#[test]
fn half_an_answer_means_native() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    stub(&home, |mut stream| {
        let completed = reply::Completed {
            ranked: vec![reply::Ranked {
                native: Some(1),
                ..Default::default()
            }],
            ..Default::default()
        };
        let frame = encode(&Reply::new(1, reply::Body::Completed(completed)));
        let _ = stream.write_all(&frame[..frame.len() - 1]);
        thread::park();
    });
    native_in_time(&home);
}

#[test]
fn a_refusal_means_native() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    stub(&home, |mut stream| {
        let refused = reply::Refused {
            message: "no".into(),
            ..Default::default()
        };
        let _ = read_frame::<Request>(&mut stream);
        let _ = stream.write_all(&encode(&Reply::new(1, reply::Body::Refused(refused))));
    });
    native_in_time(&home);
}

#[test]
fn an_older_worker_is_told_to_stop_and_replaced() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    let listener = listen(&home);
    let (told, stopped) = mpsc::channel();
    let server = thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("accept");
        let request: Request = read_frame(&mut stream).expect("a request");
        let mut old = Reply::new(
            request.id,
            reply::Body::Completed(reply::Completed::default()),
        );
        old.release = "0.0.1".into();
        stream.write_all(&encode(&old)).expect("answer");
        let next: Request = read_frame(&mut stream).expect("another request");
        told.send(matches!(next.body, Some(request::Body::Stop(_))))
            .expect("send");
        // The listener goes away here, as that of a worker that ends.
    });
    // The stub answers once only; a busy machine gets more time.
    home.write(".config/tabsense/config.toml", "deadline_ms = 200\n");
    let first = press_tab(&home);
    assert_eq!(
        first.status.code(),
        Some(0),
        "the old worker's answer still counts"
    );
    assert!(
        stopped.recv_timeout(Duration::from_secs(10)).expect("told"),
        "told to stop"
    );
    server.join().expect("the stub ends");
    eventually("the new worker serves", || Worker::pid_in(&home));
}

#[test]
fn the_worker_answers_a_stranger_clearly() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    let _worker = home.worker();
    let socket = home.runtime().join("tabsense/worker.sock");
    let mut stream = UnixStream::connect(socket).expect("connect");
    stream.write_all(b"TBS\x63\x04\0\0\0what").expect("write");
    let reply: Reply = read_frame(&mut stream).expect("an answer");
    let Some(reply::Body::Refused(refused)) = reply.body else {
        panic!("{reply:?}")
    };
    assert_eq!(refused.reason(), reply::Reason::Protocol);
    assert!(
        refused.message.contains("protocol 99"),
        "{}",
        refused.message
    );
    let mut rest = Vec::new();
    assert_eq!(
        stream.read_to_end(&mut rest).unwrap_or(0),
        0,
        "and hangs up"
    );
}

#[test]
fn a_request_from_the_future_is_refused_and_the_next_one_answered() {
    let Some(home) = Home::new(Shell::Bash) else {
        return;
    };
    let _worker = home.worker();
    let socket = home.runtime().join("tabsense/worker.sock");
    let mut stream = UnixStream::connect(socket).expect("connect");
    // A request without a body that this release knows.
    let unknown = Request {
        id: 5,
        ..Request::default()
    };
    stream.write_all(&encode(&unknown)).expect("write");
    let reply: Reply = read_frame(&mut stream).expect("an answer");
    assert_eq!(reply.id, 5);
    assert!(
        matches!(reply.body, Some(reply::Body::Refused(_))),
        "{reply:?}"
    );
    let status = Request::new(Vec::new(), request::Body::Status(request::Status {}));
    stream.write_all(&encode(&status)).expect("write");
    let reply: Reply = read_frame(&mut stream).expect("an answer");
    assert!(
        matches!(reply.body, Some(reply::Body::Status(_))),
        "{reply:?}"
    );
}
