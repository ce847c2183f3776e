//! Broken streams.

use super::*;

/// A small generator: the same numbers each time.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap() % sides.max(1)
    }
}

/// Breaks what an agent says: cuts, joins, floods, bad bytes, lines left out, doubled, swapped, out of another stream.
fn broken(lines: &[Vec<u8>], calm: usize, dice: &mut Dice) -> Vec<Vec<u8>> {
    let mut out = Vec::new();
    for line in lines {
        let mut line = line.clone();
        match dice.roll(12 * calm) {
            0 => continue,
            1 => out.push(line.clone()),
            2 => line.truncate(dice.roll(line.len())),
            3 => {
                let at = dice.roll(line.len());
                line[at] = u8::try_from(dice.roll(256)).unwrap();
            }
            4 => {
                let at = dice.roll(line.len());
                let junk: [&[u8]; 5] = [b"\xff\xfe", b"\0", b"\"", "\u{2028}".as_bytes(), b"[[[[[[[["];
                let junk = junk[dice.roll(junk.len())];
                line.splice(at..at, junk.iter().copied());
            }
            5 => {
                let at = dice.roll(line.len());
                let rest = line.split_off(at);
                out.push(line);
                line = rest;
            }
            6 => {
                if let Some(last) = out.last_mut() {
                    last.extend_from_slice(&line);
                    continue;
                }
            }
            7 => out.push(vec![b'['; 1 + dice.roll(2000)]),
            8 if dice.roll(20) == 0 => {
                let mut giant = br#"{"method":"session/update","params":{"update":{"sessionUpdate":"agent_message_chunk","content":{"text":""#.to_vec();
                giant.resize(300_000, b'x');
                giant.extend_from_slice(br#""}}}}"#);
                out.push(giant);
            }
            _ => {}
        }
        out.push(line);
    }
    if dice.roll(4 * calm) == 0 && !out.is_empty() {
        out.truncate(dice.roll(out.len()));
    }
    if dice.roll(4 * calm) == 0 && out.len() > 1 {
        let (one, other) = (dice.roll(out.len()), dice.roll(out.len()));
        out.swap(one, other);
    }
    out
}

#[test]
fn ten_thousand_broken_streams_bring_no_panic_and_no_false_success() {
    let recordings: Vec<_> =
        manifest().into_iter().map(|(file, _)| (file.clone(), recording(&file))).collect();
    let mut dice = Dice(0x5eed_ac9a_0000_0001);
    let (mut done, mut failed, mut unfinished, mut drafts) = (0, 0, 0, 0);
    for round in 0..10_000 {
        let (file, recorded) = &recordings[round % recordings.len()];
        let (task, fence) = task(preset_of(file));
        let mut client = client(task);
        let mut player = Player { recorded: recorded.clone(), at: 0, fence: Some(fence.clone()) };
        // From streams in which hardly a line is whole to those with one fault.
        let calm = 1 + dice.roll(30);
        let mut end_said = false;
        let mut rounds = 0;
        while !client.is_over() && rounds < 20 {
            rounds += 1;
            let out = client.take_out();
            if out.is_empty() {
                break;
            }
            for line in out {
                let said: Vec<Vec<u8>> = player.hear(&line).into_iter().flatten().collect();
                for line in broken(&said, calm, &mut dice) {
                    end_said |= String::from_utf8_lossy(&line).contains(r#""stopReason":"end_turn""#);
                    client.hear(&line);
                }
            }
        }
        match client.turn() {
            Some(Turn::Done) => {
                done += 1;
                assert!(end_said, "{file}, round {round}: done, though nobody said so");
                let Some(text) = client.answer().text() else { continue };
                match prompt::read_answer(text, &fence) {
                    Ok(EngineResult::Reply(text)) => {
                        drafts += 1;
                        assert!(
                            !text.contains("Warning") && !text.contains("API Error"),
                            "{file}, round {round}: {text}"
                        );
                    }
                    Ok(other) => panic!("{file}, round {round}: {other:?}"),
                    Err(_) => {}
                }
            }
            Some(Turn::Asks(what)) => panic!("{file}, round {round}: asks {what}"),
            Some(Turn::Failed(..)) => failed += 1,
            None => unfinished += 1,
        }
    }
    println!(
        "10000 streams: {done} done, of these {drafts} with a draft; {failed} failed; {unfinished} unfinished"
    );
    assert!(
        done > 1000 && failed > 1000 && unfinished > 1000 && drafts > 500,
        "the fuzz is too weak or too strong"
    );
}
