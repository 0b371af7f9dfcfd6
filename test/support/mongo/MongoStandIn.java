import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.MongoVersion;
import de.bwaldvogel.mongo.backend.h2.H2Backend;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.wire.message.MongoMessage;
import java.util.List;
import org.h2.mvstore.MVStore;

/**
 * java -cp 'lib/*' MongoStandIn.java PORT FILE
 *
 * Says "ready PORT" once it listens on loopback (PORT 0 takes any free one), and ends when its input
 * does: so it never outlives the tests that started it.
 */
public class MongoStandIn {
    /** The Node driver talks to wire version 9 (MongoDB 4.4) and newer only; the library says 8. */
    record Version44() implements MongoVersion {
        public List<Integer> getVersionArray() { return List.of(4, 4, 0); }
        public int getWireVersion() { return 9; }
    }

    /** Hands each change to the file before it is answered, so that a kill -9 loses nothing answered. */
    static class Journaled extends H2Backend {
        /** A find reads its whole collection, so the largest one of the tests must fit: two logs of 20,000 memories. */
        static final int CACHE_MB = 512;

        Journaled(String file) { super(new MVStore.Builder().fileName(file).cacheSize(CACHE_MB).open()); }

        @Override
        public Document handleMessage(MongoMessage message) {
            var answer = super.handleMessage(message);
            commit();
            return answer;
        }
    }

    public static void main(String[] args) throws Exception {
        var server = new MongoServer(new Journaled(args[1]).version(new Version44()));
        server.bind("127.0.0.1", Integer.parseInt(args[0]));
        System.out.println("ready " + server.getLocalAddress().getPort());
        System.in.transferTo(System.out);
        server.shutdownNow();
        System.exit(0);
    }
}
