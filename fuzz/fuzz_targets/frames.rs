//! Whatever bytes arrive, a frame that can be read can be written and read again as the same
//! message, and nothing panics: `cargo xtask fuzz`, or `cargo +nightly fuzz run frames`.

#![no_main]

use libfuzzer_sys::fuzz_target;
use tabsense_protocol::{Message, Reply, Request, encode, read_frame};

fn round_trip<M: Message + Default + PartialEq + std::fmt::Debug>(data: &[u8]) {
    let Ok(message) = read_frame::<M>(&mut &*data) else {
        return;
    };
    let again: M = read_frame(&mut encode(&message).as_slice()).expect("own frame");
    // Compared as bytes: a score may be NaN, which is not equal to itself.
    assert_eq!(again.encode_to_vec(), message.encode_to_vec());
}

fuzz_target!(|data: &[u8]| {
    round_trip::<Request>(data);
    round_trip::<Reply>(data);
    // Most inputs have no valid header, so the payload is tried as well.
    if let Ok(request) = Request::decode(data) {
        round_trip::<Request>(&encode(&request));
    }
});
