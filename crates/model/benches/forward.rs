//! How long a decision takes, by stage, size, instruction set and precision.
//!
//! `cargo bench -p tabsense-model --bench forward [-- LAYERS/INNER] [--large]`. Times are of one thread, in
//! milliseconds: median of the processor time, then 99th percentile of the wall clock. `--large` adds 22 layers of 768.
//! With `--features peer` each size has a row for the matrix products of the same passes by a kept library.

#[cfg(feature = "peer")]
#[path = "peer.rs"]
mod peer;
#[path = "random.rs"]
mod random;

use std::time::{Duration, Instant};

use random::Shape;
use tabsense_model::{Device, Isa, Kind, Model, Options, Precision, Question, State, Stop};

const BASE: Shape = Shape {
    layers: 4,
    hidden: 256,
    inner: 384,
    heads: 4,
    head_layers: 2,
    vocab: 8192,
    layout: "cached",
};

fn main() {
    let large = std::env::args().any(|a| a == "--large");
    println!("machine: {} (load {})", Isa::best().name(), load());
    println!(
        "{:34} {:>18} {:>18} {:>18} {:>18}",
        "", "state 128", "options 16", "options 64", "joint 256"
    );
    let only = std::env::args().nth(1).filter(|a| a.contains('/'));
    // The last is the built-in one's.
    for (layers, inner) in [(4, 384), (4, 768), (6, 384), (6, 512)] {
        if only
            .as_ref()
            .is_some_and(|only| *only != format!("{layers}/{inner}"))
        {
            continue;
        }
        let shape = Shape {
            layers,
            inner,
            ..BASE
        };
        let directory = tempfile::tempdir().unwrap();
        random::write(directory.path(), &shape);
        let joint = tempfile::tempdir().unwrap();
        random::write(
            joint.path(),
            &Shape {
                layout: "sequential",
                ..shape
            },
        );
        for isa in Isa::available() {
            for precision in [Precision::Eight, Precision::EightFast, Precision::Float] {
                if precision == Precision::EightFast && isa.name() == "portable" {
                    continue;
                }
                let options = Options {
                    device: Device::Cpu,
                    isa: Some(isa),
                    precision,
                    ..Options::default()
                };
                let name = format!("{layers}x256/{inner} {} {precision:?}", isa.name());
                row(&name, directory.path(), joint.path(), &options);
            }
        }
        #[cfg(feature = "peer")]
        peer_row(&format!("{layers}x256/{inner} gemm, products alone"), shape);
    }
    stages();
    if large {
        wide();
    }
}

/// One line of the table.
fn row(name: &str, cached: &std::path::Path, joint: &std::path::Path, options: &Options) {
    let mut model = Model::load(cached, options).unwrap();
    let text = "x".repeat(128 - 4 - "choice question: ?".len() + 1);
    let state = model
        .state_piece(Kind::Choice, "?", &State::text(text))
        .unwrap();
    assert_eq!(state.ids.len(), 128);
    // Eight tokens each: the marker, the space, and six bytes.
    let names: Vec<String> = (0..8).map(|i| format!("name-{i}")).collect();
    let start = state.ids.len();
    let all = model.options_piece(Kind::Choice, &names, start).unwrap();
    let few = model
        .options_piece(Kind::Choice, &names[..2], start)
        .unwrap();
    assert_eq!((all.ids.len(), few.ids.len()), (64, 16));
    let backend = model.backend();
    let prepare = time(|| backend.prepare(0, &state, &Stop::NEVER).unwrap());
    let sixteen = time(|| drop(backend.options(0, &few, &Stop::NEVER).unwrap()));
    let sixty_four = time(|| drop(backend.options(0, &all, &Stop::NEVER).unwrap()));
    let mut model = Model::load(joint, options).unwrap();
    let question = Question::choice("q", "?", &names);
    let text = "x".repeat(256 - 64 - "choice question: ?".len() - 4);
    let whole = model.sequence(&State::text(text), &question).unwrap();
    assert_eq!(whole.ids.len(), 256);
    let backend = model.backend();
    let pass = time(|| drop(backend.forward(&whole, &Stop::NEVER).unwrap()));
    println!("{name:34} {prepare:>18} {sixteen:>18} {sixty_four:>18} {pass:>18}");
}

/// The line of the kept library.
#[cfg(feature = "peer")]
fn peer_row(name: &str, shape: Shape) {
    let mut peer = peer::Peer::new(shape);
    let state = time(|| peer.state(128));
    let sixteen = time(|| peer.options(128, 16, 2));
    let sixty_four = time(|| peer.options(128, 64, 8));
    let pass = time(|| peer.joint(256, 8));
    println!("{name:34} {state:>18} {sixteen:>18} {sixty_four:>18} {pass:>18}");
}

