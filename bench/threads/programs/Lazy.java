// Two threads open a log if it is not open: it is opened twice.
import java.io.FileOutputStream;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.util.concurrent.atomic.AtomicInteger;

public class Lazy {
  static final Object monitor = new Object();
  static final AtomicInteger opened = new AtomicInteger();
  static volatile FileOutputStream log;

  static void open() {
    try {
      if (log != null) return;
      FileOutputStream made = new FileOutputStream("log");
      opened.incrementAndGet();
      log = made;
    } catch (IOException error) {
      throw new RuntimeException(error);
    }
  }

  public static void main(String[] args) throws Exception {
    boolean mended = args[0].equals("mended");
    DatagramSocket udp = new DatagramSocket(7000);
    DatagramPacket packet = new DatagramPacket(new byte[100], 100);
    Runnable opens = () -> {
      if (!mended) open();
      else synchronized (monitor) { open(); }
    };
    while (true) {
      udp.receive(packet);
      if (log != null) log.close();
      log = null;
      opened.set(0);
      Thread one = new Thread(opens), other = new Thread(opens);
      one.start();
      other.start();
      one.join();
      other.join();
      System.out.println("{\"right\": " + (opened.get() == 1) + "}");
      udp.send(packet);
    }
  }
}
