//! The listener's echo, sink and perf. Written against the swarm and not `libp2p_stream`, whose queue of inbound streams holds
//! one: of 200 streams that js opened at once on one connection it dropped 99 with Noise and 199 with TLS.

use std::{
    convert::Infallible,
    io,
    task::{Context, Poll},
};

use futures::{AsyncReadExt, AsyncWriteExt, future::Either};
use libp2p::{
    Multiaddr, PeerId, Stream, StreamProtocol,
    core::{
        Endpoint,
        transport::PortUse,
        upgrade::{DeniedUpgrade, ReadyUpgrade, SelectUpgrade},
    },
    swarm::{
        ConnectionDenied, ConnectionHandler, ConnectionHandlerEvent, ConnectionId, FromSwarm,
        NetworkBehaviour, SubstreamProtocol, THandler, THandlerInEvent, THandlerOutEvent, ToSwarm,
        handler::{ConnectionEvent, FullyNegotiatedInbound},
    },
};

use crate::{
    arrivals::{Arrivals, Upload},
    protocols::{ECHO, PERF, SINK},
};

const CHUNK: usize = 64 * 1024;

/// Sends back every byte as it comes and closes its side after the remote has closed its own. A stream that fails is
/// dropped, which resets it.
async fn echo(mut stream: Stream) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK];

    loop {
        match stream.read(&mut chunk).await? {
            0 => return stream.close().await,
            length => stream.write_all(&chunk[..length]).await?,
        }

        stream.flush().await?;
    }
}

/// Reads to the end and answers with the number of bytes that arrived, eight bytes in network order.
async fn sink(mut stream: Stream, upload: Upload) -> io::Result<()> {
    let mut chunk = vec![0; CHUNK];
    let mut count: u64 = 0;

    loop {
        match stream.read(&mut chunk).await? {
            0 => break,
            length => {
                count += length as u64;
                upload.add(length);
            }
        }
    }

    stream.write_all(&count.to_be_bytes()).await?;
    stream.close().await
}

/// <https://github.com/libp2p/specs/blob/master/perf/perf.md>: the first eight bytes, in network order, are the number of
/// bytes to send once the remote has closed its side.
async fn perf(mut stream: Stream) -> io::Result<()> {
    let mut head = [0; 8];
    stream.read_exact(&mut head).await?;

    let mut chunk = vec![0; CHUNK];
    while stream.read(&mut chunk).await? > 0 {}

    send_bytes(&mut stream, u64::from_be_bytes(head)).await?;
    stream.close().await
}

/// Zeros, as many as asked for.
pub async fn send_bytes(stream: &mut Stream, mut count: u64) -> io::Result<()> {
    let chunk = vec![0; CHUNK];

    while count > 0 {
        let length = count.min(CHUNK as u64);
        stream.write_all(&chunk[..length as usize]).await?;
        count -= length;
    }

    Ok(())
}

/// Gives every inbound stream a task of its own.
pub struct Behaviour {
    pub arrivals: Arrivals,
}

/// One per connection. It opens no stream and has nothing to tell the behaviour.
pub struct Handler {
    arrivals: Arrivals,
}

impl ConnectionHandler for Handler {
    type FromBehaviour = Infallible;
    type ToBehaviour = Infallible;
    type InboundProtocol = SelectUpgrade<
        SelectUpgrade<ReadyUpgrade<StreamProtocol>, ReadyUpgrade<StreamProtocol>>,
        ReadyUpgrade<StreamProtocol>,
    >;
    type OutboundProtocol = DeniedUpgrade;
    type InboundOpenInfo = ();
    type OutboundOpenInfo = ();

    fn listen_protocol(&self) -> SubstreamProtocol<Self::InboundProtocol> {
        let protocols = SelectUpgrade::new(ReadyUpgrade::new(ECHO), ReadyUpgrade::new(SINK));

        SubstreamProtocol::new(SelectUpgrade::new(protocols, ReadyUpgrade::new(PERF)), ())
    }

    fn on_connection_event(
        &mut self,
        event: ConnectionEvent<Self::InboundProtocol, Self::OutboundProtocol>,
    ) {
        if let ConnectionEvent::FullyNegotiatedInbound(FullyNegotiatedInbound {
            protocol, ..
        }) = event
        {
            match protocol {
                Either::Left(Either::Left(stream)) => tokio::spawn(echo(stream)),
                Either::Left(Either::Right(stream)) => {
                    tokio::spawn(sink(stream, self.arrivals.open()))
                }
                Either::Right(stream) => tokio::spawn(perf(stream)),
            };
        }
    }

    fn on_behaviour_event(&mut self, event: Infallible) {
        match event {}
    }

    fn poll(
        &mut self,
        _: &mut Context<'_>,
    ) -> Poll<ConnectionHandlerEvent<DeniedUpgrade, (), Infallible>> {
        Poll::Pending
    }
}

/// Gives each connection a handler, and hears neither of the swarm nor of what handlers do.
impl NetworkBehaviour for Behaviour {
    type ConnectionHandler = Handler;
    type ToSwarm = Infallible;

    fn handle_established_inbound_connection(
        &mut self,
        _: ConnectionId,
        _: PeerId,
        _: &Multiaddr,
        _: &Multiaddr,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        Ok(Handler {
            arrivals: self.arrivals.clone(),
        })
    }

    fn handle_established_outbound_connection(
        &mut self,
        _: ConnectionId,
        _: PeerId,
        _: &Multiaddr,
        _: Endpoint,
        _: PortUse,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        Ok(Handler {
            arrivals: self.arrivals.clone(),
        })
    }

    fn on_swarm_event(&mut self, _: FromSwarm) {}

    fn on_connection_handler_event(
        &mut self,
        _: PeerId,
        _: ConnectionId,
        event: THandlerOutEvent<Self>,
    ) {
        match event {}
    }

    fn poll(
        &mut self,
        _: &mut Context<'_>,
    ) -> Poll<ToSwarm<Self::ToSwarm, THandlerInEvent<Self>>> {
        Poll::Pending
    }
}
