//! The loop around a screen: keys, answers, time and signals in; pages and orders out.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::io;
use std::pin::Pin;
use std::time::Duration;

use ratatui::crossterm::event::{self, Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, getpid, kill_current_process_group, kill_process};
use tokio::io::Interest;
use tokio::io::unix::AsyncFd;
use tokio::signal::unix::{SignalKind, signal};

use super::terminal::FullScreen;
use super::{Input, Look, Machine, Order};
use crate::model::time::Clock;
use crate::process::editor;
use crate::supervise::crash;

/// How often ages and countdowns are drawn anew. Where nothing changed on the screen, nothing is written.
const TICK: Duration = Duration::from_millis(250);

/// Keys taken in one go before the screen is drawn again.
const KEYS_MAX: usize = 64;

/// What a screen needs of its surroundings.
pub(in crate::cli) struct Setting {
    /// Now.
    pub clock: Clock,
    /// With or without colours.
    pub look: Look,
    /// The user's editor.
    pub editor: Option<OsString>,
}

/// How a screen was left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Ended {
    /// By the person.
    Left,
    /// By a signal, or because the terminal went away.
    Told,
}

/// Runs a screen until it is left. The terminal is as it was afterwards.
///
/// # Errors
/// The terminal cannot be read or written.
pub(in crate::cli) async fn run<M: Machine>(
    machine: &mut M,
    ask: impl AsyncFn(M::Request) -> M::Answer,
    setting: &Setting,
) -> io::Result<Ended> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut resized = signal(SignalKind::window_change())?;
    let mut stopped = signal(SignalKind::from_raw(Signal::TSTP.as_raw()))?;
    let mut continued = signal(SignalKind::from_raw(Signal::CONT.as_raw()))?;
    #[expect(
        deprecated,
        reason = "its successor is unsafe for types that swap their descriptor; this one cannot"
    )]
    let stdin = AsyncFd::with_interest(io::stdin(), Interest::READABLE)?;
    let mut screen = FullScreen::enter()?;
    let mut waiting: VecDeque<M::Request> = VecDeque::new();
    let mut current: Option<Pin<Box<dyn Future<Output = M::Answer> + '_>>> = None;
    let mut inputs: VecDeque<Input<M::Answer>> = VecDeque::from([Input::Tick]);
    loop {
        let (columns, lines) = screen.size()?;
        inputs.push_front(Input::Size(columns, lines));
        while let Some(input) = inputs.pop_front() {
            let now = setting.clock.now();
            let input = match input {
                Input::Key(key) if is_control(key, 'z') => {
                    screen.lend(|| kill_current_process_group(Signal::STOP))??;
                    continue;
                }
                Input::Key(key) if is_control(key, 'l') => {
                    screen.take_again()?;
                    continue;
                }
                other => other,
            };
            for order in machine.update(input, now) {
                match order {
                    Order::Quit => return Ok(Ended::Left),
                    Order::Ask(request) => waiting.push_back(request),
                    Order::Edit(text) => {
                        let edited = screen.lend(|| edit(setting.editor.as_ref(), &text))?;
                        // What was meant for the editor is none of ours.
                        interrupt = signal(SignalKind::interrupt())?;
                        inputs.push_back(Input::Edited(edited));
                    }
                }
            }
        }
        if current.is_none()
            && let Some(request) = waiting.pop_front()
        {
            current = Some(Box::pin(ask(request)));
        }
        screen.show(&machine.view(setting.look, setting.clock.now()))?;
        crash::point("screen-shown");
        let answer = async {
            match current.as_mut() {
                Some(current) => current.await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            _ = terminate.recv() => return Ok(Ended::Told),
            _ = hangup.recv() => return Ok(Ended::Told),
            _ = interrupt.recv() => return Ok(Ended::Told),
            ready = stdin.readable() => {
                ready?.clear_ready();
                if !read(&mut inputs)? {
                    return Ok(Ended::Told);
                }
            }
            answer = answer => {
                current = None;
                inputs.push_back(Input::Answer(answer));
            }
            _ = resized.recv() => {}
            // By another process; Ctrl-Z is a key here.
            _ = stopped.recv() => screen.lend(|| kill_process(getpid(), Signal::STOP))??,
            _ = continued.recv() => screen.take_again()?,
            () = tokio::time::sleep(TICK) => inputs.push_back(Input::Tick),
        }
    }
}

/// Control and a letter.
pub(super) fn is_control(key: KeyEvent, letter: char) -> bool {
    key.modifiers.contains(KeyModifiers::CONTROL) && key.code == KeyCode::Char(letter)
}

/// Takes what was typed. `false`: the terminal is gone.
fn read<A>(inputs: &mut VecDeque<Input<A>>) -> io::Result<bool> {
    for _ in 0..KEYS_MAX {
        let stdin = io::stdin();
        let mut fds = [PollFd::new(&stdin, PollFlags::IN)];
        let ready = poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 }));
        let told = fds.iter().fold(PollFlags::empty(), |all, fd| all | fd.revents());
        // The library that reads keys would ask a terminal that is gone for ever.
        if told.intersects(PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL) {
            return Ok(false);
        }
        // Keys that it has taken already lie in the library.
        if ready.is_err() || !event::poll(Duration::ZERO)? {
            break;
        }
        match event::read()? {
            Event::Key(key) if key.kind != KeyEventKind::Release => inputs.push_back(Input::Key(key)),
            Event::Paste(text) => inputs.push_back(Input::Pasted(text)),
            _ => {}
        }
    }
    Ok(true)
}

fn edit(editor: Option<&OsString>, text: &str) -> Result<String, String> {
    let Some(editor) = editor else {
        return Err("neither VISUAL nor EDITOR is set: leave, set one, and come back".to_owned());
    };
    editor::edit(editor, text).map_err(|error| crate::model::class::chain(&error))
}
