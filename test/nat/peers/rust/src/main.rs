//! A rust-libp2p node for the NAT lab: a public relay, or a private node that is to be reached by hole punching.
//! ../../README.md describes the command line and the lines that it prints.

mod arguments;
mod private;
mod relay;

use serde_json::Value;

/// 0: all well, 1: it failed, 2: a wrong command line.
#[tokio::main]
async fn main() {
    let result = match arguments::parse(std::env::args().skip(1)) {
        Err(reason) => {
            eprintln!("{reason}\n{}", arguments::USAGE);
            std::process::exit(2)
        }
        Ok(arguments::Command::Relay(options)) => relay::run(options).await,
        Ok(arguments::Command::Private(options)) => private::run(options).await,
    };

    if let Err(error) = result {
        eprintln!("{error}");
        std::process::exit(1)
    }

    // leave without joining the thread that reads stdin
    std::process::exit(0)
}

fn tell(line: Value) {
    println!("{line}");
}
