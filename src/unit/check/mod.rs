//! The rules: one file each, with code, level, explanation, an example, and the making of the finding. The table
//! below lists them all; `explain` and the manual are printed from it.

pub(crate) mod auto_without_bounds;
pub(crate) mod bad_name;
pub(crate) mod bad_specifier;
pub(crate) mod bad_value;
pub(crate) mod conflicting_units;
pub(crate) mod contradictory_enablement;
pub(crate) mod dangling_reference;
pub(crate) mod dependency_cycle;
pub(crate) mod disabled_incomplete;
pub(crate) mod duplicate_key;
pub(crate) mod endless_instances;
pub(crate) mod ignored_file;
pub(crate) mod interval_under_limit;
pub(crate) mod literal_secret;
pub(crate) mod missing_key;
pub(crate) mod names_differ_in_case;
pub(crate) mod never_kicked;
pub(crate) mod never_matching_route;
pub(crate) mod never_runs;
pub(crate) mod not_enabled;
pub(crate) mod orphan_drop_in;
pub(crate) mod out_of_range;
pub(crate) mod outbound_without_replies;
pub(crate) mod placeholder;
pub(crate) mod plain_http;
pub(crate) mod private_route_cloud_engine;
pub(crate) mod reference_to_disabled;
pub(crate) mod route_chooses_login;
pub(crate) mod shadowed_route;
pub(crate) mod shell_quirk;
pub(crate) mod subscription_with_api_key;
pub(crate) mod syntax_error;
pub(crate) mod type_change;
pub(crate) mod unkept_budget;
pub(crate) mod unknown_channel;
pub(crate) mod unknown_engine;
pub(crate) mod unknown_key;
pub(crate) mod unknown_kind;
pub(crate) mod unknown_platform;
pub(crate) mod unknown_runtime;
pub(crate) mod unknown_table;
pub(crate) mod unreadable;
pub(crate) mod without_effect;
pub(crate) mod writable_by_others;
pub(crate) mod wrong_type;

use crate::diag::Check;

/// All rules, by code.
pub static CHECKS: &[&Check] = &[
    &auto_without_bounds::CHECK,
    &bad_name::CHECK,
    &bad_specifier::CHECK,
    &bad_value::CHECK,
    &conflicting_units::CHECK,
    &contradictory_enablement::CHECK,
    &dangling_reference::CHECK,
    &dependency_cycle::CHECK,
    &disabled_incomplete::CHECK,
    &duplicate_key::CHECK,
    &endless_instances::CHECK,
    &ignored_file::CHECK,
    &interval_under_limit::CHECK,
    &literal_secret::CHECK,
    &missing_key::CHECK,
    &names_differ_in_case::CHECK,
    &never_kicked::CHECK,
    &never_matching_route::CHECK,
    &never_runs::CHECK,
    &not_enabled::CHECK,
    &orphan_drop_in::CHECK,
    &out_of_range::CHECK,
    &outbound_without_replies::CHECK,
    &placeholder::CHECK,
    &plain_http::CHECK,
    &private_route_cloud_engine::CHECK,
    &reference_to_disabled::CHECK,
    &route_chooses_login::CHECK,
    &shadowed_route::CHECK,
    &shell_quirk::CHECK,
    &subscription_with_api_key::CHECK,
    &syntax_error::CHECK,
    &type_change::CHECK,
    &unkept_budget::CHECK,
    &unknown_channel::CHECK,
    &unknown_engine::CHECK,
    &unknown_key::CHECK,
    &unknown_kind::CHECK,
    &unknown_platform::CHECK,
    &unknown_runtime::CHECK,
    &unknown_table::CHECK,
    &unreadable::CHECK,
    &without_effect::CHECK,
    &writable_by_others::CHECK,
    &wrong_type::CHECK,
];

/// The rule with this code.
#[must_use]
pub fn explain(code: &str) -> Option<&'static Check> {
    CHECKS.iter().copied().find(|check| check.code == code)
}
