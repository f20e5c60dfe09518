use libp2p::StreamProtocol;

pub const ECHO: StreamProtocol = StreamProtocol::new("/echo/1.0.0");
pub const SINK: StreamProtocol = StreamProtocol::new("/sink/1.0.0");
pub const PERF: StreamProtocol = StreamProtocol::new("/perf/1.0.0");
