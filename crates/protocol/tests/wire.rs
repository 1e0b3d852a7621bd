//! The wire format as bytes that must never change within a major version.

use std::io::Cursor;

use proptest::prelude::*;
use tabsense_protocol::{
    FrameError, HEADER_LEN, MAX_PAYLOAD, Message, Reply, Request, encode, payload_len, read_frame,
    reply, request,
};

fn complete() -> Request {
    Request {
        capabilities: 1,
        release: "0.1.0".into(),
        id: 7,
        session: b"s".to_vec(),
        body: Some(request::Body::Complete(request::Complete {
            shell: request::Shell::Zsh.into(),
            line: b"cd \xff".to_vec(),
            cursor: 4,
            cwd: b"/".to_vec(),
            word: Some(Vec::new()),
            candidates: vec![request::Candidate {
                text: b"a".to_vec(),
                description: Vec::new(),
            }],
            add: true,
            budget_ms: 50,
            ..Default::default()
        })),
    }
}

#[test]
fn a_completion_request_has_these_bytes() {
    let expected = b"TBS\x01\x28\0\0\0\
        \x08\x01\x12\x050.1.0\x18\x07\x22\x01s\
        \x52\x18\x08\x01\x12\x04cd \xff\x18\x04\x22\x01/\x32\x00\x42\x03\x0a\x01a\x48\x01\x50\x32";
    let frame = encode(&complete());
    assert_eq!(
        frame.escape_ascii().to_string(),
        expected.escape_ascii().to_string()
    );
    let back: Request = read_frame(&mut Cursor::new(frame)).expect("own frame");
    assert_eq!(back, complete());
}

#[test]
fn a_refusal_has_these_bytes() {
    let refusal = Reply {
        capabilities: 1,
        release: "0.1.0".into(),
        id: 7,
        body: Some(reply::Body::Refused(reply::Refused {
            reason: reply::Reason::Protocol.into(),
            message: "no".into(),
            hint: "try".into(),
        })),
    };
    let expected =
        b"TBS\x01\x18\0\0\0\x08\x01\x12\x050.1.0\x18\x07\x6a\x0b\x08\x01\x12\x02no\x1a\x03try";
    assert_eq!(
        encode(&refusal).escape_ascii().to_string(),
        expected.escape_ascii().to_string()
    );
}

#[test]
fn a_decision_has_these_bytes() {
    let asked = Request {
        capabilities: 1,
        release: "0.1.0".into(),
        id: 7,
        session: Vec::new(),
        body: Some(request::Body::Decide(request::Decide {
            state: b"cd".to_vec(),
            questions: b"{}".to_vec(),
        })),
    };
    let expected =
        b"TBS\x01\x16\0\0\0\x08\x01\x12\x050.1.0\x18\x07\x8a\x01\x08\x0a\x02cd\x12\x02{}";
    assert_eq!(
        encode(&asked).escape_ascii().to_string(),
        expected.escape_ascii().to_string()
    );
    let answered = Reply {
        capabilities: 1,
        release: "0.1.0".into(),
        id: 7,
        body: Some(reply::Body::Decided(reply::Decided {
            json: "{}".into(),
            answers: vec![reply::DecidedAnswer {
                id: "q".into(),
                label: "a".into(),
                probability: 0.5,
            }],
        })),
    };
    let expected = b"TBS\x01\x1f\0\0\0\x08\x01\x12\x050.1.0\x18\x07\x82\x01\x11\x0a\x02{}\
        \x12\x0b\x0a\x01q\x12\x01a\x1d\0\0\0\x3f";
    assert_eq!(
        encode(&answered).escape_ascii().to_string(),
        expected.escape_ascii().to_string()
    );
}

#[test]
fn fields_from_a_newer_peer_are_skipped() {
    let mut payload = complete().encode_to_vec();
    payload.extend_from_slice(b"\xfa\x07\x05later"); // field 127, bytes
    assert_eq!(
        Request::decode(payload.as_slice()).expect("unknown field"),
        complete()
    );
}

#[test]
fn a_header_is_refused_before_anything_is_allocated() {
    let huge = [b'T', b'B', b'S', 1, 0xff, 0xff, 0xff, 0xff];
    assert!(matches!(payload_len(huge), Err(FrameError::TooLarge(_))));
    assert!(matches!(
        payload_len([0xff; HEADER_LEN]),
        Err(FrameError::Foreign(_))
    ));
    let other = [b'T', b'B', b'S', 9, 0, 0, 0, 0];
    assert!(matches!(
        payload_len(other),
        Err(FrameError::Major { theirs: 9 })
    ));
    let limit = u32::try_from(MAX_PAYLOAD).expect("fits").to_le_bytes();
    let [a, b, c, d] = limit;
    assert_eq!(
        payload_len([b'T', b'B', b'S', 1, a, b, c, d]).expect("limit"),
        MAX_PAYLOAD
    );
}

#[test]
fn a_frame_cut_short_is_an_error() {
    let frame = encode(&complete());
    for end in 0..frame.len() {
        let mut cut = Cursor::new(&frame[..end]);
        assert!(read_frame::<Request>(&mut cut).is_err(), "cut at {end}");
    }
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(any::<u8>(), 0..40)
}

proptest! {
    #[test]
    fn any_completion_survives_the_round_trip(
        line in bytes(), cwd in bytes(), word in proptest::option::of(bytes()), cursor: u64,
        texts in proptest::collection::vec((bytes(), bytes()), 0..8), add: bool, budget_ms: u32,
    ) {
        let sent = Request::new(cwd.clone(), request::Body::Complete(request::Complete {
            line, cwd, word, cursor, add, budget_ms,
            candidates: texts.into_iter()
                .map(|(text, description)| request::Candidate { text, description }).collect(),
            ..Default::default()
        }));
        let got: Request = read_frame(&mut Cursor::new(encode(&sent))).expect("own frame");
        prop_assert_eq!(got, sent);
    }

    #[test]
    fn arbitrary_bytes_never_panic_and_what_decodes_encodes_again(
        noise in proptest::collection::vec(any::<u8>(), 0..200)
    ) {
        let _ = read_frame::<Reply>(&mut Cursor::new(&noise));
        if let Ok(request) = Request::decode(noise.as_slice()) {
            let again = Request::decode(request.encode_to_vec().as_slice()).expect("own bytes");
            prop_assert_eq!(again.encode_to_vec(), request.encode_to_vec());
        }
    }
}
