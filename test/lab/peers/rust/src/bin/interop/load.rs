use std::{sync::Arc, time::Duration};

use futures::{
    AsyncReadExt, AsyncWriteExt, StreamExt,
    io::{ReadHalf, WriteHalf},
};
use libp2p::{
    PeerId, Stream, Swarm,
    multiaddr::Protocol,
    swarm::{ConnectionId, SwarmEvent, dial_opts::DialOpts},
};
use peers::{program::BoxError, swarm::drive};
use tokio::{
    sync::{self, mpsc, oneshot},
    time::{Instant, timeout},
};

use crate::{
    arguments::Load,
    busy_line::BusyLine,
    dial::established,
    node::{Behaviour, Role, node},
    open::Opener,
    protocols::{ECHO, SINK},
    serve::send_bytes,
};

const MESSAGE: [u8; 100] = [1; 100];
const ECHO_INTERVAL: Duration = Duration::from_millis(100);
const STREAM_INTERVAL: Duration = Duration::from_secs(1);
const IDLE_ECHOES: usize = 9;

/// Uploads on so many streams for so long. Beside them a stream echoes 100 B, and a new one does so every second.
pub async fn load(options: Load) -> Result<(), BoxError> {
    let mut swarm = node(options.security, Role::Dialer)?;
    let Some(Protocol::P2p(peer)) = options.target.iter().last() else {
        return Err("the address has to end in /p2p/<peer id>".into());
    };
    let dial = DialOpts::from(options.target.clone());
    let connection = dial.connection_id();
    let opener = swarm.behaviour().open.opener();

    swarm.dial(dial)?;
    established(&mut swarm, connection).await?;
    let begin = begin(opener, peer, options.uploads);
    let (line, idle) = drive(&mut swarm, begin).await?;
    let error = timeout(options.duration, closed(&mut swarm, connection)).await;

    println!("{}", line.outcome(idle, error.ok()));

    Ok(())
}

/// Everything goes on in tasks. Returns what an echo took before, too.
async fn begin(
    opener: Opener,
    peer: PeerId,
    uploads: usize,
) -> Result<(BusyLine, Duration), BoxError> {
    let mut old = opener.open(peer, ECHO).await?;
    let idle = idle_echo(&mut old).await?;
    let mut streams = Vec::new();

    for _ in 0..uploads {
        streams.push(opener.open(peer, SINK).await?);
    }

    let line = BusyLine::new();
    let echoes = Arc::new(Echoes::new(old));

    for mut stream in streams {
        tokio::spawn(async move { send_bytes(&mut stream, u64::MAX).await });
    }

    line.repeat("echo", ECHO_INTERVAL, move || {
        let echoes = echoes.clone();
        async move { echoes.once().await }
    });
    line.repeat("stream", STREAM_INTERVAL, move || {
        new_echo(opener.clone(), peer)
    });

    Ok((line, idle))
}

/// Returns why the connection has ended.
async fn closed(swarm: &mut Swarm<Behaviour>, connection: ConnectionId) -> String {
    loop {
        if let SwarmEvent::ConnectionClosed {
            connection_id,
            cause,
            ..
        } = swarm.select_next_some().await
            && connection_id == connection
        {
            return match cause {
                Some(error) => error.to_string(),
                None => "the connection has ended".to_owned(),
            };
        }
    }
}

/// Sends messages on a stream and hears each come back.
struct Echoes {
    writer: sync::Mutex<WriteHalf<Stream>>,
    pending: mpsc::UnboundedSender<oneshot::Sender<()>>,
}

impl Echoes {
    fn new(stream: Stream) -> Self {
        let (reader, writer) = stream.split();
        let (pending, expected) = mpsc::unbounded_channel();

        tokio::spawn(hear(reader, expected));

        Self {
            writer: sync::Mutex::new(writer),
            pending,
        }
    }

    async fn once(&self) -> Result<(), BoxError> {
        let (back, heard) = oneshot::channel();
        let mut writer = self.writer.lock().await;

        self.pending.send(back)?;
        writer.write_all(&MESSAGE).await?;
        writer.flush().await?;
        drop(writer);

        Ok(heard.await?)
    }
}

/// A stream that fails drops what it was expected to bring back, which tells those who wait.
async fn hear(
    mut reader: ReadHalf<Stream>,
    mut expected: mpsc::UnboundedReceiver<oneshot::Sender<()>>,
) {
    let mut message = MESSAGE;

    while let Some(back) = expected.recv().await {
        if reader.read_exact(&mut message).await.is_err() {
            return;
        }

        let _ = back.send(());
    }
}

async fn idle_echo(stream: &mut Stream) -> Result<Duration, BoxError> {
    let mut samples = Vec::new();

    for _ in 0..IDLE_ECHOES {
        let start = Instant::now();
        echo_on(stream).await?;
        samples.push(start.elapsed());
    }
    samples.sort();

    Ok(samples[IDLE_ECHOES / 2])
}

async fn new_echo(opener: Opener, peer: PeerId) -> Result<(), BoxError> {
    let mut stream = opener.open(peer, ECHO).await?;
    echo_on(&mut stream).await?;

    // it has been measured, and closes meanwhile
    tokio::spawn(async move { stream.close().await });

    Ok(())
}

async fn echo_on(stream: &mut Stream) -> Result<(), BoxError> {
    let mut message = MESSAGE;

    stream.write_all(&message).await?;
    stream.flush().await?;
    stream.read_exact(&mut message).await?;

    Ok(())
}
