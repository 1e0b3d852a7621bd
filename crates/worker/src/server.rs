//! The socket: one task a connection, one frame in, one frame out.

use std::sync::Arc;
use std::time::{Duration, Instant};

use tabsense_protocol::reply::{self, Reason, Refused};
use tabsense_protocol::request::Body;
use tabsense_protocol::{
    FIRST_READ, FrameError, HEADER_LEN, MAJOR, Message, Reply, Request, encode, payload_len,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::{Notify, Semaphore};
use tokio::time::timeout;
use tracing::{debug, warn};

use crate::state::Worker;
use crate::{adapt, complete, decide, prompt, recorder, shortcuts};

/// Connections served at once; more wait in the socket's backlog.
const CONNECTIONS: usize = 64;

/// How long an ending worker looks for connections that were made before its socket went away.
const DRAIN: Duration = Duration::from_millis(20);

/// How long those may take to say what they have to say.
const FAREWELL: Duration = Duration::from_millis(500);

/// A peer that says nothing for this long is cut off.
const SILENCE: Duration = Duration::from_secs(10);

/// Accepts until `end` says so, and then serves those who had already connected: a prompt hook
/// does not wait to see whether it was heard.
pub(crate) async fn serve(listener: UnixListener, worker: Arc<Worker>, end: Arc<Notify>) {
    let permits = Arc::new(Semaphore::new(CONNECTIONS));
    tokio::select! {
        () = accept_all(&listener, &worker, &permits) => {}
        () = end.notified() => {}
    }
    let _ = timeout(DRAIN, accept_all(&listener, &worker, &permits)).await;
    drop(listener);
    let all = u32::try_from(CONNECTIONS).unwrap_or(u32::MAX);
    let _ = timeout(FAREWELL, permits.acquire_many(all)).await;
}

async fn accept_all(listener: &UnixListener, worker: &Arc<Worker>, permits: &Arc<Semaphore>) {
    let us = rustix::process::geteuid().as_raw();
    loop {
        let Ok(permit) = Arc::clone(permits).acquire_owned().await else {
            return;
        };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(error) => {
                // Out of file descriptors, most likely: the loop must not spin.
                warn!("could not accept: {error}");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        if stream.peer_cred().is_ok_and(|peer| peer.uid() != us) {
            warn!("a process of another user connected and was cut off");
            continue;
        }
        let worker = Arc::clone(worker);
        tokio::spawn(async move {
            if let Err(error) = converse(stream, &worker).await {
                debug!("connection ended: {error}");
            }
            drop(permit);
        });
    }
}

async fn converse(mut stream: UnixStream, worker: &Arc<Worker>) -> Result<(), FrameError> {
    loop {
        let request = match timeout(SILENCE, read_request(&mut stream)).await {
            Ok(Ok(Some(request))) => request,
            Ok(Ok(None)) | Err(_) => return Ok(()),
            Ok(Err(error)) => {
                let refused = refused(Reason::Protocol, error.to_string(), "restart the shell");
                stream.write_all(&encode(&Reply::new(0, refused))).await?;
                return Err(error);
            }
        };
        worker.touch();
        let id = request.id;
        let body = handle(request, worker, Instant::now()).await;
        stream.write_all(&encode(&Reply::new(id, body))).await?;
    }
}

/// Reads one request; `None` when the peer has closed between frames.
async fn read_request(stream: &mut UnixStream) -> Result<Option<Request>, FrameError> {
    let mut header = [0; HEADER_LEN];
    if stream.read(&mut header[..1]).await? == 0 {
        return Ok(None);
    }
    stream.read_exact(&mut header[1..]).await?;
    let length = payload_len(header)?;
    let mut payload = Vec::with_capacity(length.min(FIRST_READ));
    let read = stream.take(length as u64).read_to_end(&mut payload).await?;
    if read < length {
        return Err(std::io::Error::from(std::io::ErrorKind::UnexpectedEof).into());
    }
    Ok(Some(Request::decode(payload.as_slice())?))
}

async fn handle(request: Request, worker: &Arc<Worker>, received: Instant) -> reply::Body {
    let Request { session, body, .. } = request;
    match body {
        Some(Body::Complete(ask)) => complete::answer(worker, session, ask, received).await,
        Some(Body::Prompt(shown)) => {
            prompt::note(worker, &session, shown);
            done(0)
        }
        Some(Body::Status(_)) => reply::Body::Status(Box::new(worker.status())),
        Some(Body::Stop(_)) => {
            worker.stop();
            done(0)
        }
        Some(Body::Import(import)) => {
            worker
                .recorder
                .ask(|answer| recorder::Job::Import(import, answer))
                .await
        }
        Some(Body::Forget(forget)) => {
            worker.forget_in_memory(&forget);
            worker
                .recorder
                .ask(|answer| recorder::Job::Forget(forget, answer))
                .await
        }
        Some(Body::Look(look)) => {
            worker
                .recorder
                .ask(|answer| recorder::Job::Look(look, answer))
                .await
        }
        Some(Body::Adapt(ask)) => adapt::answer(worker, ask).await,
        Some(Body::Decide(asked)) => decide::answer(&worker.judge, &asked).await,
        Some(Body::Do(ask)) => shortcuts::answer(worker, ask, received).await,
        None => refused(
            Reason::Unknown,
            format!("this worker speaks protocol {MAJOR} and does not know this request"),
            "restart the worker: `tabsense worker restart`",
        ),
    }
}

/// An answer without content.
pub(crate) fn done(count: u64) -> reply::Body {
    reply::Body::Done(reply::Done { count })
}

/// An answer that says why there is none.
pub(crate) fn refused(reason: Reason, message: impl Into<String>, hint: &str) -> reply::Body {
    reply::Body::Refused(Refused {
        reason: reason.into(),
        message: message.into(),
        hint: hint.to_owned(),
    })
}
