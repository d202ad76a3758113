//! What `ps` costs: every file is read once, however many agents there are.

use std::{mem::MaybeUninit, path::PathBuf};

use rustix::fs::inotify;

use crate::standin::world;

/// How many agents there are.
const AGENTS: usize = 20;

/// Counts how often files are opened, by asking the kernel.
struct Opens {
    kernel: rustix::fd::OwnedFd,
    watched: Vec<(i32, PathBuf)>,
}

impl Opens {
    fn of(files: impl IntoIterator<Item = PathBuf>) -> Self {
        let flags = inotify::CreateFlags::NONBLOCK | inotify::CreateFlags::CLOEXEC;
        let kernel = inotify::init(flags).unwrap();
        let watch = |file: PathBuf| {
            let watch = inotify::add_watch(&kernel, &file, inotify::WatchFlags::OPEN).unwrap();
            (watch, file)
        };
        let watched = files.into_iter().map(watch).collect();
        Self { kernel, watched }
    }

    /// Returns how often each file has been opened since the last call.
    fn counts(&self) -> Vec<usize> {
        let mut counts = vec![0; self.watched.len()];
        let mut buffer = [MaybeUninit::uninit(); 64 << 10];
        let mut events = inotify::Reader::new(&self.kernel, &mut buffer);
        while let Ok(event) = events.next() {
            let at = self.watched.iter().position(|(watch, _)| *watch == event.wd());
            counts[at.unwrap()] += 1;
        }
        counts
    }
}

/// Twenty agents in folders of their own, each with a project's file: with one reading of the
/// configuration an agent, the projects' files were opened 840 times.
#[test]
fn ps_reads_the_configuration_and_each_backends_file_once() {
    let world = world();
    let mut text = "server: {name: oak}\nagents:\n".to_owned();
    let mut files = vec![world.path("agents.yaml")];
    for number in 0..AGENTS {
        text += &format!("  - {{nick: oak-a{number}, agent: native, directory: work/{number}}}\n");
        let file = format!("work/{number}/.gangline/runtime.json");
        let _ = world.file(&file, r#"{"runtime": "native"}"#);
        files.push(world.path(&file));
    }
    files.push(world.path("config/gangline/runtimes.json"));
    let _ = world.file("config/gangline/runtimes.json", "{}");
    let _ = world.file("agents.yaml", &text);
    let _ = world.run(&["prompt", "oak-a1", "hello"]).ok();

    let opens = Opens::of(files);
    let listed = world.run(&["ps", "--json"]).json();
    assert_eq!(listed.as_array().unwrap().len(), AGENTS);
    assert_eq!(opens.counts(), vec![1; AGENTS + 2]);
    let _ = world.run(&["status"]).ok();
    assert_eq!(opens.counts(), vec![1; AGENTS + 2], "`status` of all");
}
