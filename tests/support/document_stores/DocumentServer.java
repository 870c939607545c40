import de.bwaldvogel.mongo.MongoServer;
import de.bwaldvogel.mongo.backend.memory.MemoryBackend;
import de.bwaldvogel.mongo.bson.Document;
import de.bwaldvogel.mongo.wire.message.MongoMessage;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A server of MongoDB's protocol, with documents in memory, on the loopback address: its port.
 *
 * <p>A command that writes to a collection `fails-CODE` fails with this code, and in `refuses-CODE` its first write does;
 * in `loses-CODE` that is so, and the others are not confirmed.
 */
public class DocumentServer extends MemoryBackend {
    private static final Pattern FAILING = Pattern.compile("(fails|refuses|loses)-(\\d+)");

    public static void main(String[] arguments) {
        new MongoServer(new DocumentServer()).bind("127.0.0.1", Integer.parseInt(arguments[0]));
    }

    @Override
    public Document handleMessage(MongoMessage message) {
        Matcher failing = FAILING.matcher(String.valueOf(message.getDocument().get("update")));
        if (!failing.matches()) {
            return super.handleMessage(message);
        }
        Document error = new Document("code", Integer.parseInt(failing.group(2))).append("errmsg", "as the test wants it");
        if (failing.group(1).equals("fails")) {
            return error.append("ok", 0.0);
        }
        List<Document> errors = List.of(error.append("index", 0));
        Document answer = new Document("n", 0).append("nModified", 0).append("writeErrors", errors).append("ok", 1.0);
        if (failing.group(1).equals("loses")) {
            answer.append("writeConcernError", new Document("code", 64).append("errmsg", "waiting timed out"));
        }
        return answer;
    }
}
