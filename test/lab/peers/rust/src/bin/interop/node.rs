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

use crate::{arrivals::Arrivals, serve};

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
    /// Serves echo, sink and perf, with limits that admit thousands of connections from one host, and so many streams of
    /// each.
    Listener { streams: usize, arrivals: Arrivals },
}

pub fn node(security: Security, role: Role) -> Result<Swarm<Behaviour>, BoxError> {
    let (muxer, limits, serve) = match role {
        Role::Dialer => (yamux::Config::default(), None, None),
        Role::Listener { streams, arrivals } => {
            let mut muxer = yamux::Config::default();
            // one more ends the connection; 4,096 is the most that Yamux's default connection window of 1 GiB admits, and
            // leaves none of it to let a stream's window grow beyond 256 KiB
            muxer.set_max_num_streams(streams);
            (
                muxer,
                Some(streams),
                Some(serve::Behaviour { arrivals }),
            )
        }
    };
    let configure = |config: Config| match limits {
        None => config,
        // the default is 128, and further streams are reset
        Some(streams) => keep_connections(config).with_max_negotiating_inbound_streams(streams),
    };

    swarm(
        security,
        || muxer,
        |key| Behaviour {
            identify: identify::Behaviour::new(identify::Config::new(
                "ipfs/0.1.0".to_owned(),
                key.public(),
            )),
            ping: ping::Behaviour::default(),
            stream: libp2p_stream::Behaviour::new(),
            serve: serve.into(),
        },
        configure,
    )
}
