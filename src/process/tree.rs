//! The processes of one run, found wherever they went, and ended.
//!
//! Three signs lead to them, because each alone has a hole: the mark in the environment (survives double forks, new
//! sessions and lost parents; a program may wipe it), the session of the leader (survives a wiped environment), and
//! descent from a process already known (survives both while its parent lives; looked at every
//! [`TRACK_EVERY`]). What escapes: a process that wiped its environment, left its session and lost its parent, all
//! between two looks. Under the packaged systemd unit the control group ends that one when the daemon stops.
//!
//! A look goes over all processes, which takes milliseconds. Right after a start only those with numbers above the
//! leader's can belong to it, and the kernel says which number it gave out last; so a short run costs a few reads.
//!
//! On systems without `/proc` only the process group of the leader is signalled; a helper that made its own session
//! survives there.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal};

/// The variable that marks every process of a run.
pub(super) const MARK: &str = "WORKAGENT_RUN";

/// Between two looks at the tree of a running child. Costs a few small reads.
pub(super) const TRACK_EVERY: Duration = Duration::from_millis(500);

/// Rounds of "look, kill" until nothing is left: a fork may win a round against the look, hardly fifty.
const KILL_ROUNDS_MAX: u32 = 50;

/// Between two rounds.
const KILL_PAUSE: Duration = Duration::from_millis(10);

/// So young a run cannot have seen all numbers given out and begun again.
const YOUNG: Duration = Duration::from_secs(1);

/// More numbers than this are looked up faster by listing all processes.
#[cfg(target_os = "linux")]
const NUMBERS_MAX: i32 = 500;

/// Processes remembered for one run; a fork bomb must not fill our memory, its mark finds it anyway.
#[cfg(target_os = "linux")]
const KNOWN_LEN_MAX: usize = 4096;

/// See [`super::is_ours`].
pub(super) fn is_ours(pid: i32) -> bool {
    platform::is_ours(pid)
}

/// A process that cannot be mistaken for a later one with the same number: its start time goes with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Process {
    pub(super) pid: i32,
    /// Clock ticks since boot; 0 where the system does not say.
    pub(super) started: u64,
}

impl Process {
    /// This very process, if it is (still) there.
    pub(super) fn of(pid: i32) -> Option<Self> {
        platform::started(pid).map(|started| Self { pid, started })
    }

    /// Is this same process there, be it as a zombie?
    pub(super) fn is_there(self) -> bool {
        platform::started(self.pid) == Some(self.started)
    }
}

/// The tree of one run.
#[derive(Clone, Debug)]
pub(super) struct Tree {
    mark: String,
    /// The leader while its number cannot be given to another process: until it is waited for.
    leader: Option<i32>,
    /// Seen as members at some time: pid and start time.
    known: HashMap<i32, u64>,
    /// When the leader was started: nothing of the run is older.
    born: Option<Born>,
}

/// A start in both clocks that are of use.
#[derive(Clone, Copy, Debug)]
struct Born {
    at: Instant,
    /// Ticks since boot.
    #[cfg(target_os = "linux")]
    ticks: u64,
}

impl Tree {
    /// Everything that carries this mark.
    pub(super) fn marked(mark: &str) -> Self {
        Self { mark: mark.to_owned(), leader: None, known: HashMap::new(), born: None }
    }

    /// The same, and what descends from this leader, which is a session leader and not waited for yet.
    pub(super) fn led_by(mut self, leader: i32) -> Self {
        self.leader = Some(leader);
        self.remember(leader);
        self
    }

    /// The leader was started this moment: nothing of the tree is older.
    pub(super) fn born_now(mut self) -> Self {
        let ticks = self.leader.and_then(|leader| self.known.get(&leader));
        self.born = ticks.map(|_ticks| Born {
            at: Instant::now(),
            #[cfg(target_os = "linux")]
            ticks: *_ticks,
        });
        self
    }

    /// Its leader, if it was there when it was looked at.
    pub(super) fn leader(&self) -> Option<Process> {
        let pid = self.leader?;
        self.known.get(&pid).map(|&started| Process { pid, started })
    }

    fn remember(&mut self, pid: i32) {
        if let Some(process) = Process::of(pid) {
            self.known.insert(pid, process.started);
        }
    }

    /// Asks the process group of the leader to end.
    pub(super) fn terminate_group(&mut self) {
        self.track();
        if let Some(group) = self.leader.and_then(Pid::from_raw) {
            // Gone already is as good as ended.
            let _ = rustix::process::kill_process_group(group, Signal::TERM);
        }
    }

    /// A look at it is cheap.
    fn is_young(&self) -> bool {
        self.born.is_some_and(|born| born.at.elapsed() < YOUNG)
    }

