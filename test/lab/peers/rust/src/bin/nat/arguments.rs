use libp2p::Multiaddr;
use peers::{flags::Flags, security::Security};

pub const USAGE: &str = "\
usage: nat relay --listen <multiaddr> [--security noise|tls]
       nat private --listen <multiaddr> --relay <multiaddr> [--security noise|tls]";

pub enum Command {
    Relay(Relay),
    Private(Private),
}

pub struct Relay {
    pub listen: Multiaddr,
    pub security: Security,
}

pub struct Private {
    pub listen: Multiaddr,
    pub relay: Multiaddr,
    pub security: Security,
}

impl Command {
    pub fn parse(mut args: impl Iterator<Item = String>) -> Result<Self, String> {
        let command = args.next();
        let mut flags = Flags::parse(args)?;
        let security = flags.take("security", Security::Noise)?;
        let listen = flags.take_needed("listen")?;

        let command = match command.as_deref() {
            Some("relay") => Self::Relay(Relay { listen, security }),
            Some("private") => Self::Private(Private {
                listen,
                relay: flags.take_needed("relay")?,
                security,
            }),
            _ => return Err("no such command".to_owned()),
        };

        flags.end()?;

        Ok(command)
    }
}
