//! rust-libp2p's side of the public hole punching test, as one of the two ends: the relay is a program of another library.
//! ../public_test.rs has what it is told and what it prints.

use std::{
    net::IpAddr,
    time::{Duration, Instant},
};

use futures::StreamExt;
use libp2p::{
    Multiaddr, PeerId, Swarm,
    multiaddr::Protocol,
    ping,
    swarm::{SwarmEvent, dial_opts::DialOpts},
};
use peers::{
    behind_nat::{Behaviour, BehaviourEvent, node, reserve},
    program::BoxError,
    public_test::{is_dialer, key, print_latency, redis, security, setting, timeout},
    swarm::drive,
};
use redis::{Commands, Connection};
use tokio::time::sleep;

#[tokio::main]
async fn main() -> Result<(), BoxError> {
    let is_dialer = is_dialer()?;
    let role = if is_dialer { "DIALER" } else { "LISTENER" };
    let ip: IpAddr = setting(&format!("{role}_IP"))?.parse()?;
    let mut swarm = node(security()?)?;
    let mut redis = redis()?;

    let relay = within_timeout(async {
        let relay = value(&mut redis, "relay_multiaddr").await?.parse()?;
        let listen = Multiaddr::from(ip).with(Protocol::Tcp(0));

        reserve(&mut swarm, listen, &relay).await?;

        Ok(relay)
    })
    .await?;

    if is_dialer {
        return within_timeout(dial(swarm, redis, relay)).await;
    }

    let () = redis.set(key("listener_peer_id")?, swarm.local_peer_id().to_string())?;

    // until docker ends it
    loop {
        swarm.select_next_some().await;
    }
}

async fn within_timeout<T>(work: impl Future<Output = Result<T, BoxError>>) -> Result<T, BoxError> {
    tokio::time::timeout(timeout(), work)
        .await
        .unwrap_or_else(|_| Err("the time of the test is over".into()))
}

/// Dials over the relay, and waits for a ping on a direct connection.
async fn dial(
    mut swarm: Swarm<Behaviour>,
    mut redis: Connection,
    relay: Multiaddr,
) -> Result<(), BoxError> {
    let listener: PeerId = drive(&mut swarm, value(&mut redis, "listener_peer_id"))
        .await?
        .parse()?;
    let start = Instant::now();
    let over_relay = DialOpts::unknown_peer_id()
        .address(
            relay
                .with(Protocol::P2pCircuit)
                .with(Protocol::P2p(listener)),
        )
        .build();
    let relayed = over_relay.connection_id();
    let mut direct = vec![];

    swarm.dial(over_relay)?;

    loop {
        match swarm.select_next_some().await {
            SwarmEvent::ConnectionEstablished {
                peer_id,
                connection_id,
                endpoint,
                ..
            } if peer_id == listener && !endpoint.is_relayed() => direct.push(connection_id),
            SwarmEvent::Behaviour(BehaviourEvent::Ping(ping::Event {
                connection, result, ..
            })) if direct.contains(&connection) => {
                print_latency(start.elapsed(), result?);

                return Ok(());
            }
            // the listener may try again
            SwarmEvent::Behaviour(BehaviourEvent::Dcutr(event)) => {
                if let Err(error) = event.result {
                    eprintln!("{error}");
                }
            }
            SwarmEvent::OutgoingConnectionError {
                connection_id,
                error,
                ..
            } if connection_id == relayed => return Err(error.into()),
            _ => {}
        }
    }
}

/// Of a key that another program sets.
async fn value(redis: &mut Connection, name: &str) -> Result<String, BoxError> {
    let key = key(name)?;

    loop {
        if let Some(found) = redis.get(&key)? {
            return Ok(found);
        }

        sleep(Duration::from_millis(100)).await;
    }
}
