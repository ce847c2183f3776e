//! The `workagent` command.

use std::process::ExitCode;

use workagent::model::environment::Environment;

fn main() -> ExitCode {
    workagent::store::tune_allocator();
    let environment = Environment::capture();
    let mut out = anstream::stdout();
    ExitCode::from(workagent::cli::main(std::env::args_os(), environment, &mut out))
}
