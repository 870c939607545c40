package kconnect.rough;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;

/** What both connectors have in common: their keys, and what can go wrong in either. */
final class Rough {
    static final ConfigDef KEYS = new ConfigDef()
        .define("mode", ConfigDef.Type.STRING, "", ConfigDef.Importance.HIGH, "What goes wrong.")
        .define("count", ConfigDef.Type.INT, 0, ConfigDef.Importance.HIGH, "Records of the source.")
        .define("topic", ConfigDef.Type.STRING, "", ConfigDef.Importance.HIGH, "Topic of the source.")
        .define("ms", ConfigDef.Type.LONG, 0, ConfigDef.Importance.HIGH, "How long it takes.")
        .define("file", ConfigDef.Type.STRING, "", ConfigDef.Importance.HIGH, "File of the sink.")
        .define("database.port", ConfigDef.Type.INT, 0, ConfigDef.Importance.LOW, "Where tables are listed.")
        .define("table", ConfigDef.Type.STRING, "", ConfigDef.Importance.LOW, "A table.", "tables", 1,
            ConfigDef.Width.LONG, "Table", new Tables());

    private Rough() {
    }

    /** Connects to the database to recommend its tables, as JDBC connectors do. */
    private static final class Tables implements ConfigDef.Recommender {
        @Override
        public List<Object> validValues(String name, Map<String, Object> config) {
            Object port = config.get("database.port");
            if (port instanceof Integer && (Integer) port > 0) {
                try {
                    new Socket("127.0.0.1", (Integer) port).close();
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            }
            return List.of();
        }

        @Override
        public boolean visible(String name, Map<String, Object> config) {
            return true;
        }
    }

    /** Never returns, whoever interrupts it. */
    static void hang() {
        while (true) {
            try {
                Thread.sleep(60_000);
            } catch (InterruptedException ignored) {
                // This is what a bad plug-in does.
            }
        }
    }

    static void leakThread() {
        new Thread(Rough::hang, "leaked").start();
    }

    /** Takes as long as a request to a server that is slow to answer. */
    static void request(long ms) {
        try (ServerSocket server = new ServerSocket(0)) {
            server.setSoTimeout((int) ms);
            server.accept();
        } catch (IOException ignored) {
            // The time is over.
        }
    }
}
