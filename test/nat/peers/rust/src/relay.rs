use std::{error::Error, io, time::Duration};

use futures::StreamExt;
use libp2p::{
    Swarm, SwarmBuilder, identify, identity::Keypair, multiaddr::Protocol, noise, ping, relay,
    swarm::{NetworkBehaviour, SwarmEvent},
    tcp, tls, yamux,
};
use serde_json::json;
use tokio::sync::oneshot;

use crate::{
    arguments::{Relay, Security},
    tell,
};

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

fn swarm(security: Security) -> Result<Swarm<Behaviour>, Box<dyn Error>> {
    let builder = SwarmBuilder::with_new_identity().with_tokio();
    let config = tcp::Config::default();
    let idle = |config: libp2p::swarm::Config| {
        config.with_idle_connection_timeout(Duration::from_secs(24 * 60 * 60))
    };

    Ok(match security {
        Security::Noise => builder
            .with_tcp(config, noise::Config::new, yamux::Config::default)?
            .with_behaviour(behaviour)?
            .with_swarm_config(idle)
            .build(),
        Security::Tls => builder
            .with_tcp(config, tls::Config::new, yamux::Config::default)?
            .with_behaviour(behaviour)?
            .with_swarm_config(idle)
            .build(),
    })
}

pub async fn run(options: Relay) -> Result<(), Box<dyn Error>> {
    let mut swarm = swarm(options.security)?;
    let (sender, mut stdin_closed) = oneshot::channel();

    std::thread::spawn(move || {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        let _ = sender.send(());
    });
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
