//! Swarms that speak TCP, and one security protocol alone so that a cell of a matrix means what its name says.

use std::{future::Future, time::Duration};

use futures::StreamExt;
use libp2p::{
    Swarm, SwarmBuilder,
    identity::Keypair,
    noise, relay,
    swarm::{Config, NetworkBehaviour},
    tcp, tls, yamux,
};

use crate::{program::BoxError, security::Security};

pub fn swarm<B: NetworkBehaviour>(
    security: Security,
    muxer: impl FnOnce() -> yamux::Config,
    behaviour: impl FnOnce(&Keypair) -> B,
    configure: impl FnOnce(Config) -> Config,
) -> Result<Swarm<B>, BoxError> {
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

/// Dials and listens over relays too.
pub fn relayed_swarm<B: NetworkBehaviour>(
    security: Security,
    behaviour: impl FnOnce(&Keypair, relay::client::Behaviour) -> B,
    configure: impl FnOnce(Config) -> Config,
) -> Result<Swarm<B>, BoxError> {
    let builder = SwarmBuilder::with_new_identity().with_tokio();
    let config = tcp::Config::default();
    let muxer = yamux::Config::default;

    Ok(match security {
        Security::Noise => builder
            .with_tcp(config, noise::Config::new, muxer)?
            .with_relay_client(noise::Config::new, muxer)?
            .with_behaviour(behaviour)?
            .with_swarm_config(configure)
            .build(),
        Security::Tls => builder
            .with_tcp(config, tls::Config::new, muxer)?
            .with_relay_client(tls::Config::new, muxer)?
            .with_behaviour(behaviour)?
            .with_swarm_config(configure)
            .build(),
    })
}

/// The default is 10 s without a stream; a test decides itself when a connection ends.
pub fn keep_connections(config: Config) -> Config {
    config.with_idle_connection_timeout(Duration::from_secs(24 * 60 * 60))
}

/// Polls the swarm, without which no connection moves on, until the work is done.
pub async fn drive<B: NetworkBehaviour, T>(
    swarm: &mut Swarm<B>,
    work: impl Future<Output = T>,
) -> T {
    tokio::pin!(work);

    loop {
        tokio::select! {
            result = &mut work => return result,
            _ = swarm.select_next_some() => {}
        }
    }
}
