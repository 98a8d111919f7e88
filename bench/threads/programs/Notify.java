// A thread waits for a notification that came before: it waits for ever.
import java.io.FileOutputStream;
import java.net.DatagramPacket;
import java.net.DatagramSocket;

public class Notify {
  static final Object monitor = new Object();
  static volatile boolean done;

  public static void main(String[] args) throws Exception {
    boolean mended = args[0].equals("mended");
    DatagramSocket udp = new DatagramSocket(7000);
    FileOutputStream log = new FileOutputStream("log");
    DatagramPacket packet = new DatagramPacket(new byte[100], 100);
    while (true) {
      udp.receive(packet);
      done = false;
      System.out.println("{\"right\": false}");
      Thread waiter = new Thread(() -> {
        try {
          if (!mended && done) return;
          log.write('w');
          synchronized (monitor) {
            if (mended) while (!done) monitor.wait();
            else monitor.wait();
          }
        } catch (Exception error) {
          throw new RuntimeException(error);
        }
      });
      Thread notifier = new Thread(() -> {
        done = true;
        synchronized (monitor) { monitor.notify(); }
      });
      waiter.start();
      notifier.start();
      waiter.join();
      notifier.join();
      System.out.println("{\"right\": true}");
      udp.send(packet);
    }
  }
}
