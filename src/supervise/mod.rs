//! Generic supervision: cycles, the driver that repeats them, the group that owns every task, restart waits, the
//! status board. Knows no domain word.

pub mod board;
pub mod crash;
pub mod cycle;
pub mod driver;
pub mod group;
pub mod jumps;
pub mod kick;
pub mod pulse;
pub mod restart;

pub use board::{Board, UnitState, UnitStatus};
pub use cycle::{Cycle, Fault, Next, Pass, STOP_TIMEOUT};
pub use driver::Driver;
pub use group::{Group, StopReport};
pub use jumps::Jumps;
pub use kick::{Kick, Kicks, OnFailure};
pub use pulse::Pulse;
