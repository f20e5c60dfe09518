//! Streams of a connection that open at the same time. `libp2p_stream` opens one after the other: beside an upload one
//! a second is more than it can open.

use std::{
    collections::VecDeque,
    convert::Infallible,
    task::{Context, Poll, ready},
};

use libp2p::{
    Multiaddr, PeerId, Stream, StreamProtocol,
    core::{
        Endpoint,
        transport::PortUse,
        upgrade::{DeniedUpgrade, ReadyUpgrade},
    },
    swarm::{
        ConnectionDenied, ConnectionHandler, ConnectionHandlerEvent, ConnectionId, FromSwarm,
        NetworkBehaviour, NotifyHandler, SubstreamProtocol, THandler, THandlerInEvent,
        THandlerOutEvent, ToSwarm,
        handler::{ConnectionEvent, DialUpgradeError, FullyNegotiatedOutbound},
    },
};
use peers::program::BoxError;
use tokio::sync::{mpsc, oneshot};

type Answer = oneshot::Sender<Result<Stream, BoxError>>;

#[derive(Debug)]
pub struct Request {
    peer: PeerId,
    protocol: StreamProtocol,
    answer: Answer,
}

#[derive(Clone)]
pub struct Opener(mpsc::UnboundedSender<Request>);

impl Opener {
    pub async fn open(&self, peer: PeerId, protocol: StreamProtocol) -> Result<Stream, BoxError> {
        let (answer, opened) = oneshot::channel();

        self.0.send(Request {
            peer,
            protocol,
            answer,
        })?;
        opened.await?
    }
}

pub struct Behaviour {
    opener: Opener,
    requests: mpsc::UnboundedReceiver<Request>,
}

impl Behaviour {
    pub fn new() -> Self {
        let (sender, requests) = mpsc::unbounded_channel();

        Self {
            opener: Opener(sender),
            requests,
        }
    }

    pub fn opener(&self) -> Opener {
        self.opener.clone()
    }
}

/// One per connection.
#[derive(Default)]
pub struct Handler {
    requests: VecDeque<Request>,
}

impl ConnectionHandler for Handler {
    type FromBehaviour = Request;
    type ToBehaviour = Infallible;
    type InboundProtocol = DeniedUpgrade;
    type OutboundProtocol = ReadyUpgrade<StreamProtocol>;
    type InboundOpenInfo = ();
    type OutboundOpenInfo = Answer;

    fn listen_protocol(&self) -> SubstreamProtocol<Self::InboundProtocol> {
        SubstreamProtocol::new(DeniedUpgrade, ())
    }

    fn on_connection_event(
        &mut self,
        event: ConnectionEvent<Self::InboundProtocol, Self::OutboundProtocol, (), Answer>,
    ) {
        // who asked may be gone
        match event {
            ConnectionEvent::FullyNegotiatedOutbound(FullyNegotiatedOutbound {
                protocol,
                info,
            }) => {
                let _ = info.send(Ok(protocol));
            }
            ConnectionEvent::DialUpgradeError(DialUpgradeError { info, error }) => {
                let _ = info.send(Err(error.into()));
            }
            _ => {}
        }
    }

    fn on_behaviour_event(&mut self, request: Request) {
        self.requests.push_back(request);
    }

    fn poll(
        &mut self,
        _: &mut Context<'_>,
    ) -> Poll<ConnectionHandlerEvent<Self::OutboundProtocol, Answer, Infallible>> {
        match self.requests.pop_front() {
            Some(Request {
                protocol, answer, ..
            }) => Poll::Ready(ConnectionHandlerEvent::OutboundSubstreamRequest {
                protocol: SubstreamProtocol::new(ReadyUpgrade::new(protocol), answer),
            }),
            None => Poll::Pending,
        }
    }
}

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
        Ok(Handler::default())
    }

    fn handle_established_outbound_connection(
        &mut self,
        _: ConnectionId,
        _: PeerId,
        _: &Multiaddr,
        _: Endpoint,
        _: PortUse,
    ) -> Result<THandler<Self>, ConnectionDenied> {
        Ok(Handler::default())
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
        context: &mut Context<'_>,
    ) -> Poll<ToSwarm<Self::ToSwarm, THandlerInEvent<Self>>> {
        match ready!(self.requests.poll_recv(context)) {
            Some(request) => Poll::Ready(ToSwarm::NotifyHandler {
                peer_id: request.peer,
                handler: NotifyHandler::Any,
                event: request,
            }),
            // the behaviour has a sender itself
            None => Poll::Pending,
        }
    }
}
