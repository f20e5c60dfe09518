//! rust-libp2p's side of the public transport test. ../public_test.rs has what it is told and what it prints.

use std::{env, net::IpAddr, time::Instant};

use futures::StreamExt;
use libp2p::{Multiaddr, Swarm, multiaddr::Protocol, ping, swarm::SwarmEvent, yamux};
use peers::{
    program::BoxError,
    public_test::{is_dialer, key, print_latency, redis, security, timeout},
    swarm::{keep_connections, swarm},
};
use redis::Commands;

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let swarm = swarm(
        security()?,
        yamux::Config::default,
        |_| ping::Behaviour::default(),
        keep_connections,
    )?;
    let key = key("listener_multiaddr")?;

    match is_dialer()? {
        true => dial(swarm, &key).await,
        false => listen(swarm, &key).await,
    }
}

async fn listen(mut swarm: Swarm<ping::Behaviour>, key: &str) -> Result<(), BoxError> {
    let ip: IpAddr = env::var("LISTENER_IP")
        .unwrap_or("0.0.0.0".to_owned())
        .parse()?;
    let mut is_told = false;

    swarm.listen_on(Multiaddr::from(ip).with(Protocol::Tcp(0)))?;

    // until docker ends it
    loop {
        if let SwarmEvent::NewListenAddr { address, .. } = swarm.select_next_some().await {
            // nobody else reaches a loopback address, unless we were told to listen there
            let is_loopback =
                matches!(address.iter().next(), Some(Protocol::Ip4(host)) if host.is_loopback());

            if !is_told && (!is_loopback || ip.is_loopback()) {
                is_told = true;
                let () = redis()?.rpush(key, format!("{address}/p2p/{}", swarm.local_peer_id()))?;
            }
        }
    }
}

async fn dial(mut swarm: Swarm<ping::Behaviour>, key: &str) -> Result<(), BoxError> {
    let [_, address]: [String; 2] = redis()?.blpop(key, timeout().as_secs_f64())?;
    let start = Instant::now();

    swarm.dial(address.parse::<Multiaddr>()?)?;

    let rtt = tokio::time::timeout(timeout(), async {
        loop {
            match swarm.select_next_some().await {
                SwarmEvent::Behaviour(ping::Event { result, .. }) => {
                    return Ok::<_, BoxError>(result?);
                }
                SwarmEvent::OutgoingConnectionError { error, .. } => return Err(error.into()),
                _ => {}
            }
        }
    })
    .await??;

    print_latency(start.elapsed(), rtt);

    Ok(())
}
