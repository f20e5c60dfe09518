//! A rust-libp2p node for the NAT lab: a public relay, or a private node that is to be reached by hole punching.
//! test/nat/README.md describes the command line and the lines that it prints.

mod arguments;
mod private;
mod relay;
mod tell;

use arguments::{Command, USAGE};
use peers::program;

#[tokio::main]
async fn main() {
    let command = Command::parse(std::env::args().skip(1));

    program::run(command, USAGE, async |command| match command {
        Command::Relay(options) => relay::run(options).await,
        Command::Private(options) => private::run(options).await,
    })
    .await
}
