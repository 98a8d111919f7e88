// Two threads initialise a value if an atomic flag says that nobody has: both do.
use std::net::UdpSocket;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::sync::Arc;
use std::thread;

fn main() {
    let mended = std::env::args().nth(1).as_deref() == Some("mended");
    let udp = UdpSocket::bind("0.0.0.0:7000").unwrap();
    let mut said = [0u8; 100];
    loop {
        let (_, from) = udp.recv_from(&mut said).unwrap();
        let done = Arc::new(AtomicBool::new(false));
        let times = Arc::new(AtomicU32::new(0));
        let threads: Vec<_> = (0..2)
            .map(|_| {
                let (done, times) = (done.clone(), times.clone());
                thread::spawn(move || {
                    if mended {
                        if !done.swap(true, SeqCst) {
                            times.fetch_add(1, SeqCst);
                        }
                    } else if !done.load(SeqCst) {
                        times.fetch_add(1, SeqCst);
                        done.store(true, SeqCst);
                    }
                })
            })
            .collect();
        for thread in threads {
            thread.join().unwrap();
        }
        println!("{{\"right\": {}}}", times.load(SeqCst) == 1);
        udp.send_to(b"done", from).unwrap();
    }
}
