//! Load for a chat server, in one thread: many clients in one room, ten of whom talk, and a storm of
//! strangers beside somebody who sends PINGs. Steered by lines on stdin, each answered by one line:
//!
//! * `register COUNT AT_ONCE`: COUNT more clients; answers the milliseconds it took.
//! * `join`: all go into the room; answers the milliseconds.
//! * `talk MILLISECONDS`: the first ten talk, each with at most `WINDOW` lines that not everybody
//!   has; answers the deliveries, all of which have arrived.
//! * `storm MILLISECONDS AT_ONCE`: others connect, register and go; answers how many did, and the
//!   99th of a hundred times that a PING of a bystander took, in microseconds.
//!
//! Usage: `irc_load ADDRESS [ACCOUNT:PASSWORD …]`; the first clients log in with these.
#![allow(clippy::print_stdout, reason = "its output is how the measurement is steered")]
#![allow(clippy::disallowed_methods, reason = "it is no part of the product")]

use std::cell::{Cell, RefCell};
use std::io::{Error, ErrorKind, Result};
use std::rc::Rc;
use std::time::{Duration, Instant};

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines, Stdin};
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::Notify;
use tokio::task::{LocalSet, spawn_local};

const ROOM: &str = "#load";
/// Clients that talk.
const SPEAKERS: usize = 10;
/// Lines of a speaker that not everybody has yet.
const WINDOW: u64 = 8;
/// Bytes of a line's text.
const TEXT: usize = 100;
/// Clients that only watch a storm.
const BYSTANDERS: u32 = 8;
/// The time between a bystander's PINGs: below the 8 lines a second that our server takes of a
/// client, so that its limit is not what is measured.
const PING_EVERY: Duration = Duration::from_millis(150);
/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(120);

/// What all clients know of the lines that were said.
#[derive(Default)]
struct Heard {
    /// Deliveries of each speaker's lines.
    of: [Cell<u64>; SPEAKERS],
    joined: Cell<usize>,
    more: Notify,
}

/// One registered client.
struct Client {
    to: OwnedWriteHalf,
    from: Option<BufReader<OwnedReadHalf>>,
}

struct Load {
    address: String,
    logins: Vec<String>,
    clients: Vec<Rc<RefCell<Client>>>,
    heard: Rc<Heard>,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let usage = || Error::new(ErrorKind::InvalidInput, "usage: irc_load ADDRESS [LOGIN …]");
    let address = arguments.next().ok_or_else(usage)?;
    let mut load =
        Load { address, logins: arguments.collect(), clients: Vec::new(), heard: Rc::default() };
    println!("ready");
    LocalSet::new().run_until(load.obey(BufReader::new(tokio::io::stdin()).lines())).await
}

impl Load {
    async fn obey(&mut self, mut orders: Lines<BufReader<Stdin>>) -> Result<()> {
        while let Some(order) = orders.next_line().await? {
            let mut words = order.split(' ');
            let what = words.next().unwrap_or("");
            let numbers: Vec<u64> = words.filter_map(|word| word.parse().ok()).collect();
            let number = |at: usize| numbers.get(at).copied().unwrap_or(1);
            let done = match what {
                "register" => self.register(number(0), number(1)).await?,
                "join" => self.join().await?,
                "talk" => self.talk(Duration::from_millis(number(0))).await?,
                "storm" => self.storm(Duration::from_millis(number(0)), number(1)).await?,
                _ => return Err(Error::new(ErrorKind::InvalidInput, order)),
            };
            println!("{done}");
        }
        Ok(())
    }

