use std::{
    sync::{Arc, Mutex, MutexGuard},
    time::Duration,
};

use serde_json::{Value, json};
use tokio::time::Instant;

/// How long a listener measures how fast bytes come.
const EARLY: Duration = Duration::from_secs(10);

/// What comes to a listener's sink.
#[derive(Clone, Default)]
pub struct Arrivals(Arc<Mutex<Counts>>);

#[derive(Default)]
struct Counts {
    uploads: Vec<u64>,
    first: Option<Instant>,
    early_bytes: u64,
    /// Bytes a ms from the first that come to the last within `EARLY`.
    early: f64,
}

/// One stream.
pub struct Upload {
    arrivals: Arrivals,
    index: usize,
}

impl Arrivals {
    pub fn open(&self) -> Upload {
        let mut counts = self.counts();
        counts.uploads.push(0);

        Upload {
            arrivals: self.clone(),
            index: counts.uploads.len() - 1,
        }
    }

    pub fn to_json(&self) -> Value {
        let counts = self.counts();

        json!({ "uploads": counts.uploads, "early": counts.early })
    }

    fn counts(&self) -> MutexGuard<'_, Counts> {
        self.0.lock().expect("nobody panics while they count")
    }
}

impl Upload {
    pub fn add(&self, bytes: usize) {
        let mut counts = self.arrivals.counts();
        counts.uploads[self.index] += bytes as u64;

        let Some(first) = counts.first else {
            counts.first = Some(Instant::now());
            return;
        };
        let since = first.elapsed();

        if since <= EARLY {
            counts.early_bytes += bytes as u64;
            counts.early = counts.early_bytes as f64 / (since.as_secs_f64() * 1e3);
        }
    }
}
