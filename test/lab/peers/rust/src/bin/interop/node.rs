use libp2p::{
    Swarm, identify, ping,
    swarm::{Config, NetworkBehaviour, behaviour::toggle::Toggle},
    yamux,
};
use peers::{
    program::BoxError,
    security::Security,
    swarm::{keep_connections, swarm},
};

use crate::serve;

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

pub fn node(security: Security, role: Role) -> Result<Swarm<Behaviour>, BoxError> {
    let muxer: fn() -> yamux::Config = match role {
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
        // the default is 128, and further streams are reset
        Role::Listener => keep_connections(config).with_max_negotiating_inbound_streams(4_096),
    };

    swarm(
        security,
        muxer,
        |key| Behaviour {
            identify: identify::Behaviour::new(identify::Config::new(
                "ipfs/0.1.0".to_owned(),
                key.public(),
            )),
            ping: ping::Behaviour::default(),
            stream: libp2p_stream::Behaviour::new(),
            serve: matches!(role, Role::Listener)
                .then_some(serve::Behaviour)
                .into(),
        },
        configure,
    )
}
