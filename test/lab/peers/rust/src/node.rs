use std::{error::Error, time::Duration};

use libp2p::{
    StreamProtocol, Swarm, SwarmBuilder, identify, noise, ping,
    swarm::{Config, NetworkBehaviour, behaviour::toggle::Toggle},
    tcp, tls, yamux,
};

use crate::{arguments::Security, serve};

pub const ECHO: StreamProtocol = StreamProtocol::new("/echo/1.0.0");
pub const SINK: StreamProtocol = StreamProtocol::new("/sink/1.0.0");
pub const PERF: StreamProtocol = StreamProtocol::new("/perf/1.0.0");

/// What nearly every rust-libp2p node has, and streams.
#[derive(NetworkBehaviour)]
pub struct Behaviour {
    identify: identify::Behaviour,
    ping: ping::Behaviour,
    pub stream: libp2p_stream::Behaviour,
    serve: Toggle<serve::Behaviour>,
}

pub enum Role {
    /// Measured as the library comes.
    Dialer,
    /// Serves echo, sink and perf, with limits that admit thousands of connections and streams from one host.
    Listener,
}

/// TCP alone, and one security protocol alone so that a cell of the matrix means what its name says.
pub fn node(security: Security, role: Role) -> Result<Swarm<Behaviour>, Box<dyn Error>> {
    let muxer = match role {
        Role::Dialer => yamux::Config::default,
        Role::Listener => || {
            let mut config = yamux::Config::default();
            // the default is 512 and one more ends the connection; this is the most that Yamux's default connection
            // window of 1 GiB admits
            config.set_max_num_streams(4_096);
            config
        },
    };
    let configure = |config: Config| match role {
        Role::Dialer => config,
        Role::Listener => config
            // the default is 128, and further streams are reset
            .with_max_negotiating_inbound_streams(4_096)
            // the default is 10 s without a stream; a test decides itself when a connection ends
            .with_idle_connection_timeout(Duration::from_secs(24 * 60 * 60)),
    };
    let behaviour = |key: &libp2p::identity::Keypair| Behaviour {
        identify: identify::Behaviour::new(identify::Config::new(
            "ipfs/0.1.0".to_owned(),
            key.public(),
        )),
        ping: ping::Behaviour::default(),
        stream: libp2p_stream::Behaviour::new(),
        serve: matches!(role, Role::Listener)
            .then_some(serve::Behaviour)
            .into(),
    };
    let builder = SwarmBuilder::with_new_identity().with_tokio();
    let config = tcp::Config::default();

    // two branches because the security protocol is part of the builder's type
    Ok(match security {
        Security::Noise => builder
            .with_tcp(config, noise::Config::new, muxer)?
            .with_behaviour(behaviour)?
            .with_swarm_config(configure)
            .build(),
        Security::Tls => builder
            .with_tcp(config, tls::Config::new, muxer)?
            .with_behaviour(behaviour)?
            .with_swarm_config(configure)
            .build(),
    })
}
