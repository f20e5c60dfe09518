use std::time::Duration;

use libp2p::Multiaddr;
use peers::{
    flags::{Flags, parse},
    security::Security,
};

pub const USAGE: &str = "\
usage: interop listen [--host 127.0.0.1] [--port 0] [--security noise|tls] [--streams 512]
       interop dial <multiaddr>|- [--count 100] [--bytes 262144] [--security noise|tls] [--timeout-ms 60000]
       interop perf <multiaddr> [--bytes 268435456] [--count 200] [--security noise|tls]";

pub enum Command {
    Listen(Listen),
    Dial(Dial),
    Perf(Perf),
}

pub struct Listen {
    pub host: String,
    pub port: u16,
    pub security: Security,
    pub streams: usize,
}

pub struct Dial {
    pub targets: Targets,
    pub bytes: usize,
    pub security: Security,
    pub timeout: Duration,
}

pub struct Perf {
    pub target: Multiaddr,
    pub bytes: u64,
    pub count: usize,
    pub security: Security,
}

/// What is dialed, one after the other.
pub enum Targets {
    /// The same address so many times.
    Same(Multiaddr, usize),
    /// Each line of stdin when it comes.
    Stdin,
}

impl Command {
    pub fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let command = args.next();
        let target = match command.as_deref() {
            Some("dial" | "perf") => args.next(),
            _ => None,
        };
        let mut flags = Flags::parse(args)?;
        let security = flags.take("security", Security::Noise)?;

        let command = match command.as_deref() {
            Some("listen") => Self::Listen(Listen {
                host: flags.take("host", "127.0.0.1".to_owned())?,
                port: flags.take("port", 0)?,
                security,
                streams: flags.take("streams", 512)?,
            }),
            Some("dial") => Self::Dial(Dial {
                targets: Targets::parse(
                    &target.ok_or("no address to dial")?,
                    flags.take("count", 100)?,
                )?,
                bytes: flags.take("bytes", 262_144)?,
                security,
                timeout: Duration::from_millis(flags.take("timeout-ms", 60_000)?),
            }),
            Some("perf") => Self::Perf(Perf {
                target: parse("address", &target.ok_or("no address to dial")?)?,
                bytes: flags.take("bytes", 256 << 20)?,
                count: flags.take("count", 200)?,
                security,
            }),
            _ => return Err("no such command".to_owned()),
        };

        flags.end()?;

        match command {
            Self::Dial(Dial { bytes: 0, .. }) => Err("--bytes: at least 1".to_owned()),
            _ => Ok(command),
        }
    }
}

impl Targets {
    fn parse(target: &str, count: usize) -> Result<Self, String> {
        match target {
            "-" => Ok(Self::Stdin),
            address => Ok(Self::Same(parse("address", address)?, count)),
        }
    }
}
