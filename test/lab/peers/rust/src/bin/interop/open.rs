//! Streams of a connection that open at the same time. `libp2p_stream` opens one after the other: beside an upload one
//! a second is more than it can open.

use std::{
    collections::VecDeque,
    convert::Infallible,
    task::{Context, Poll, ready},
};

use libp2p::{
    PeerId, Stream, StreamProtocol,
    core::upgrade::{DeniedUpgrade, ReadyUpgrade},
    swarm::{
        ConnectionHandler, ConnectionHandlerEvent, NotifyHandler, SubstreamProtocol, ToSwarm,
        handler::{ConnectionEvent, DialUpgradeError, FullyNegotiatedOutbound},
    },
};
use peers::program::BoxError;
use tokio::sync::{mpsc, oneshot};

use crate::per_connection::{Handlers, PerConnection};

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

pub struct Requests {
    opener: Opener,
    requests: mpsc::UnboundedReceiver<Request>,
}

pub type Behaviour = PerConnection<Requests>;

impl Behaviour {
    pub fn new() -> Self {
        let (sender, requests) = mpsc::unbounded_channel();

        Self(Requests {
            opener: Opener(sender),
            requests,
        })
    }

    pub fn opener(&self) -> Opener {
        self.0.opener.clone()
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

impl Handlers for Requests {
    type Handler = Handler;

    fn handler(&self) -> Handler {
        Handler::default()
    }

    fn poll(&mut self, context: &mut Context<'_>) -> Poll<ToSwarm<Infallible, Request>> {
        match ready!(self.requests.poll_recv(context)) {
            Some(request) => Poll::Ready(ToSwarm::NotifyHandler {
                peer_id: request.peer,
                handler: NotifyHandler::Any,
                event: request,
            }),
            // our own opener has a sender
            None => Poll::Pending,
        }
    }
}
