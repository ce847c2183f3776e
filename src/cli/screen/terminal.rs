//! The terminal while a full screen has it: taken, lent to an editor, given back whatever happens.

use std::io::{self, BufWriter, Stdout, stdout};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::{Hide, Show};
use ratatui::crossterm::event::{DisableBracketedPaste, EnableBracketedPaste};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use ratatui::layout::Rect;

use super::Page;

/// A screenful goes out in one write, which is what makes it bearable over a slow line.
const FRAME_BYTES: usize = 64 * 1024;

/// The terminal is ours, so that whoever ends us early gives it back first.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// The terminal as a full screen.
pub(super) struct FullScreen {
    terminal: Terminal<CrosstermBackend<BufWriter<Stdout>>>,
}

impl FullScreen {
    /// Takes the terminal.
    ///
    /// # Errors
    /// It cannot be read or written.
    pub(super) fn enter() -> io::Result<Self> {
        give_back_on_panic();
        take()?;
        let writer = BufWriter::with_capacity(FRAME_BYTES, stdout());
        let terminal = Terminal::new(CrosstermBackend::new(writer)).inspect_err(|_| give_back())?;
        Ok(Self { terminal })
    }

    /// Columns and lines.
    ///
    /// # Errors
    /// The terminal does not say.
    pub(super) fn size(&self) -> io::Result<(u16, u16)> {
        let size = self.terminal.size()?;
        Ok((size.width, size.height))
    }

    /// Shows a page.
    ///
    /// # Errors
    /// The terminal cannot be written.
    pub(super) fn show(&mut self, page: &Page) -> io::Result<()> {
        self.terminal.draw(|frame| draw(page, frame)).map(|_| ())
    }

    /// Gives the terminal to something else for a while.
    ///
    /// # Errors
    /// It cannot be taken again.
    pub(super) fn lend<T>(&mut self, to: impl FnOnce() -> T) -> io::Result<T> {
        give_back();
        let done = to();
        self.take_again()?;
        Ok(done)
    }

    /// After a stop by the shell, or whatever else wrote on it: all is drawn anew.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn take_again(&mut self) -> io::Result<()> {
        // A shell that had the terminal meanwhile left it in its own mode, of which the library knows nothing.
        disable_raw_mode()?;
        take()?;
        // Not `clear`, which asks the terminal for its cursor and takes keys for the answer.
        let size = self.terminal.size()?;
        self.terminal.resize(Rect::new(0, 0, size.width, size.height))
    }
}

impl Drop for FullScreen {
    fn drop(&mut self) {
        give_back();
    }
}

/// Puts a page into a frame.
pub(in crate::cli) fn draw(page: &Page, frame: &mut ratatui::Frame<'_>) {
    let area = frame.area();
    for (line, y) in page.lines.iter().zip(area.top()..area.bottom()) {
        frame.buffer_mut().set_line(area.left(), y, line, area.width);
    }
    if let Some(cursor) = page.cursor {
        frame.set_cursor_position(cursor);
    }
}

fn take() -> io::Result<()> {
    enable_raw_mode()?;
    TAKEN.store(true, Ordering::SeqCst);
    // Pasted text is told apart from keys: a letter in it must not approve anything.
    execute!(stdout(), EnterAlternateScreen, EnableBracketedPaste, Hide).inspect_err(|_| give_back())
}

fn give_back() {
    if TAKEN.swap(false, Ordering::SeqCst) {
        // One that is gone needs nothing any more.
        let _ = execute!(stdout(), DisableBracketedPaste, LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}

/// The words of a panic are read on the usual screen.
fn give_back_on_panic() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let told = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| {
            give_back();
            told(info);
        }));
    });
}
