use std::{
    fs,
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use peers::program::{BoxError, milliseconds};
use serde_json::{Value, json};
use tokio::time::{Instant, interval};

/// What was waited for so far.
#[derive(Clone)]
pub struct BusyLine {
    start: Instant,
    waits: Arc<Mutex<Vec<Wait>>>,
}

/// What a user of the line waited for.
struct Wait {
    kind: &'static str,
    started: Instant,
    outcome: Outcome,
}

enum Outcome {
    Pending,
    Took(Duration),
    Failed,
}

impl BusyLine {
    pub fn new() -> Self {
        Self {
            start: Instant::now(),
            waits: Arc::default(),
        }
    }

    /// Does not wait for the last run: slow ones would be asked for seldom.
    pub fn repeat<F>(
        &self,
        kind: &'static str,
        every: Duration,
        run: impl Fn() -> F + Send + 'static,
    ) where
        F: Future<Output = Result<(), BoxError>> + Send + 'static,
    {
        let line = self.clone();

        tokio::spawn(async move {
            let mut ticks = interval(every);

            loop {
                ticks.tick().await;
                tokio::spawn(line.clone().timed(kind, run()));
            }
        });
    }

    async fn timed(self, kind: &'static str, run: impl Future<Output = Result<(), BoxError>>) {
        let started = Instant::now();
        let index = self.begin(kind, started);
        let outcome = match run.await {
            Ok(()) => Outcome::Took(started.elapsed()),
            Err(_) => Outcome::Failed,
        };

        self.waits()[index].outcome = outcome;
    }

    fn begin(&self, kind: &'static str, started: Instant) -> usize {
        let mut waits = self.waits();
        waits.push(Wait {
            kind,
            started,
            outcome: Outcome::Pending,
        });

        waits.len() - 1
    }

    pub fn outcome(&self, idle: Duration, error: Option<String>) -> Value {
        let waits = self.waits();
        let mut outcome = json!({
            "idle": milliseconds(idle),
            "waits": waits.iter().map(|wait| wait.to_json(self.start)).collect::<Vec<_>>(),
            "lived": milliseconds(self.start.elapsed()),
        });

        if let Some(error) = error {
            outcome["error"] = json!(error);
        }
        outcome["rss"] = json!(most_memory());

        outcome
    }

    fn waits(&self) -> MutexGuard<'_, Vec<Wait>> {
        self.waits
            .lock()
            .expect("nobody panics while they note a wait")
    }
}

impl Wait {
    /// It has no ms if it had not ended when the load was over.
    fn to_json(&self, start: Instant) -> Value {
        let at = (self.started - start).as_millis() as u64;

        match self.outcome {
            Outcome::Pending => json!({ "kind": self.kind, "at": at }),
            Outcome::Took(time) => {
                json!({ "kind": self.kind, "at": at, "ms": milliseconds(time) })
            }
            Outcome::Failed => json!({ "kind": self.kind, "at": at, "hasFailed": true }),
        }
    }
}

/// The most that this process took, in bytes; 0 where proc(5) does not tell.
fn most_memory() -> u64 {
    fs::read_to_string("/proc/self/status")
        .unwrap_or_default()
        .lines()
        .find_map(|line| {
            line.strip_prefix("VmHWM:")?
                .trim()
                .strip_suffix(" kB")?
                .parse()
                .ok()
        })
        .map_or(0, |kib: u64| kib << 10)
}