    async fn register(&mut self, count: u64, at_once: u64) -> Result<String> {
        let start = Instant::now();
        let first = self.clients.len();
        let numbers: Rc<Cell<usize>> = Rc::new(Cell::new(first));
        let end = first + usize::try_from(count).unwrap_or(0);
        let made = Rc::new(RefCell::new(Vec::new()));
        let mut workers = Vec::new();
        for _ in 0..at_once {
            let (numbers, made) = (Rc::clone(&numbers), Rc::clone(&made));
            let (address, logins) = (self.address.clone(), self.logins.clone());
            workers.push(spawn_local(async move {
                loop {
                    let number = numbers.replace(numbers.get() + 1);
                    if number >= end {
                        return Ok::<(), Error>(());
                    }
                    let client = greet(&address, number, logins.get(number)).await?;
                    made.borrow_mut().push((number, client));
                }
            }));
        }
        for worker in workers {
            worker.await.map_err(Error::other)??;
        }
        let mut made = made.take();
        made.sort_by_key(|(number, _)| *number);
        self.clients.extend(made.into_iter().map(|(_, client)| Rc::new(RefCell::new(client))));
        Ok(start.elapsed().as_millis().to_string())
    }

    async fn join(&mut self) -> Result<String> {
        let start = Instant::now();
        for client in &self.clients {
            let from = client.borrow_mut().from.take();
            let Some(from) = from else { continue };
            let (heard, client) = (Rc::clone(&self.heard), Rc::clone(client));
            spawn_local(listen(from, heard, Rc::clone(&client)));
            write(&client, &format!("JOIN {ROOM}\r\n")).await?;
        }
        let all = self.clients.len();
        self.until(|heard| heard.joined.get() == all).await?;
        Ok(start.elapsed().as_millis().to_string())
    }

    async fn talk(&mut self, how_long: Duration) -> Result<String> {
        let end = Instant::now() + how_long;
        let others = (self.clients.len() - 1) as u64;
        let before: Vec<u64> = self.heard.of.iter().map(Cell::get).collect();
        let mut said = [0_u64; SPEAKERS];
        let text = "x".repeat(TEXT - 4);
        while Instant::now() < end {
            let woken = self.heard.more.notified();
            let mut idle = true;
            for (speaker, said) in said.iter_mut().enumerate() {
                let (of, before) = (&self.heard.of[speaker], before[speaker]);
                let free = WINDOW.saturating_sub(*said - (of.get() - before) / others);
                if free > 0 {
                    let line = format!("PRIVMSG {ROOM} :~{speaker}~{text}\r\n");
                    write(&self.clients[speaker], &line.repeat(usize::try_from(free).unwrap_or(1)))
                        .await?;
                    *said += free;
                    idle = false;
                }
            }
            if idle {
                tokio::time::timeout(PATIENCE, woken).await?;
            }
        }
        let due: Vec<u64> = said.iter().zip(&before).map(|(n, b)| n * others + b).collect();
        self.until(|heard| heard.of.iter().zip(&due).all(|(of, due)| of.get() >= *due)).await?;
        Ok(said.iter().map(|said| said * others).sum::<u64>().to_string())
    }

    async fn until(&self, done: impl Fn(&Heard) -> bool) -> Result<()> {
        let wait = async {
            loop {
                let woken = self.heard.more.notified();
                if done(&self.heard) {
                    return;
                }
                woken.await;
            }
        };
        Ok(tokio::time::timeout(PATIENCE, wait).await?)
    }

    async fn storm(&self, how_long: Duration, at_once: u64) -> Result<String> {
        let end = Instant::now() + how_long;
        let came = Rc::new(Cell::new(0_u64));
        let mut bystanders = Vec::new();
        for number in 0..BYSTANDERS {
            let client = greet(&self.address, 900_000 + number as usize, None).await?;
            let first = Instant::now() + PING_EVERY * number / BYSTANDERS;
            bystanders.push(spawn_local(watch(client, first, end)));
        }
        for worker in 0..at_once {
            let (address, came) = (self.address.clone(), Rc::clone(&came));
            spawn_local(async move {
                let mut number = 1_000_000 + usize::try_from(worker).unwrap_or(0) * 100_000;
                while Instant::now() < end {
                    number += 1;
                    if let Ok(mut client) = greet(&address, number, None).await {
                        let _ = client.to.write_all(b"QUIT\r\n").await;
                        came.set(came.get() + 1);
                    }
                }
            });
        }
        let mut times = Vec::new();
        for bystander in bystanders {
            times.append(&mut bystander.await.map_err(Error::other)??);
        }
        times.sort_unstable();
        let worst = times.get(times.len() * 99 / 100).copied().unwrap_or_default();
        Ok(format!("{} {worst}", came.get()))
    }
}

