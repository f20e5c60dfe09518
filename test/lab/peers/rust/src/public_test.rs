//! What a program of libp2p's public tests is told in the environment and in redis, and what it prints.
//! test/interop/public/README.md describes both.

use std::{env, time::Duration};

use crate::{
    program::{BoxError, milliseconds},
    security::Security,
};

pub fn setting(name: &str) -> Result<String, BoxError> {
    env::var(name).map_err(|_| format!("{name} is not set").into())
}

pub fn is_dialer() -> Result<bool, BoxError> {
    Ok(setting("IS_DIALER")? == "true")
}

pub fn security() -> Result<Security, BoxError> {
    if setting("TRANSPORT")? != "tcp" || setting("MUXER")? != "yamux" {
        return Err("this program speaks TCP and Yamux only".into());
    }

    Ok(setting("SECURE_CHANNEL")?.parse()?)
}

pub fn timeout() -> Duration {
    let seconds = env::var("TEST_TIMEOUT_SECS")
        .ok()
        .and_then(|text| text.parse().ok());

    Duration::from_secs(seconds.unwrap_or(180))
}

/// A path is a unix socket: that is how ends in network namespaces share one redis.
pub fn redis() -> Result<redis::Connection, BoxError> {
    let address = setting("REDIS_ADDR")?;
    let scheme = match address.starts_with('/') {
        true => "redis+unix",
        false => "redis",
    };

    Ok(redis::Client::open(format!("{scheme}://{address}"))?.get_connection()?)
}

/// Of this test, in the redis that all tests share.
pub fn key(name: &str) -> Result<String, BoxError> {
    Ok(format!("{}_{name}", setting("TEST_KEY")?))
}

pub fn print_latency(total: Duration, ping: Duration) {
    println!("latency:");
    println!("  handshake_plus_one_rtt: {:.3}", milliseconds(total));
    println!("  ping_rtt: {:.3}", milliseconds(ping));
    println!("  unit: ms");
}
