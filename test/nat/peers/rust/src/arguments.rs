use std::collections::HashMap;

use libp2p::Multiaddr;

pub const USAGE: &str = "\
usage: nat-peer relay --listen <multiaddr> [--security noise|tls]
       nat-peer private --listen <multiaddr> --relay <multiaddr> [--security noise|tls]";

#[derive(Clone, Copy)]
pub enum Security {
    Noise,
    Tls,
}

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

pub fn parse(mut args: impl Iterator<Item = String>) -> Result<Command, String> {
    let command = args.next().ok_or("no command")?;
    let mut flags = HashMap::new();

    while let Some(flag) = args.next() {
        let value = args.next().ok_or(format!("{flag}: no value"))?;
        flags.insert(flag, value);
    }

    let security = match flags.remove("--security").as_deref() {
        None | Some("noise") => Security::Noise,
        Some("tls") => Security::Tls,
        Some(other) => return Err(format!("no such security protocol: {other}")),
    };
    let listen = address(&mut flags, "--listen")?;

    match command.as_str() {
        "relay" => Ok(Command::Relay(Relay { listen, security })),
        "private" => Ok(Command::Private(Private {
            listen,
            relay: address(&mut flags, "--relay")?,
            security,
        })),
        other => Err(format!("no such command: {other}")),
    }
}

fn address(flags: &mut HashMap<String, String>, name: &str) -> Result<Multiaddr, String> {
    flags
        .remove(name)
        .ok_or(format!("{name} is missing"))?
        .parse()
        .map_err(|error| format!("{name}: {error}"))
}
