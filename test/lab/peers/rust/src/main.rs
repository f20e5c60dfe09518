//! An ordinary rust-libp2p node for the interop matrix and the benchmarks. Its command line and output are those of the Go
//! peer; ../README.md describes both.

mod arguments;
mod dial;
mod listen;
mod node;
mod perf;
mod serve;

use arguments::{Command, USAGE};

/// 0: all well, 1: a dial or the listener failed, 2: a wrong command line.
#[tokio::main]
async fn main() {
    let result = match Command::parse(std::env::args().skip(1)) {
        Err(reason) => {
            eprintln!("{reason}\n{USAGE}");
            std::process::exit(2)
        }
        Ok(Command::Listen(options)) => listen::listen(options).await,
        Ok(Command::Dial(options)) => dial::dial(options).await,
        Ok(Command::Perf(options)) => perf::perf(options).await,
    };

    if let Err(error) = result {
        eprintln!("{error}");
        std::process::exit(1)
    }

    // leave without joining the thread that reads stdin
    std::process::exit(0)
}
