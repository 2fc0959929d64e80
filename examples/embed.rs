//! A server that judges URLs on several threads while another thread replaces the snapshot.

use robosieve::{Compiler, Judge, JudgeOptions, Result, Snapshot, Verdict};
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The server's state. Cloning a `Judge` copies two pointers, so the lock is held only for that.
struct Server {
    judge: RwLock<Judge>,
}

impl Server {
    fn judge(&self) -> Judge {
        self.judge.read().expect("no thread panicked").clone()
    }

    /// Threads that still judge by the old snapshot keep it alive until they are done.
    fn replace(&self, judge: Judge) {
        *self.judge.write().expect("no thread panicked") = judge;
    }
}

/// A snapshot in which one of the paths `/0` and `/1` is disallowed. A real server opens a file.
fn version(number: u32) -> Result<Judge> {
    let mut compiler = Compiler::default();
    compiler.add_robots(
        "https://e.example",
        format!("User-agent: *\nDisallow: /{}", number % 2).as_bytes(),
    )?;
    let snapshot = Snapshot::new(compiler.finish()?.to_vec()?)?;
    Judge::new(snapshot, &["FooBot".parse()?], JudgeOptions::default())
}

fn main() -> Result<()> {
    let server = Server {
        judge: RwLock::new(version(0)?),
    };
    let (stop, judged) = (AtomicBool::new(false), AtomicU64::new(0));
    std::thread::scope(|scope| -> Result<()> {
        let serve = || -> Result<()> {
            while !stop.load(Ordering::Relaxed) {
                // One request: both URLs are judged by the same snapshot.
                let judge = server.judge();
                let [a, b] = [
                    judge.judge(b"https://e.example/0")?,
                    judge.judge(b"https://e.example/1")?,
                ];
                assert_ne!(
                    a.get(0),
                    b.get(0),
                    "exactly one is refused, whichever snapshot is current"
                );
                judged.fetch_add(2, Ordering::Relaxed);
            }
            Ok(())
        };
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(serve)).collect();
        let swapped =
            (1..=100).try_for_each(|number| version(number).map(|judge| server.replace(judge)));
        stop.store(true, Ordering::Relaxed);
        threads
            .into_iter()
            .try_for_each(|thread| thread.join().expect("no thread panicked"))?;
        swapped
    })?;
    assert_eq!(
        server.judge().judge(b"https://e.example/0")?.get(0),
        Verdict::Disallowed
    );
    println!(
        "{} URLs judged during 100 swaps",
        judged.load(Ordering::Relaxed)
    );
    Ok(())
}
