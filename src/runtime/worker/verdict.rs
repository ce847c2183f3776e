//! What a run's end says about its engine and its account, in the record, where it survives restarts.

use super::Shared;
use crate::model::breaker::Breaker;
use crate::model::ids::CaseId;
use crate::model::run::RunFailure;
use crate::model::time::Timestamp;
use crate::store::StoreError;
use crate::unit::plan::EngineUnit;

/// A run gave an outcome.
pub(super) async fn works(shared: &Shared, engine: &str) -> Result<(), StoreError> {
    if shared.engines.cleared(engine) {
        shared.parts.store.engine_works(engine).await?;
    }
    Ok(())
}

/// A run failed. Gives the time until which the engine gets no case, when it is taken for ill.
pub(super) async fn failed(
    shared: &Shared,
    engine: &EngineUnit,
    case: CaseId,
    failure: &RunFailure,
    detail: &str,
) -> Result<Option<Timestamp>, StoreError> {
    if Breaker::is_answer(failure) {
        works(shared, &engine.name).await?;
    }
    if !Breaker::counts(failure) {
        return Ok(None);
    }
    shared.engines.doubt(&engine.name);
    let reason = format!("{}: {detail}", failure.word());
    let shut = shared.parts.store.engine_failed(&engine.name, case, failure, &reason).await?;
    if let Some(until) = shut {
        tracing::warn!(engine = engine.name, %until, "gets no case for a while: {reason}");
    }
    Ok(shut)
}

/// The engine gets no case before this time. Limits and money are the account's, so that no other engine of it runs into
/// the same wall; logins and settings are looked at engine by engine.
pub(super) async fn rest(
    shared: &Shared,
    engine: &EngineUnit,
    failure: &RunFailure,
    until: Timestamp,
    detail: &str,
) -> Result<(), StoreError> {
    let store = &shared.parts.store;
    let reason = format!("{}: {detail}", failure.word());
    match failure {
        RunFailure::UsageLimit(_) | RunFailure::RateLimited(_) | RunFailure::Billing => {
            store.rest_account(&engine.account, until, &reason).await
        }
        _ => store.set_cooldown(&engine.name, until, &reason).await,
    }
}