/// Sends PINGs until the end; returns the microseconds until the answer of each.
async fn watch(mut client: Client, first: Instant, end: Instant) -> Result<Vec<u128>> {
    let mut times = Vec::new();
    let mut from = client.from.take().ok_or(ErrorKind::NotConnected)?;
    let mut next = first;
    while next < end {
        tokio::time::sleep_until(next.into()).await;
        let asked = Instant::now();
        client.to.write_all(b"PING :here\r\n").await?;
        until_line(&mut from, "PONG").await?;
        times.push(asked.elapsed().as_micros());
        next += PING_EVERY;
    }
    Ok(times)
}

/// Connects and registers.
async fn greet(address: &str, number: usize, login: Option<&String>) -> Result<Client> {
    let connection = TcpStream::connect(address).await?;
    connection.set_nodelay(true)?;
    let (from, mut to) = connection.into_split();
    let nick = login.and_then(|login| login.split_once(':')).map(|(account, _)| account.to_owned());
    let nick = nick.unwrap_or_else(|| format!("l{number}"));
    let pass = login.map(|login| format!("PASS {login}\r\n")).unwrap_or_default();
    let hello = format!("{pass}NICK {nick}\r\nUSER load 0 * :load\r\n");
    to.write_all(hello.as_bytes()).await?;
    let mut from = BufReader::with_capacity(4096, from);
    // Some servers ask for an answer before they say 001.
    loop {
        let line = next_line(&mut from).await?;
        if let Some(token) = line.strip_prefix("PING ") {
            to.write_all(format!("PONG {token}").as_bytes()).await?;
        }
        if line.contains(" 001 ") {
            break;
        }
        if line.starts_with("ERROR") {
            return Err(Error::other(line));
        }
    }
    until_line(&mut from, " 255 ").await?;
    Ok(Client { to, from: Some(from) })
}

async fn until_line(from: &mut BufReader<OwnedReadHalf>, part: &str) -> Result<()> {
    while !next_line(from).await?.contains(part) {}
    Ok(())
}

async fn next_line(from: &mut BufReader<OwnedReadHalf>) -> Result<String> {
    let mut line = String::new();
    match tokio::time::timeout(PATIENCE, from.read_line(&mut line)).await?? {
        0 => Err(ErrorKind::UnexpectedEof.into()),
        _ => Ok(line),
    }
}

async fn write(client: &Rc<RefCell<Client>>, text: &str) -> Result<()> {
    // Only the steering task and this client's own reader write, and neither waits in between.
    let client = client.try_borrow_mut();
    let client = client.map_err(|_| ErrorKind::WouldBlock)?;
    match client.to.try_write(text.as_bytes())? {
        all if all == text.len() => Ok(()),
        part => {
            drop(client);
            Err(Error::other(format!("the server took {part} bytes of {}", text.len())))
        }
    }
}

/// Reads until the server closes.
async fn listen(
    mut from: BufReader<OwnedReadHalf>,
    heard: Rc<Heard>,
    client: Rc<RefCell<Client>>,
) -> Result<()> {
    let mut line = Vec::new();
    loop {
        line.clear();
        if from.read_until(b'\n', &mut line).await? == 0 {
            return Ok(());
        }
        if let Some(at) = line.windows(3).position(|three| three == b" :~") {
            let speaker = usize::from(line.get(at + 3).copied().unwrap_or(b'0') - b'0');
            if let Some(of) = heard.of.get(speaker) {
                of.set(of.get() + 1);
                heard.more.notify_waiters();
            }
        } else if line.starts_with(b"PING ") {
            let token = String::from_utf8_lossy(&line[5..]).into_owned();
            write(&client, &format!("PONG {token}")).await?;
        } else if line.split(|byte| *byte == b' ').nth(1) == Some(b"366") {
            heard.joined.set(heard.joined.get() + 1);
            heard.more.notify_waiters();
        }
    }
}
