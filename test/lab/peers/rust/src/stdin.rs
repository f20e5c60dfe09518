//! Stdin is read in a thread of its own: tokio's would keep the process from ending.

use std::{io, thread};

use tokio::sync::{mpsc, oneshot};

/// Each line when it comes.
pub fn lines() -> mpsc::Receiver<String> {
    let (sender, receiver) = mpsc::channel(1);

    thread::spawn(move || {
        io::stdin()
            .lines()
            .map_while(Result::ok)
            .all(|line| sender.blocking_send(line).is_ok())
    });

    receiver
}

/// Told when stdin closes, which also happens when the test that started this process dies.
pub fn closed() -> oneshot::Receiver<()> {
    let (sender, receiver) = oneshot::channel();

    thread::spawn(move || {
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        let _ = sender.send(());
    });

    receiver
}