    /// Ends every member that is alive, again and again until a look finds none. Returns those that were ended.
    pub(super) async fn kill(self) -> Vec<Process> {
        let mut ended = Vec::new();
        for _ in 0..KILL_ROUNDS_MAX {
            let round = if self.is_young() {
                self.kill_once()
            } else {
                let tree = self.clone();
                // Reading all of `/proc` takes milliseconds, and may wait for a lock of a process that is looked at.
                tokio::task::spawn_blocking(move || tree.kill_once()).await.unwrap_or_default()
            };
            if round.is_empty() {
                return ended;
            }
            for process in round {
                if !ended.contains(&process) {
                    ended.push(process);
                }
            }
            tokio::time::sleep(KILL_PAUSE).await;
        }
        tracing::warn!(
            run = self.mark,
            "processes of a run are still alive after {KILL_ROUNDS_MAX} rounds of kill"
        );
        ended
    }
}

#[cfg(target_os = "linux")]
pub(super) mod platform {
    use std::collections::HashSet;
    use std::io::Read as _;

    use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};

    use super::{KNOWN_LEN_MAX, MARK, NUMBERS_MAX, Pid, Process, Signal, Tree};

    /// One line of `/proc/PID/stat`.
    #[derive(Debug, PartialEq, Eq)]
    pub(super) struct Stat {
        pub(super) pid: i32,
        pub(super) zombie: bool,
        pub(super) parent: i32,
        pub(super) session: i32,
        pub(super) started: u64,
    }

    /// proc(5): the name stands in brackets and may hold anything, so fields count from the last bracket;
    /// behind it: state, ppid, pgrp, session, … and starttime as the 20th.
    pub(super) fn parse_stat(pid: i32, text: &str) -> Option<Stat> {
        let (_, rest) = text.rsplit_once(')')?;
        let mut fields = rest.split_ascii_whitespace();
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        let session = fields.nth(1)?.parse().ok()?;
        let started = fields.nth(15)?.parse().ok()?;
        Some(Stat { pid, zombie: matches!(state, "Z" | "X"), parent, session, started })
    }

    fn stat(pid: i32) -> Option<Stat> {
        let bytes = std::fs::read(format!("/proc/{pid}/stat")).ok()?;
        parse_stat(pid, &String::from_utf8_lossy(&bytes))
    }

    /// When a process was started, in ticks since boot.
    pub(super) fn started(pid: i32) -> Option<u64> {
        stat(pid).map(|stat| stat.started)
    }

    fn all() -> Vec<Stat> {
        let Ok(entries) = std::fs::read_dir("/proc") else { return Vec::new() };
        entries
            .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok())
            .filter_map(stat)
            .collect()
    }

    /// The number given out last, proc(5): the fifth field of loadavg.
    fn last_number() -> Option<i32> {
        let text = std::fs::read_to_string("/proc/loadavg").ok()?;
        text.split_ascii_whitespace().nth(4)?.parse().ok()
    }

    /// Of a chain of parents, at most so many are looked at.
    const PARENTS_MAX: usize = 256;

    /// Marked, or below this process, itself not counted.
    pub(in super::super) fn is_ours(pid: i32) -> bool {
        let own = i32::try_from(std::process::id()).unwrap_or(0);
        let (mark, mut at) = (format!("{MARK}=").into_bytes(), pid);
        for _ in 0..PARENTS_MAX {
            if at <= 1 || at == own {
                return at == own && pid != own;
            }
            if environ(at).split(|byte| *byte == 0).any(|variable| variable.starts_with(&mark)) {
                return true;
            }
            let Some(stat) = stat(at) else { return false };
            at = stat.parent;
        }
        true
    }

    /// The environment a process was started with. Not readable for other users' processes: those are not ours.
    fn environ(pid: i32) -> Vec<u8> {
        let Ok(file) = std::fs::File::open(format!("/proc/{pid}/environ")) else { return Vec::new() };
        let mut environ = Vec::new();
        // The kernel's own bound for arguments and environment is a quarter of the stack limit; 4 MiB is beyond it
        // on every usual system.
        match file.take(4 << 20).read_to_end(&mut environ) {
            Ok(_) => environ,
            Err(_) => Vec::new(),
        }
    }

    fn carries(pid: i32, mark: &[u8]) -> bool {
        environ(pid).split(|byte| *byte == 0).any(|variable| variable == mark)
    }

    /// Signals exactly this process: the handle is taken first, then the start time is compared.
    fn signal(process: Process, signal: Signal) -> bool {
        let Some(pid) = Pid::from_raw(process.pid) else { return false };
        match pidfd_open(pid, PidfdFlags::empty()) {
            Ok(handle) => process.is_there() && pidfd_send_signal(&handle, signal).is_ok(),
            // Kernels before 5.3 and some sandboxes have no such handle.
            Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => {
                process.is_there() && rustix::process::kill_process(pid, signal).is_ok()
            }
            Err(_) => false,
        }
    }

    impl Tree {
        /// Remembers the present descendants of known members.
        pub(in super::super) fn track(&mut self) {
            let mut queue: Vec<i32> = self.known.keys().copied().collect();
            while let Some(pid) = queue.pop() {
                if !self.known.get(&pid).is_some_and(|&started| Process { pid, started }.is_there()) {
                    self.known.remove(&pid);
                    continue;
                }
                for child in children(pid) {
                    if self.known.len() < KNOWN_LEN_MAX && !self.known.contains_key(&child) {
                        self.remember(child);
                        queue.push(child);
                    }
                }
            }
        }

        /// All processes that may be members.
        fn candidates(&self) -> Vec<Stat> {
            if let (true, Some(leader), Some(last)) = (self.is_young(), self.leader, last_number())
                && (leader..=leader.saturating_add(NUMBERS_MAX)).contains(&last)
            {
                return (leader..=last).filter_map(stat).collect();
            }
            all()
        }

        /// The members that are alive now.
        fn members(&self) -> Vec<Process> {
            let mark = format!("{MARK}={}", self.mark).into_bytes();
            let own = i32::try_from(std::process::id()).unwrap_or(0);
            let oldest = self.born.map_or(0, |born| born.ticks);
            let all = self.candidates();
            let mut member: HashSet<i32> = all
                .iter()
                .filter(|stat| stat.pid != own && stat.pid != 1 && stat.started >= oldest)
                .filter(|stat| {
                    self.leader.is_some_and(|leader| stat.pid == leader || stat.session == leader)
                        || self.known.get(&stat.pid) == Some(&stat.started)
                        || (!stat.zombie && carries(stat.pid, &mark))
                })
                .map(|stat| stat.pid)
                .collect();
            // Descendants, and whoever is in a session led by a member, until no more are found.
            loop {
                let before = member.len();
                for stat in &all {
                    if stat.pid != own
                        && stat.pid != 1
                        && (member.contains(&stat.parent) || member.contains(&stat.session))
                    {
                        member.insert(stat.pid);
                    }
                }
                if member.len() == before {
                    break;
                }
            }
            all.into_iter()
                .filter(|stat| member.contains(&stat.pid) && !stat.zombie)
                .map(|stat| Process { pid: stat.pid, started: stat.started })
                .collect()
        }

        /// One look and one round of KILL. Returns those that were signalled.
        pub(in super::super) fn kill_once(&self) -> Vec<Process> {
            self.members().into_iter().filter(|member| signal(*member, Signal::KILL)).collect()
        }
    }

    /// Children of all threads of a process.
    fn children(pid: i32) -> Vec<i32> {
        let Ok(threads) = std::fs::read_dir(format!("/proc/{pid}/task")) else { return Vec::new() };
        threads
            .filter_map(|thread| std::fs::read_to_string(thread.ok()?.path().join("children")).ok())
            .flat_map(|text| {
                text.split_ascii_whitespace().filter_map(|pid| pid.parse().ok()).collect::<Vec<_>>()
            })
            .collect()
    }
}

