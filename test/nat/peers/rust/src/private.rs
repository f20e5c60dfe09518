use std::{collections::HashMap, error::Error, io, time::Duration};

use futures::StreamExt;
use libp2p::{
    Multiaddr, PeerId, Swarm, SwarmBuilder, dcutr, identify, identity::Keypair,
    multiaddr::Protocol, noise, ping, relay,
    swarm::{Config, ConnectionId, NetworkBehaviour, SwarmEvent, dial_opts::DialOpts},
    tcp, tls, yamux,
};
use serde_json::json;
use tokio::{sync::mpsc, time::Instant};

use crate::{
    arguments::{Private, Security},
    tell,
};

#[derive(NetworkBehaviour)]
struct Behaviour {
    relay_client: relay::client::Behaviour,
    identify: identify::Behaviour,
    dcutr: dcutr::Behaviour,
    ping: ping::Behaviour,
}

fn behaviour(key: &Keypair, relay_client: relay::client::Behaviour) -> Behaviour {
    Behaviour {
        relay_client,
        identify: identify::Behaviour::new(identify::Config::new(
            "ipfs/0.1.0".to_owned(),
            key.public(),
        )),
        dcutr: dcutr::Behaviour::new(key.public().to_peer_id()),
        ping: ping::Behaviour::default(),
    }
}

fn swarm(security: Security) -> Result<Swarm<Behaviour>, Box<dyn Error>> {
    let builder = SwarmBuilder::with_new_identity().with_tokio();
    let config = tcp::Config::default();
    let idle = |config: Config| config.with_idle_connection_timeout(Duration::from_secs(60));

    Ok(match security {
        Security::Noise => builder
            .with_tcp(config, noise::Config::new, yamux::Config::default)?
            .with_relay_client(noise::Config::new, yamux::Config::default)?
            .with_behaviour(behaviour)?
            .with_swarm_config(idle)
            .build(),
        Security::Tls => builder
            .with_tcp(config, tls::Config::new, yamux::Config::default)?
            .with_relay_client(tls::Config::new, yamux::Config::default)?
            .with_behaviour(behaviour)?
            .with_swarm_config(idle)
            .build(),
    })
}

/// What is known of the way to being ready: the relay has to have told our address, and to have taken the reservation.
#[derive(Default)]
struct Readiness {
    observed: Option<Multiaddr>,
    reserved: bool,
    told: bool,
}

pub async fn run(options: Private) -> Result<(), Box<dyn Error>> {
    let mut swarm = swarm(options.security)?;
    let mut commands = commands();
    let mut readiness = Readiness::default();
    let mut relayed: HashMap<PeerId, Instant> = HashMap::new();
    let mut relayed_ids: HashMap<ConnectionId, PeerId> = HashMap::new();
    let Some(Protocol::P2p(relay)) = options.relay.iter().last() else {
        return Err("the relay's address has to end in /p2p/<peer id>".into());
    };

    swarm.listen_on(options.listen)?;
    // the port of the listener has to be known before a dial can leave from it
    while !matches!(
        swarm.select_next_some().await,
        SwarmEvent::NewListenAddr { .. }
    ) {}
    swarm.dial(options.relay.clone())?;

    loop {
        tokio::select! {
            command = commands.recv() => match command.as_deref().map(|line| line.split_once(' ')) {
                None => return Ok(()),
                Some(Some(("dial", address))) => {
                    swarm.dial(DialOpts::unknown_peer_id().address(address.parse()?).build())?
                }
                Some(_) => return Err("no such command".into()),
            },
            event = swarm.select_next_some() => match event {
                SwarmEvent::Behaviour(BehaviourEvent::Identify(identify::Event::Received { peer_id, info, .. })) => {
                    if peer_id == relay && readiness.observed.is_none() {
                        readiness.observed = Some(info.observed_addr);
                        swarm.listen_on(options.relay.clone().with(Protocol::P2pCircuit))?;
                    }
                }
                SwarmEvent::Behaviour(BehaviourEvent::RelayClient(relay::client::Event::ReservationReqAccepted { .. })) => {
                    readiness.reserved = true;
                }
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

        if let (Some(observed), true, false) =
            (&readiness.observed, readiness.reserved, readiness.told)
        {
            let id = *swarm.local_peer_id();
            let address = options
                .relay
                .clone()
                .with(Protocol::P2pCircuit)
                .with(Protocol::P2p(id));
            tell(
                json!({ "event": "ready", "peerId": id.to_string(), "observed": [observed.to_string()], "address": address.to_string() }),
            );
            readiness.told = true;
        }
    }
}

/// Read in a thread of its own: tokio's stdin would keep the process from ending.
fn commands() -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel(1);

    std::thread::spawn(move || {
        io::stdin()
            .lines()
            .map_while(Result::ok)
            .all(|line| sender.blocking_send(line).is_ok())
    });

    receiver
}
