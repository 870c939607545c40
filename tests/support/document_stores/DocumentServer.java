import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;

/** A server of MongoDB's protocol, with documents in memory, on the loopback address: its port. */
public class DocumentServer {
    public static void main(String[] arguments) {
        new MongoServer(new MemoryBackend()).bind("127.0.0.1", Integer.parseInt(arguments[0]));
    }
}