#[cfg(not(target_os = "linux"))]
pub(super) mod platform {
    /// Not looked up here.
    pub(in super::super) fn is_ours(_pid: i32) -> bool {
        false
    }

    use super::{Pid, Process, Signal, Tree};

    /// Start times are not looked up here, so a left-over process of a killed daemon is never signalled.
    pub(super) fn started(_pid: i32) -> Option<u64> {
        None
    }

    impl Tree {
        /// Nothing to look at.
        pub(in super::super) fn track(&mut self) {}

        /// One KILL to the group of the leader.
        pub(in super::super) fn kill_once(&self) -> Vec<Process> {
            if let Some(group) = self.leader.and_then(Pid::from_raw) {
                let _ = rustix::process::kill_process_group(group, Signal::KILL);
            }
            Vec::new()
        }
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::platform::parse_stat;
    use super::*;

    #[test]
    fn a_name_with_brackets_does_not_confuse_the_fields() {
        let text = "42 (a) b (c) S 7 41 40 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1 2";
        let stat = parse_stat(42, text).unwrap();
        assert_eq!((stat.parent, stat.session, stat.started, stat.zombie), (7, 40, 987_654, false));
        assert_eq!(parse_stat(42, "42 (a"), None);
    }

    #[test]
    fn the_start_time_tells_two_processes_of_one_number_apart() {
        let own = Process::of(i32::try_from(std::process::id()).unwrap()).unwrap();
        assert!(own.is_there());
        assert!(!Process { started: own.started + 1, ..own }.is_there());
    }
}
