// Answers by HTTP on tokio's own number of threads, works in its blocking pool, and asks its peer every second.
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{interval, timeout};

static COUNT: AtomicU64 = AtomicU64::new(0);

async fn answer(mut connection: TcpStream) -> std::io::Result<()> {
    let mut request = [0; 4096];
    while connection.read(&mut request).await? > 0 {
        let n = COUNT.fetch_add(1, Ordering::SeqCst) + 1;
        let parts: Vec<_> = (0..4).map(|i| tokio::task::spawn_blocking(move || n + i)).collect();
        for part in parts {
            part.await?;
        }
        let body = format!("{{\"count\":{n}}}");
        println!("{body}");
        let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
        connection.write_all((head + &body).as_bytes()).await?;
    }
    Ok(())
}

async fn ask(peer: &str) -> std::io::Result<usize> {
    let mut connection = TcpStream::connect((peer, 8080)).await?;
    connection.write_all(b"GET / HTTP/1.1\r\nHost: peer\r\n\r\n").await?;
    connection.read(&mut [0; 4096]).await
}

#[tokio::main]
async fn main() -> std::io::Result<()> {
    let peer = std::env::args().nth(1).expect("the address of the peer");
    tokio::spawn(async move {
        let mut every = interval(Duration::from_secs(1));
        loop {
            every.tick().await;
            let answered = matches!(timeout(Duration::from_secs(3), ask(&peer)).await, Ok(Ok(_)));
            println!("{{\"count\":{},\"peer\":{answered}}}", COUNT.load(Ordering::SeqCst));
        }
    });
    let listener = TcpListener::bind("0.0.0.0:8080").await?;
    loop {
        let (connection, _) = listener.accept().await?;
        tokio::spawn(answer(connection));
    }
}
