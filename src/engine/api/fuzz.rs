//! Streams as no server should give them, through each parser: nothing panics, nothing half is taken for an answer, and
//! what is held in memory stays within its bound. The seed is fixed.

use crate::engine::api::Failed;
use crate::engine::api::talk::{Reader, Step};
use crate::engine::{anthropic, gemini, openai_chat, openai_responses, prompt, structured};
use crate::http::sse::{EVENT_BYTES_MAX, Sse};
use crate::model::run::EngineResult;
use crate::model::time::Timestamp;

/// Streams for each parser.
const STREAMS: u64 = 10_000;

const SEED: u64 = 20_261_130;

/// A small generator with a fixed course (xorshift), so that a run can be had again.
struct Dice(u64);

impl Dice {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, most: usize) -> usize {
        usize::try_from(self.next() % most.max(1) as u64).unwrap()
    }
}

/// What was done to a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    /// The end is missing.
    CutShort,
    /// A part of one stream in front of a whole one.
    Joined,
    /// A byte that no UTF-8 has, inside of the data of an event.
    BadUtf8,
    /// A line of some megabytes.
    Giant,
    /// Some bytes are others.
    Flipped,
    /// A piece is missing in the middle.
    Hole,
}

const FAULTS: [Fault; 6] =
    [Fault::CutShort, Fault::Joined, Fault::BadUtf8, Fault::Giant, Fault::Flipped, Fault::Hole];

fn spoilt(dice: &mut Dice, fault: Fault, whole: &[u8], end: usize) -> Vec<u8> {
    let at = dice.below(end);
    let mut bytes = whole.to_vec();
    match fault {
        Fault::CutShort => bytes.truncate(at),
        Fault::Joined => bytes = [&whole[..at], b"\n\n", whole].concat(),
        Fault::BadUtf8 => {
            // Into a text of the JSON, so that it is in the data of an event and not in a comment.
            let starts: Vec<usize> =
                whole[..end].windows(6).enumerate().filter(|(_, w)| w == b"data: ").map(|(i, _)| i).collect();
            let start = starts[dice.below(starts.len())] + 7;
            bytes.insert(start, 0x80 | u8::try_from(dice.below(0x40)).unwrap());
        }
        Fault::Giant => {
            let size = EVENT_BYTES_MAX / 2 + dice.below(EVENT_BYTES_MAX);
            let line = whole[..at].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            let head: &[u8] = if dice.below(2) == 0 { b"data: " } else { b": " };
            bytes = [&whole[..line], head, &vec![b'x'; size], b"\n\n", &whole[line..]].concat();
        }
        Fault::Flipped => {
            for _ in 0..=dice.below(4) {
                let at = dice.below(bytes.len());
                bytes[at] ^= u8::try_from(1 + dice.below(255)).unwrap();
            }
        }
        Fault::Hole => {
            let to = (at + 1 + dice.below(200)).min(bytes.len());
            bytes.drain(at..to);
        }
    }
    bytes
}

/// Feeds a stream in pieces of chance; gives the most that the splitter held.
fn feed<R: Reader>(dice: &mut Dice, bytes: &[u8], reader: &mut R) -> (bool, usize) {
    let (mut sse, mut rest, mut held) = (Sse::default(), bytes, 0);
    let largest = 1 + dice.below(if bytes.len() > 100_000 { 64 * 1024 } else { 300 });
    while !rest.is_empty() {
        let (piece, behind) = rest.split_at((1 + dice.below(largest)).min(rest.len()));
        rest = behind;
        let taken =
            sse.push(piece, &mut |data| Ok::<_, Failed>(reader.event(data, Timestamp(0))? != Step::Done));
        held = held.max(sse.held());
        match taken {
            Ok(true) => {}
            Ok(false) => return (true, held),
            Err(_) => return (false, held),
        }
    }
    (true, held)
}

#[derive(Debug, Default)]
struct Tally {
    failed: u64,
    whole: u64,
    other: u64,
    held: usize,
}

