package kconnect.rough;

import org.apache.kafka.common.config.ConfigDef;

/** What both connectors have in common: their keys, and what can go wrong in either. */
final class Rough {
    static final ConfigDef KEYS = new ConfigDef()
        .define("mode", ConfigDef.Type.STRING, "", ConfigDef.Importance.HIGH, "What goes wrong.")
        .define("count", ConfigDef.Type.INT, 0, ConfigDef.Importance.HIGH, "Records of the source.")
        .define("topic", ConfigDef.Type.STRING, "", ConfigDef.Importance.HIGH, "Topic of the source.")
        .define("file", ConfigDef.Type.STRING, "", ConfigDef.Importance.HIGH, "File of the sink.");

    private Rough() {
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
}
