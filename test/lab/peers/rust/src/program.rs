use std::{error::Error, future::Future, process::exit, time::Duration};

pub type BoxError = Box<dyn Error + Send + Sync>;

/// Runs the command and ends the process, 0: all well, 1: it failed, 2: a wrong command line.
pub async fn run<C, F>(command: Result<C, String>, usage: &str, run: impl FnOnce(C) -> F) -> !
where
    F: Future<Output = Result<(), BoxError>>,
{
    let command = command.unwrap_or_else(|reason| {
        eprintln!("{reason}\n{usage}");
        exit(2)
    });

    if let Err(error) = run(command).await {
        eprintln!("{error}");
        exit(1)
    }

    // leave without joining the thread that reads stdin
    exit(0)
}

/// Three decimals: what the timer can tell, in a line that can be read.
pub fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}
