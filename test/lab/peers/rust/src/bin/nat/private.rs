use std::{collections::HashMap, time::Duration};

use futures::StreamExt;
use libp2p::{
    Multiaddr, PeerId,
    multiaddr::Protocol,
    swarm::{ConnectionId, SwarmEvent, dial_opts::DialOpts},
};
use peers::{
    behind_nat::{BehaviourEvent, node, reserve},
    program::BoxError,
    stdin,
};
use serde_json::json;
use tokio::time::{Instant, timeout};

use crate::{arguments::Private, tell::tell};

const READY_TIMEOUT: Duration = Duration::from_secs(15);

/// Serves until stdin closes. A line "dial <multiaddr>" makes it dial.
pub async fn run(options: Private) -> Result<(), BoxError> {
    let mut swarm = node(options.security)?;
    let mut commands = stdin::lines();
    let mut relayed: HashMap<PeerId, Instant> = HashMap::new();
    let mut relayed_ids: HashMap<ConnectionId, PeerId> = HashMap::new();
    let Some(Protocol::P2p(relay)) = options.relay.iter().last() else {
        return Err("the relay's address has to end in /p2p/<peer id>".into());
    };

    let observed = timeout(
        READY_TIMEOUT,
        reserve(&mut swarm, options.listen, &options.relay),
    )
    .await??;
    let id = *swarm.local_peer_id();
    let address = options
        .relay
        .with(Protocol::P2pCircuit)
        .with(Protocol::P2p(id));

    tell(
        json!({ "event": "ready", "peerId": id.to_string(), "observed": [observed.to_string()], "address": address.to_string() }),
    );

    loop {
        tokio::select! {
            command = commands.recv() => match command.as_deref().map(|line| line.split_once(' ')) {
                None => return Ok(()),
                Some(Some(("dial", address))) => {
                    let address: Multiaddr = address.parse()?;
                    swarm.dial(DialOpts::unknown_peer_id().address(address).build())?
                }
                Some(_) => return Err("no such command".into()),
            },
            event = swarm.select_next_some() => match event {
                SwarmEvent::Behaviour(BehaviourEvent::Dcutr(event)) => {
                    if let Err(error) = event.result {
                        tell(json!({ "event": "failed", "peer": event.remote_peer_id.to_string(), "reason": error.to_string() }));
                    }
                }
                SwarmEvent::ConnectionEstablished { peer_id, connection_id, endpoint, .. } if peer_id != relay => {
                    if endpoint.is_relayed() {
                        relayed.entry(peer_id).or_insert_with(Instant::now);
                        relayed_ids.insert(connection_id, peer_id);
                        tell(json!({ "event": "relayed", "peer": peer_id.to_string() }));
                    } else {
                        let ms = relayed.get(&peer_id).map(|since| since.elapsed().as_secs_f64() * 1e3);
                        tell(json!({ "event": "direct", "peer": peer_id.to_string(), "address": endpoint.get_remote_address().to_string(), "ms": ms }));
                    }
                }
                SwarmEvent::ConnectionClosed { connection_id, .. } => {
                    if let Some(peer) = relayed_ids.remove(&connection_id) {
                        tell(json!({ "event": "relayed-closed", "peer": peer.to_string() }));
                    }
                }
                SwarmEvent::OutgoingConnectionError { error, .. } => {
                    tell(json!({ "event": "dial-error", "reason": error.to_string() }));
                }
                _ => {}
            },
        }
    }
}
