// Answers by HTTP from a pool of threads, and asks its peer every second from another.
import com.sun.net.httpserver.HttpServer;
import java.net.*;
import java.net.http.*;
import java.util.concurrent.*;
import java.util.concurrent.atomic.*;
public class Peer {
  static final AtomicLong count = new AtomicLong();
  static final ConcurrentHashMap<String,Long> seen = new ConcurrentHashMap<>();
  public static void main(String[] a) throws Exception {
    String peer = a[0];
    HttpServer s = HttpServer.create(new InetSocketAddress("0.0.0.0", 8080), 0);
    ExecutorService pool = Executors.newFixedThreadPool(4);
    s.setExecutor(pool);
    HttpClient c = HttpClient.newBuilder().executor(pool).connectTimeout(java.time.Duration.ofSeconds(2)).build();
    s.createContext("/", x -> {
      long n = count.incrementAndGet();
      seen.merge(x.getRequestMethod(), 1L, Long::sum);
      System.out.println("{\"count\":" + n + "}");
      byte[] b = ("{\"count\":" + n + "}").getBytes();
      x.sendResponseHeaders(200, b.length); x.getResponseBody().write(b); x.close();
    });
    s.start();
    ScheduledExecutorService t = Executors.newScheduledThreadPool(2);
    t.scheduleAtFixedRate(() -> {
      pool.submit(() -> { byte[] junk = new byte[1<<20]; return junk.length; });
      c.sendAsync(HttpRequest.newBuilder(URI.create("http://" + peer + ":8080/")).timeout(java.time.Duration.ofSeconds(3)).build(), HttpResponse.BodyHandlers.ofString())
       .handle((r, e) -> { System.out.println("{\"count\":" + count.get() + ",\"peer\":" + (e == null) + "}"); return null; });
    }, 500, 1000, TimeUnit.MILLISECONDS);
  }
}
