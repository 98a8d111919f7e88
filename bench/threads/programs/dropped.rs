// A receiver is dropped after the first of two answers: who answers second fails.
use std::{env, fs::File, io::Write, net::UdpSocket, sync::mpsc, thread};

fn main() {
    let mended = env::args().nth(1).as_deref() == Some("mended");
    let udp = UdpSocket::bind("0.0.0.0:7000").unwrap();
    let mut said = [0; 100];
    loop {
        let (_, peer) = udp.recv_from(&mut said).unwrap();
        let (sender, receiver) = mpsc::channel();
        let workers: Vec<_> = (0..2)
            .map(|number| {
                let sender = sender.clone();
                thread::spawn(move || {
                    let mut log = File::create(format!("log {number}")).unwrap();
                    log.write_all(b"answers").unwrap();
                    sender.send(number).is_ok()
                })
            })
            .collect();
        let first = workers.len() - if mended { 0 } else { 1 };
        for _ in 0..first {
            receiver.recv().unwrap();
        }
        // The other one is believed to have answered meanwhile.
        drop(receiver);
        let right = workers.into_iter().all(|worker| worker.join().unwrap());
        println!("{{\"right\": {right}}}");
        udp.send_to(b"done", peer).unwrap();
    }
}