/// Where the time of one decision goes, 64 candidates of a shell.
fn stages() {
    let directory = tempfile::tempdir().unwrap();
    random::write(directory.path(), &BASE);
    let start = Instant::now();
    let mut model = Model::load(directory.path(), &Options::default()).unwrap();
    println!("\nstages, 4x256/384, default, 64 candidates:");
    println!("  load {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    let names: Vec<String> = (0..64).map(|i| format!("entry_{i:02}.rs")).collect();
    let mut round = 0;
    let fresh = time(|| {
        round += 1;
        let new: Vec<String> = names.iter().map(|n| format!("{n}{round}")).collect();
        drop(model.options_piece(Kind::Choice, &new, 128).unwrap());
    });
    println!("  tokenise, unseen    {fresh}");
    let cached = time(|| drop(model.options_piece(Kind::Choice, &names, 128).unwrap()));
    println!("  tokenise, cached    {cached}");
    let state = State::text("~/work/site\ngit status\nvim src/main.rs\ncargo build\n$ git add ");
    let piece = model.state_piece(Kind::Choice, "next", &state).unwrap();
    let prepare = time(|| model.backend().prepare(0, &piece, &Stop::NEVER).unwrap());
    println!("  state pass ({:3})    {prepare}", piece.ids.len());
    for count in [16, 64] {
        let options = model
            .options_piece(Kind::Choice, &names[..count], piece.ids.len())
            .unwrap();
        let pass = time(|| drop(model.backend().options(0, &options, &Stop::NEVER).unwrap()));
        println!("  {count} options ({:3})    {pass}", options.ids.len());
    }
}

/// A model of the size of ModernBERT base, 128 tokens in one pass.
fn wide() {
    let shape = Shape {
        layers: 22,
        hidden: 768,
        inner: 1152,
        heads: 12,
        vocab: 50_368,
        layout: "sequential",
        ..BASE
    };
    let directory = tempfile::tempdir().unwrap();
    random::write(directory.path(), &shape);
    println!("\n22x768, joint pass of 128 tokens:");
    for isa in Isa::available() {
        for (precision, threads) in [
            (Precision::Auto, 1),
            (Precision::Auto, 2),
            (Precision::Eight, 1),
            (Precision::Eight, 2),
        ] {
            let options = Options {
                device: Device::Cpu,
                isa: Some(isa),
                precision,
                threads: Some(threads),
                ..Options::default()
            };
            let start = Instant::now();
            let mut model = Model::load(directory.path(), &options).unwrap();
            let loaded = start.elapsed().as_secs_f64() * 1e3;
            let names: Vec<String> = (0..4).map(|i| format!("name-{i}")).collect();
            let text = "x".repeat(128 - 32 - "choice question: ?".len() - 4);
            let question = Question::choice("q", "?", &names);
            let whole = model.sequence(&State::text(text), &question).unwrap();
            assert_eq!(whole.ids.len(), 128);
            let backend = model.backend();
            // With more than one thread the processor time of this one says little.
            let (pass, wall) = times(|| drop(backend.forward(&whole, &Stop::NEVER).unwrap()));
            println!(
                "  {:12} {precision:?}, {threads} threads: {:.1} ms of this thread, {:.1} ms of the clock (load {loaded:.0} ms)",
                isa.name(),
                pass[0],
                wall[0]
            );
        }
    }
}

/// Median of the processor time and 99th percentile of the clock.
fn time(run: impl FnMut()) -> String {
    let (processor, clock) = times(run);
    format!("{:.3} / {:.3}", processor[0], clock[1])
}

/// Median and 99th percentile, of the processor time and of the clock, of up to 300 runs in about
/// a second.
fn times(mut run: impl FnMut()) -> ([f64; 2], [f64; 2]) {
    for _ in 0..3 {
        run();
    }
    let (mut times, mut walls) = (Vec::new(), Vec::new());
    let start = Instant::now();
    while times.len() < 300 && (times.len() < 20 || start.elapsed() < Duration::from_millis(1000)) {
        let begin = (processor(), Instant::now());
        run();
        times.push((processor() - begin.0) * 1e3);
        walls.push(begin.1.elapsed().as_secs_f64() * 1e3);
    }
    let at = |times: &mut Vec<f64>, share: f64| {
        times.sort_by(f64::total_cmp);
        times[((times.len() - 1) as f64 * share) as usize]
    };
    let both = |times: &mut Vec<f64>| [at(times, 0.5), at(times, 0.99)];
    (both(&mut times), both(&mut walls))
}

/// Seconds of processor time of this thread.
fn processor() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    now.tv_sec as f64 + now.tv_nsec as f64 * 1e-9
}

fn load() -> String {
    let text = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    text.split(' ').next().unwrap_or("?").to_owned()
}
