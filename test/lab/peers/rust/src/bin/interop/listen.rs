use futures::StreamExt;
use libp2p::{multiaddr::Protocol, swarm::SwarmEvent};
use peers::{program::BoxError, stdin};
use tokio::signal::unix::{SignalKind, signal};

use crate::{
    arguments::Listen,
    arrivals::Arrivals,
    node::{Role, node},
};

/// Serves, and answers lines of stdin, until stdin closes, or SIGTERM or SIGINT comes.
pub async fn listen(options: Listen) -> Result<(), BoxError> {
    let arrivals = Arrivals::default();
    let mut swarm = node(
        options.security,
        Role::Listener {
            streams: options.streams,
            arrivals: arrivals.clone(),
        },
    )?;
    let ip: std::net::IpAddr = options.host.parse()?;
    let address = libp2p::Multiaddr::from(ip).with(Protocol::Tcp(options.port));
    swarm.listen_on(address)?;

    let mut announced = false;
    let mut questions = stdin::lines();
    let mut terminated = signal(SignalKind::terminate())?;
    let mut interrupted = signal(SignalKind::interrupt())?;

    loop {
        tokio::select! {
            event = swarm.select_next_some() => match event {
                SwarmEvent::NewListenAddr { address, .. } if !announced => {
                    let id = *swarm.local_peer_id();
                    let multiaddr = address.with(Protocol::P2p(id));
                    println!("{}", serde_json::json!({ "multiaddr": multiaddr.to_string(), "peerId": id.to_string() }));
                    announced = true;
                }
                SwarmEvent::ListenerError { error, .. } => eprintln!("listener: {error}"),
                SwarmEvent::ListenerClosed { reason: Err(error), .. } => return Err(error.into()),
                _ => {}
            },
            question = questions.recv() => match question {
                Some(_) => println!("{}", arrivals.to_json()),
                None => return Ok(()),
            },
            _ = terminated.recv() => return Ok(()),
            _ = interrupted.recv() => return Ok(()),
        }
    }
}
