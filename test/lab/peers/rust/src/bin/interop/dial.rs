use std::{thread, time::Duration};

use futures::{AsyncReadExt, AsyncWriteExt, StreamExt};
use libp2p::{
    Multiaddr, PeerId, Swarm,
    multiaddr::Protocol,
    swarm::{ConnectionId, SwarmEvent, dial_opts::DialOpts},
};
use peers::{
    program::{BoxError, milliseconds},
    stdin,
    swarm::drive,
};
use serde_json::json;
use tokio::{
    sync::mpsc,
    time::{Instant, timeout},
};

use crate::{
    arguments::{Dial, Targets},
    node::{Behaviour, Role, node},
    protocols::ECHO,
};

/// The times at which the steps of a run were over.
struct Marks {
    connected: Instant,
    opened: Instant,
    first_byte: Instant,
}

/// A connection has to be gone before the next run may start, but a remote that never closes must not stop the series.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(5);

pub async fn dial(options: Dial) -> Result<(), BoxError> {
    let mut swarm = node(options.security, Role::Dialer)?;
    let mut targets = receive(options.targets);
    let mut failed = false;

    while let Some(target) = drive(&mut swarm, targets.recv()).await {
        let (peer, addresses) = parse(&target)?;
        let sent: Vec<u8> = rand::random_iter().take(options.bytes).collect();
        let start = Instant::now();
        let run = dial_once(&mut swarm, addresses, peer, sent);
        let result = match timeout(options.timeout, run).await {
            Ok(result) => result,
            Err(_) => Err(format!("timed out after {:?}", options.timeout).into()),
        };
        let closing = Instant::now();

        if swarm.disconnect_peer_id(peer).is_ok() {
            let _ = timeout(CLOSE_TIMEOUT, disconnected(&mut swarm, peer)).await;
        }

        failed |= result.is_err();
        println!(
            "{}",
            match result {
                Ok(at) => json!({
                    "ok": true,
                    "connectedMs": milliseconds(at.connected - start),
                    "openedMs": milliseconds(at.opened - start),
                    "firstByteMs": milliseconds(at.first_byte - start),
                    "totalMs": milliseconds(closing - start),
                    "closeMs": milliseconds(closing.elapsed())
                }),
                Err(error) => json!({ "ok": false, "error": error.to_string() }),
            }
        );
    }

    match failed {
        true => Err("not every dial succeeded".into()),
        false => Ok(()),
    }
}

/// An address for every run.
fn receive(targets: Targets) -> mpsc::Receiver<String> {
    match targets {
        Targets::Same(address, count) => {
            let (sender, receiver) = mpsc::channel(1);

            thread::spawn(move || {
                (0..count).all(|_| sender.blocking_send(address.to_string()).is_ok())
            });

            receiver
        }
        Targets::Stdin => stdin::lines(),
    }
}

/// The addresses of one peer, with spaces between them.
fn parse(target: &str) -> Result<(PeerId, Vec<Multiaddr>), BoxError> {
    let addresses = target
        .split_whitespace()
        .map(str::parse)
        .collect::<Result<Vec<Multiaddr>, _>>()?;

    match addresses.first().and_then(|address| address.iter().last()) {
        Some(Protocol::P2p(peer)) => Ok((peer, addresses)),
        _ => Err("the address has to end in /p2p/<peer id>".into()),
    }
}

/// Returns the times at which the connection was established, the stream open, and the first echoed byte there.
async fn dial_once(
    swarm: &mut Swarm<Behaviour>,
    addresses: Vec<Multiaddr>,
    peer: PeerId,
    sent: Vec<u8>,
) -> Result<Marks, BoxError> {
    let options = DialOpts::peer_id(peer).addresses(addresses).build();
    let connection = options.connection_id();
    let mut control = swarm.behaviour().stream.new_control();

    swarm.dial(options)?;
    established(swarm, connection).await?;
    let connected = Instant::now();

    let echo = async move {
        let mut stream = control.open_stream(peer, ECHO).await?;
        let opened = Instant::now();
        let mut received = vec![0; 1];

        stream.write_all(&sent[..1]).await?;
        stream.flush().await?;
        stream.read_exact(&mut received).await?;
        let first_byte = Instant::now();

        // read while writing: the windows of both directions may be smaller than what is sent
        let (mut reader, mut writer) = stream.split();
        let write = async {
            writer.write_all(&sent[1..]).await?;
            writer.close().await
        };
        // one byte more than expected would be read too, and fails the comparison
        let read = async {
            (&mut reader)
                .take(sent.len() as u64)
                .read_to_end(&mut received)
                .await
        };
        futures::try_join!(write, read)?;

        match received == sent {
            true => Ok(Marks {
                connected,
                opened,
                first_byte,
            }),
            false => Err(format!(
                "the echo of {} bytes came back as {} bytes that differ",
                sent.len(),
                received.len()
            )
            .into()),
        }
    };

    drive(swarm, echo).await
}

pub async fn established(
    swarm: &mut Swarm<Behaviour>,
    connection: ConnectionId,
) -> Result<(), BoxError> {
    loop {
        match swarm.select_next_some().await {
            SwarmEvent::ConnectionEstablished { connection_id, .. }
                if connection_id == connection =>
            {
                return Ok(());
            }
            SwarmEvent::OutgoingConnectionError {
                connection_id,
                error,
                ..
            } if connection_id == connection => return Err(error.into()),
            _ => {}
        }
    }
}

pub async fn disconnected(swarm: &mut Swarm<Behaviour>, peer: PeerId) {
    while swarm.is_connected(&peer) {
        swarm.select_next_some().await;
    }
}