/// `end` is where the last word begins: a stream that lacks it is no answer.
fn run<R: Reader + Default>(
    name: &str,
    whole: &[u8],
    end: usize,
    read: impl Fn(&R) -> Option<EngineResult>,
) -> Tally {
    let mut dice = Dice(SEED);
    let mut tally = Tally::default();
    let good = {
        let mut reader = R::default();
        assert!(feed(&mut dice, whole, &mut reader).0);
        read(&reader).expect("the whole stream is an answer")
    };
    for number in 0..STREAMS {
        // Giant lines take their time; each hundredth is one.
        let fault = match number % 100 {
            0 => Fault::Giant,
            _ => *FAULTS.iter().filter(|fault| **fault != Fault::Giant).nth(dice.below(5)).unwrap(),
        };
        let bytes = spoilt(&mut dice, fault, whole, end);
        let mut reader = R::default();
        let (in_order, held) = feed(&mut dice, &bytes, &mut reader);
        tally.held = tally.held.max(held);
        let result = if in_order { read(&reader) } else { None };
        match &result {
            None => tally.failed += 1,
            Some(result) if *result == good => tally.whole += 1,
            Some(_) => tally.other += 1,
        }
        match fault {
            Fault::CutShort | Fault::BadUtf8 => {
                assert_eq!(result, None, "{name}: stream {number} ({fault:?}) was taken for an answer");
            }
            // Nothing of two answers in one: the second by itself, or none.
            Fault::Joined | Fault::Giant => {
                assert!(
                    result.as_ref().is_none_or(|result| *result == good),
                    "{name}: stream {number} ({fault:?}) became {result:?}"
                );
            }
            // What is changed inside of a text cannot be told from what was meant; it must only not panic.
            Fault::Flipped | Fault::Hole => {}
        }
    }
    assert!(tally.held <= EVENT_BYTES_MAX, "{} bytes held", tally.held);
    println!(
        "{name}: {STREAMS} streams, {} refused, {} whole all the same, {} with another text, at most {} KB held",
        tally.failed,
        tally.whole,
        tally.other,
        tally.held / 1024
    );
    tally
}

fn object(text: Result<&str, Failed>) -> Option<EngineResult> {
    structured::read_text(text.ok()?).ok().map(|outcome| outcome.result)
}

/// Where the last event with this word in it begins.
fn last(whole: &[u8], word: &str) -> usize {
    let text = std::str::from_utf8(whole).unwrap();
    let at = text.rfind(word).unwrap();
    text[..at].rfind("\n\n").map_or(0, |at| at + 2)
}

#[test]
fn anthropic_streams() {
    let whole = include_bytes!("../../../tests/fixtures/engines/anthropic/normal.sse");
    let end = last(whole, "message_stop");
    let tally = run("anthropic", whole, end, |answer: &anthropic::Answer| object(answer.finish()));
    assert!(tally.failed > STREAMS / 2);
}

#[test]
fn openai_responses_streams() {
    let whole = include_bytes!("../../../tests/fixtures/engines/openai-responses/normal.sse");
    let end = last(whole, "response.completed");
    let tally =
        run("openai-responses", whole, end, |answer: &openai_responses::Answer| object(answer.finish()));
    assert!(tally.failed > STREAMS / 2);
}

#[test]
fn gemini_streams() {
    let whole = include_bytes!("../../../tests/fixtures/engines/gemini/normal.sse");
    let end = last(whole, "finishReason");
    let tally = run("gemini", whole, end, |answer: &gemini::Answer| object(answer.finish()));
    assert!(tally.failed > STREAMS / 2);
}

#[test]
fn openai_chat_streams() {
    let text = include_str!("../../../tests/fixtures/openai-chat/ok.sse");
    let fence = prompt::build(&crate::engine::fixtures::request(Vec::new())).draft;
    let whole = text.replace("OPEN", fence.open()).replace("CLOSE", fence.close());
    let end = last(whole.as_bytes(), "\"stop\"");
    let tally = run("openai-chat", whole.as_bytes(), end, |answer: &openai_chat::Answer| {
        prompt::read_answer(answer.finish().ok()?, &fence).ok()
    });
    assert!(tally.failed > STREAMS / 4);
}
