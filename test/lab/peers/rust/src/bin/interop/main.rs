//! An ordinary rust-libp2p node for the interop matrix and the benchmarks. Its command line and output are those of the Go
//! program of the same name; README.md of the peers describes both.

mod arguments;
mod arrivals;
mod dial;
mod listen;
mod node;
mod perf;
mod protocols;
mod serve;

use arguments::{Command, USAGE};
use peers::program;

#[tokio::main]
async fn main() {
    let command = Command::parse(std::env::args().skip(1));

    program::run(command, USAGE, async |command| match command {
        Command::Listen(options) => listen::listen(options).await,
        Command::Dial(options) => dial::dial(options).await,
        Command::Perf(options) => perf::perf(options).await,
    })
    .await
}
