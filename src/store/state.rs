//! Which moves are allowed. Pure; every write of a state asks here first.

use crate::model::case::CaseState;
use crate::model::outbound::ActionState;

/// Where a case may go from here.
#[must_use]
pub fn case_moves(from: CaseState) -> &'static [CaseState] {
    use CaseState as S;
    match from {
        // A stale draft can still be approved while the case waits for another.
        // A person's own agent may propose a draft wherever no engine works.
        // A person may have answered by hand wherever nothing is on its way.
        S::New => &[S::New, S::Queued, S::Review, S::Closed, S::Parked, S::Dismissed, S::Approved],
        S::Queued => &[S::New, S::Running, S::Review, S::Closed, S::Approved, S::Dismissed],
        S::Running => {
            &[S::New, S::Queued, S::Review, S::Closed, S::Parked, S::Dead, S::Approved, S::Dismissed]
        }
        S::Review => &[S::New, S::Queued, S::Review, S::Closed, S::Approved, S::Dismissed],
        S::Approved => &[S::New, S::Sent, S::Dead, S::Dismissed],
        S::Sent => &[S::New, S::Closed, S::Parked],
        S::Closed | S::Dismissed => &[S::New],
        S::Parked => &[S::New, S::Review, S::Closed, S::Approved, S::Dismissed],
        S::Dead => &[S::New, S::Closed, S::Dismissed],
    }
}

/// May a case go from here to there?
#[must_use]
pub fn case_may(from: CaseState, to: CaseState) -> bool {
    case_moves(from).contains(&to)
}

/// Where an action may go from here.
#[must_use]
pub fn action_moves(from: ActionState) -> &'static [ActionState] {
    use ActionState as A;
    match from {
        A::Approved => &[A::Sending, A::Held, A::Dead, A::Cancelled],
        A::Sending => &[A::Sent, A::Approved, A::Uncertain, A::Held, A::Dead],
        A::Uncertain => &[A::Uncertain, A::Sent, A::Approved, A::Held, A::Dead],
        A::Held => &[A::Approved, A::Sent, A::Dead, A::Cancelled],
        // A person has taken note of it.
        A::Dead => &[A::Cancelled],
        A::Sent | A::Cancelled => &[],
    }
}

/// May an action go from here to there?
#[must_use]
pub fn action_may(from: ActionState, to: ActionState) -> bool {
    action_moves(from).contains(&to)
}

/// What a new item that wants work does to a case: it is `new` again unless it is out of our hands just now.
#[must_use]
pub fn joined(state: CaseState) -> CaseState {
    match state {
        CaseState::Running | CaseState::Approved => state,
        _ => CaseState::New,
    }
}

/// Where a case comes to rest. One that got an item while it was running or approved is not done: it is `new` again.
#[must_use]
pub fn rest(wanted: CaseState, news: bool) -> CaseState {
    match wanted {
        CaseState::Queued | CaseState::Running | CaseState::Approved => wanted,
        _ if news => CaseState::New,
        _ => wanted,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table<S: Copy + std::fmt::Debug + 'static>(all: &[S], moves: impl Fn(S) -> &'static [S]) -> String {
        all.iter().map(|&from| format!("{from:?} -> {:?}\n", moves(from))).collect()
    }

    #[test]
    fn cases() {
        insta::assert_snapshot!(table(&CaseState::ALL, case_moves), @r"
        New -> [New, Queued, Review, Closed, Parked, Dismissed, Approved]
        Queued -> [New, Running, Review, Closed, Approved, Dismissed]
        Running -> [New, Queued, Review, Closed, Parked, Dead, Approved, Dismissed]
        Review -> [New, Queued, Review, Closed, Approved, Dismissed]
        Approved -> [New, Sent, Dead, Dismissed]
        Sent -> [New, Closed, Parked]
        Closed -> [New]
        Parked -> [New, Review, Closed, Approved, Dismissed]
        Dead -> [New, Closed, Dismissed]
        Dismissed -> [New]
        ");
    }

    #[test]
    fn actions() {
        insta::assert_snapshot!(table(&ActionState::ALL, action_moves), @r"
        Approved -> [Sending, Held, Dead, Cancelled]
        Sending -> [Sent, Approved, Uncertain, Held, Dead]
        Sent -> []
        Uncertain -> [Uncertain, Sent, Approved, Held, Dead]
        Held -> [Approved, Sent, Dead, Cancelled]
        Dead -> [Cancelled]
        Cancelled -> []
        ");
    }

    #[test]
    fn every_state_takes_a_new_item() {
        for state in CaseState::ALL {
            let next = joined(state);
            assert!(next == state || case_may(state, next), "{state:?}");
        }
    }

    #[test]
    fn nothing_but_the_wire_leads_to_sent() {
        for state in ActionState::ALL {
            let may = action_may(state, ActionState::Sent);
            let touched = matches!(state, ActionState::Sending | ActionState::Uncertain | ActionState::Held);
            assert_eq!(may, touched, "{state:?}");
        }
    }

    #[test]
    fn a_case_with_news_is_never_at_rest() {
        use CaseState as S;
        for wanted in [S::Sent, S::Closed, S::Review, S::Parked, S::Dead, S::Dismissed] {
            assert_eq!(rest(wanted, true), S::New);
            assert_eq!(rest(wanted, false), wanted);
        }
        assert_eq!(rest(S::Queued, true), S::Queued);
    }
}
