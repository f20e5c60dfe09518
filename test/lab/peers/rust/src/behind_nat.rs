//! A node that others reach over a relay and by hole punching.

use futures::StreamExt;
use libp2p::{
    Multiaddr, Swarm, dcutr, identify,
    multiaddr::Protocol,
    ping, relay,
    swarm::{NetworkBehaviour, SwarmEvent},
};

use crate::{
    program::BoxError,
    security::Security,
    swarm::{keep_connections, relayed_swarm},
};

#[derive(NetworkBehaviour)]
pub struct Behaviour {
    relay_client: relay::client::Behaviour,
    identify: identify::Behaviour,
    dcutr: dcutr::Behaviour,
    ping: ping::Behaviour,
}

pub fn node(security: Security) -> Result<Swarm<Behaviour>, BoxError> {
    relayed_swarm(
        security,
        |key, relay_client| Behaviour {
            relay_client,
            identify: identify::Behaviour::new(identify::Config::new(
                "ipfs/0.1.0".to_owned(),
                key.public(),
            )),
            dcutr: dcutr::Behaviour::new(key.public().to_peer_id()),
            ping: ping::Behaviour::default(),
        },
        keep_connections,
    )
}

/// Returns the address that the relay observes, once it has taken the reservation.
pub async fn reserve(
    swarm: &mut Swarm<Behaviour>,
    listen: Multiaddr,
    relay: &Multiaddr,
) -> Result<Multiaddr, BoxError> {
    swarm.listen_on(listen)?;
    // the port of the listener has to be known before a dial can leave from it
    while !matches!(
        swarm.select_next_some().await,
        SwarmEvent::NewListenAddr { .. }
    ) {}
    swarm.dial(relay.clone())?;

    let mut observed = None;

    loop {
        match swarm.select_next_some().await {
            SwarmEvent::Behaviour(BehaviourEvent::Identify(identify::Event::Received {
                info,
                ..
            })) if observed.is_none() => {
                observed = Some(info.observed_addr);
                swarm.listen_on(relay.clone().with(Protocol::P2pCircuit))?;
            }
            SwarmEvent::Behaviour(BehaviourEvent::RelayClient(
                relay::client::Event::ReservationReqAccepted { .. },
            )) => return observed.ok_or("a reservation that nobody has asked for".into()),
            SwarmEvent::OutgoingConnectionError { error, .. } => return Err(error.into()),
            SwarmEvent::ListenerClosed {
                reason: Err(error), ..
            } => return Err(error.into()),
            _ => {}
        }
    }
}
