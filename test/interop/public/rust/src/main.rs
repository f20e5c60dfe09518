//! rust-libp2p's side of the public transport test: the environment, the keys in redis and the output are those of the
//! programs in unified-testing. ../../../../docs/public-tests.md describes them.

use std::{
    env,
    error::Error,
    net::IpAddr,
    time::{Duration, Instant},
};

use futures::StreamExt;
use libp2p::{
    Multiaddr, Swarm, SwarmBuilder,
    multiaddr::Protocol,
    noise, ping,
    swarm::{Config, SwarmEvent},
    tcp, tls, yamux,
};
use redis::Commands;

type Failure = Box<dyn Error>;

#[tokio::main]
async fn main() -> Result<(), Failure> {
    if setting("TRANSPORT")? != "tcp" || setting("MUXER")? != "yamux" {
        return Err("this program speaks TCP and Yamux only".into());
    }

    let swarm = node(&setting("SECURE_CHANNEL")?)?;
    let redis = redis::Client::open(redis_url(&setting("REDIS_ADDR")?))?.get_connection()?;
    let key = format!("{}_listener_multiaddr", setting("TEST_KEY")?);

    if setting("IS_DIALER")? == "true" {
        dial(swarm, redis, &key).await
    } else {
        listen(swarm, redis, &key).await
    }
}

async fn listen(
    mut swarm: Swarm<ping::Behaviour>,
    mut redis: redis::Connection,
    key: &str,
) -> Result<(), Failure> {
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
                let () = redis.rpush(key, format!("{address}/p2p/{}", swarm.local_peer_id()))?;
            }
        }
    }
}

async fn dial(
    mut swarm: Swarm<ping::Behaviour>,
    mut redis: redis::Connection,
    key: &str,
) -> Result<(), Failure> {
    let [_, address]: [String; 2] = redis.blpop(key, timeout().as_secs_f64())?;
    let start = Instant::now();

    swarm.dial(address.parse::<Multiaddr>()?)?;

    let rtt = tokio::time::timeout(timeout(), async {
        loop {
            match swarm.select_next_some().await {
                SwarmEvent::Behaviour(ping::Event { result, .. }) => {
                    return Ok::<_, Failure>(result?);
                }
                SwarmEvent::OutgoingConnectionError { error, .. } => return Err(error.into()),
                _ => {}
            }
        }
    })
    .await??;

    println!("latency:");
    println!("  handshake_plus_one_rtt: {:.3}", millis(start.elapsed()));
    println!("  ping_rtt: {:.3}", millis(rtt));
    println!("  unit: ms");

    Ok(())
}

fn node(security: &str) -> Result<Swarm<ping::Behaviour>, Failure> {
    let builder = SwarmBuilder::with_new_identity().with_tokio();
    let config = tcp::Config::default().nodelay(true);
    let behaviour = |_: &libp2p::identity::Keypair| ping::Behaviour::default();
    let keep = |config: Config| config.with_idle_connection_timeout(timeout());

    // two branches because the security protocol is part of the builder's type
    Ok(match security {
        "noise" => builder
            .with_tcp(config, noise::Config::new, yamux::Config::default)?
            .with_behaviour(behaviour)?
            .with_swarm_config(keep)
            .build(),
        "tls" => builder
            .with_tcp(config, tls::Config::new, yamux::Config::default)?
            .with_behaviour(behaviour)?
            .with_swarm_config(keep)
            .build(),
        other => return Err(format!("no such security protocol: {other}").into()),
    })
}

fn setting(name: &str) -> Result<String, Failure> {
    env::var(name).map_err(|_| format!("{name} is not set").into())
}

/// A path is a unix socket: that is how ends in network namespaces share one redis
fn redis_url(address: &str) -> String {
    if address.starts_with('/') {
        format!("redis+unix://{address}")
    } else {
        format!("redis://{address}")
    }
}

fn timeout() -> Duration {
    let seconds = env::var("TEST_TIMEOUT_SECS")
        .ok()
        .and_then(|text| text.parse().ok());

    Duration::from_secs(seconds.unwrap_or(180))
}

fn millis(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}
