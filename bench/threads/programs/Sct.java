// Programs after the descriptions of SCTBench (Thomson, Donaldson and Betts, PPoPP 2014), as Fray's evaluation has them for the
// JVM. Each request runs the one that is named, once. Threads share memory alone: between two accesses they make no system call.
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.util.concurrent.locks.ReentrantLock;

public class Sct {
  static boolean wrong;

  static void check(boolean holds) {
    if (!holds) wrong = true;
  }

  interface Body { void run() throws Exception; }

  static void together(Body... bodies) throws Exception {
    Thread[] threads = new Thread[bodies.length];
    for (int i = 0; i < bodies.length; i++) {
      Body body = bodies[i];
      threads[i] = new Thread(() -> {
        try { body.run(); } catch (Exception error) { throw new RuntimeException(error); }
      });
    }
    for (Thread thread : threads) thread.start();
    for (Thread thread : threads) thread.join();
  }

  // Both transfers are done, and the check uses a wrong sum.
  static class Account implements Body {
    final ReentrantLock m = new ReentrantLock();
    int x = 1, y = 2, z = 4, balance = x;
    boolean deposited, withdrawn;
    public void run() throws Exception {
      together(
        () -> { m.lock(); if (deposited && withdrawn) check(balance == (x - y) - z); m.unlock(); },
        () -> { m.lock(); balance += y; deposited = true; m.unlock(); },
        () -> { m.lock(); balance -= z; withdrawn = true; m.unlock(); });
    }
  }

  // Two locks in two orders.
  static class Deadlock implements Body {
    final ReentrantLock a = new ReentrantLock(), b = new ReentrantLock();
    int counter = 1;
    public void run() throws Exception {
      together(
        () -> { a.lock(); b.lock(); counter++; b.unlock(); a.unlock(); },
        () -> { b.lock(); a.lock(); counter--; a.unlock(); b.unlock(); });
    }
  }

  // The third thread must not come last.
  static class Lazy implements Body {
    final ReentrantLock m = new ReentrantLock();
    int data;
    public void run() throws Exception {
      together(
        () -> { m.lock(); if (data >= 3) check(false); m.unlock(); },
        () -> { m.lock(); data++; m.unlock(); },
        () -> { m.lock(); data += 2; m.unlock(); });
    }
  }

  // Two fields are set one after the other, and checked in between.
  static class Reorder implements Body {
    volatile int a, b;
    public void run() throws Exception {
      together(
        () -> { a = 1; b = -1; }, () -> { a = 1; b = -1; },
        () -> check((a == 0 && b == 0) || (a == 1 && b == -1)));
    }
  }

  // Data is made in two stages, each with a lock of its own.
  static class TwoStage implements Body {
    final ReentrantLock m1 = new ReentrantLock(), m2 = new ReentrantLock();
    int data1, data2;
    public void run() throws Exception {
      together(
        () -> {
          m1.lock(); data1 = 1; m1.unlock();
          m2.lock(); data2 = data1 + 1; m2.unlock();
        },
        () -> {
          m1.lock(); int one = data1; m1.unlock();
          if (one == 0) return;
          m2.lock(); int two = data2; m2.unlock();
          check(two == one + 1);
        });
    }
  }

  // The same data, under two locks.
  static class WrongLock implements Body {
    final ReentrantLock data = new ReentrantLock(), other = new ReentrantLock();
    volatile int value;
    public void run() throws Exception {
      Body second = () -> { other.lock(); value++; other.unlock(); };
      together(
        () -> { data.lock(); int x = value; value++; check(value == x + 1); data.unlock(); }, second, second);
    }
  }

  // A stack that is popped when it is not known to be filled.
  static class Stack implements Body {
    final ReentrantLock m = new ReentrantLock();
    int top;
    volatile boolean isFilled;
    public void run() throws Exception {
      together(
        () -> { for (int i = 0; i < 5; i++) { m.lock(); top++; isFilled = true; m.unlock(); } },
        () -> { for (int i = 0; i < 5; i++) { m.lock(); if (isFilled) check(--top >= 0); m.unlock(); } });
    }
  }

  // A token goes around, if the threads run in their order.
  static class TokenRing implements Body {
    final ReentrantLock m = new ReentrantLock();
    int x1 = 1, x2 = 2, x3 = 1;
    boolean f1, f2, f3;
    public void run() throws Exception {
      together(
        () -> { m.lock(); x1 = (x3 + 1) % 4; f1 = true; m.unlock(); },
        () -> { m.lock(); x2 = x1; f2 = true; m.unlock(); },
        () -> { m.lock(); x3 = x2; f3 = true; m.unlock(); },
        () -> { m.lock(); if (f1 && f2 && f3) check(x1 == x2 && x2 == x3); m.unlock(); });
    }
  }

  // A wait for a change that nobody tells of: both wait for ever.
  static class Sync implements Body {
    final Object m = new Object();
    int num;
    public void run() throws Exception {
      together(
        () -> { synchronized (m) { if (num > 0) m.wait(); num++; m.notify(); } },
        () -> { synchronized (m) { if (num == 0) m.wait(); num--; } },
        () -> { synchronized (m) { if (num > 0) m.wait(); num++; } });
    }
  }

  // A driver is stopped while a request begins.
  static class Bluetooth implements Body {
    volatile int pending = 1;
    volatile boolean isStopping, hasStopped;
    void release() {
      if (--pending == 0 && isStopping) hasStopped = true;
    }
    public void run() throws Exception {
      together(
        () -> {
          if (isStopping) return;
          pending++;
          check(!hasStopped);
          release();
        },
        () -> { isStopping = true; release(); });
    }
  }

  static Body made(String name) {
    switch (name) {
      case "account": return new Account();
      case "deadlock": return new Deadlock();
      case "lazy": return new Lazy();
      case "reorder": return new Reorder();
      case "twostage": return new TwoStage();
      case "wronglock": return new WrongLock();
      case "stack": return new Stack();
      case "tokenring": return new TokenRing();
      case "sync": return new Sync();
      default: return new Bluetooth();
    }
  }

  public static void main(String[] args) throws Exception {
    DatagramSocket udp = new DatagramSocket(7000);
    DatagramPacket packet = new DatagramPacket(new byte[100], 100);
    while (true) {
      udp.receive(packet);
      // If it never ends, that is what is wrong.
      System.out.println("{\"right\": false}");
      wrong = false;
      made(args[0]).run();
      if (!wrong) System.out.println("{\"right\": true}");
      udp.send(packet);
    }
  }
}
