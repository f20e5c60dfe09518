use futures::StreamExt;
use libp2p::{
    Swarm, identify,
    identity::Keypair,
    multiaddr::Protocol,
    ping, relay,
    swarm::{NetworkBehaviour, SwarmEvent},
    yamux,
};
use peers::{
    program::BoxError,
    stdin,
    swarm::{keep_connections, swarm},
};
use serde_json::json;

use crate::{arguments::Relay, tell::tell};

#[derive(NetworkBehaviour)]
struct Behaviour {
    relay: relay::Behaviour,
    identify: identify::Behaviour,
    ping: ping::Behaviour,
}

fn behaviour(key: &Keypair) -> Behaviour {
    // every run of a series comes from the same two addresses
    let config = relay::Config {
        reservation_rate_limiters: vec![],
        circuit_src_rate_limiters: vec![],
        ..Default::default()
    };

    Behaviour {
        relay: relay::Behaviour::new(key.public().to_peer_id(), config),
        identify: identify::Behaviour::new(identify::Config::new(
            "ipfs/0.1.0".to_owned(),
            key.public(),
        )),
        ping: ping::Behaviour::default(),
    }
}

/// Serves until stdin closes.
pub async fn run(options: Relay) -> Result<(), BoxError> {
    let mut swarm: Swarm<Behaviour> = swarm(
        options.security,
        yamux::Config::default,
        behaviour,
        keep_connections,
    )?;
    let mut stdin_closed = stdin::closed();

    swarm.listen_on(options.listen)?;

    loop {
        tokio::select! {
            event = swarm.select_next_some() => if let SwarmEvent::NewListenAddr { address, .. } = event {
                // without one a reservation says nothing about where to dial
                swarm.add_external_address(address.clone());
                let id = *swarm.local_peer_id();
                tell(json!({ "event": "listening", "multiaddr": address.with(Protocol::P2p(id)).to_string() }));
            },
            _ = &mut stdin_closed => return Ok(()),
        }
    }
}
