use std::{fs, time::Duration};

use futures::{AsyncReadExt, AsyncWriteExt};
use libp2p::{PeerId, multiaddr::Protocol, swarm::dial_opts::DialOpts};
use libp2p_stream::Control;
use peers::{
    program::{BoxError, milliseconds},
    swarm::drive,
};
use serde_json::{Value, json};
use tokio::time::Instant;

use crate::{
    arguments::Perf,
    dial::{disconnected, established},
    node::{Role, node},
    protocols::PERF,
    serve::send_bytes,
};

/// The code and its windows are warm after so many bytes up and down.
const WARM_UP: u64 = 1 << 20;

/// What one exchange took, on the clock and of the processor.
struct Sample {
    time: Duration,
    processor: Duration,
}

/// What is measured on one connection.
enum Task {
    Once { upload: u64, download: u64 },
    Latency { count: usize },
}

/// Uploads, downloads, and sends one byte up and down on a new stream so many times. Each of the three has a connection
/// of its own.
pub async fn perf(options: Perf) -> Result<(), BoxError> {
    let mut swarm = node(options.security, Role::Dialer)?;
    let Some(Protocol::P2p(peer)) = options.target.iter().last() else {
        return Err("the address has to end in /p2p/<peer id>".into());
    };
    let mut results = Vec::new();

    for task in [
        Task::Once {
            upload: options.bytes,
            download: 0,
        },
        Task::Once {
            upload: 0,
            download: options.bytes,
        },
        Task::Latency {
            count: options.count,
        },
    ] {
        let dial = DialOpts::from(options.target.clone());
        let connection = dial.connection_id();
        let control = swarm.behaviour().stream.new_control();

        swarm.dial(dial)?;
        established(&mut swarm, connection).await?;
        results.push(drive(&mut swarm, run(task, control, peer)).await?);

        if swarm.disconnect_peer_id(peer).is_ok() {
            disconnected(&mut swarm, peer).await;
        }
    }

    println!(
        "{}",
        json!({ "up": results[0], "down": results[1], "latencies": results[2] })
    );

    Ok(())
}

async fn run(task: Task, mut control: Control, peer: PeerId) -> Result<Value, BoxError> {
    exchange(&mut control, peer, WARM_UP, WARM_UP).await?;

    match task {
        Task::Once { upload, download } => {
            let sample = exchange(&mut control, peer, upload, download).await?;

            Ok(json!({ "ms": milliseconds(sample.time), "cpu": milliseconds(sample.processor) }))
        }
        Task::Latency { count } => {
            let mut latencies = Vec::new();

            for _ in 0..count {
                latencies.push(milliseconds(exchange(&mut control, peer, 1, 1).await?.time));
            }

            Ok(json!(latencies))
        }
    }
}

async fn exchange(
    control: &mut Control,
    peer: PeerId,
    upload: u64,
    download: u64,
) -> Result<Sample, BoxError> {
    let (start, processor) = (Instant::now(), processor_time()?);
    let mut stream = control.open_stream(peer, PERF).await?;

    stream.write_all(&download.to_be_bytes()).await?;
    send_bytes(&mut stream, upload).await?;
    stream.close().await?;

    let mut chunk = vec![0; 64 * 1024];
    let mut received = 0;

    loop {
        match stream.read(&mut chunk).await? {
            0 => break,
            length => received += length as u64,
        }
    }

    match received == download {
        true => Ok(Sample {
            time: start.elapsed(),
            processor: processor_time()?.saturating_sub(processor),
        }),
        false => Err(format!("{received} bytes came in place of {download}").into()),
    }
}

/// What this process has used, in user and in system mode, to 10 ms: fields 14 and 15 of proc(5), in ticks.
fn processor_time() -> Result<Duration, BoxError> {
    let stat = fs::read_to_string("/proc/self/stat")?;
    // the name of the program is in brackets, and may have spaces
    let (_, fields) = stat
        .rsplit_once(") ")
        .ok_or("no fields in /proc/self/stat")?;
    let ticks: u64 = fields
        .split(' ')
        .skip(11)
        .take(2)
        .map(str::parse::<u64>)
        .sum::<Result<_, _>>()?;

    Ok(Duration::from_millis(ticks * 10))
}
