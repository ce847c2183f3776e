//! The terminal as a source of lines. Ctrl-C is a key like any other while a line is read, so that it ends the talk in
//! order: nothing is left switched off, and the person is told that nothing was written.

use std::io;

use rustix::termios::{LocalModes, SpecialCodeIndex};

use super::talk::{Lines, Typed};
use crate::cli::tty::TtyMode;

/// The byte of Ctrl-C.
const INTERRUPT: u8 = 3;

/// One line; what a terminal takes at once is less.
const LINE_BYTES_MAX: usize = 64 * 1024;

/// Lines from standard input.
#[derive(Debug, Default)]
pub struct Terminal;

impl Lines for Terminal {
    fn line(&mut self, hidden: bool) -> io::Result<Typed> {
        let _mode = line_mode(hidden);
        let mut bytes: Vec<u8> = Vec::new();
        let mut piece = [0; 4096];
        // Past the standard library's buffer: it would wait for the end of a line that Ctrl-C does not have.
        while bytes.len() < LINE_BYTES_MAX {
            let count = match rustix::io::read(io::stdin(), &mut piece) {
                Ok(count) => count,
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            };
            bytes.extend(piece.iter().take(count));
            if bytes.contains(&INTERRUPT) || (count == 0 && bytes.is_empty()) {
                // What follows on the screen begins a new line.
                eprint_line_end();
                return Ok(Typed::Gone);
            }
            if count == 0 || bytes.ends_with(b"\n") {
                break;
            }
        }
        if hidden {
            eprint_line_end();
        }
        let text = String::from_utf8_lossy(&bytes);
        let plain = text.chars().filter(|c| !c.is_control()).collect();
        Ok(Typed::Line(plain))
    }
}

fn eprint_line_end() {
    use std::io::Write as _;
    let _ = anstream::stderr().lock().write_all(b"\n");
}

/// A line as always, but Ctrl-C ends it instead of the program.
fn line_mode(hidden: bool) -> TtyMode {
    TtyMode::with(|mode| {
        mode.local_modes.remove(LocalModes::ISIG);
        if hidden {
            mode.local_modes.remove(LocalModes::ECHO);
        }
        mode.special_codes[SpecialCodeIndex::VEOL] = INTERRUPT;
    })
}
