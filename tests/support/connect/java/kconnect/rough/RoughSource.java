package kconnect.rough;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.source.ExactlyOnceSupport;
import org.apache.kafka.connect.source.SourceConnector;
import org.apache.kafka.connect.source.SourceRecord;
import org.apache.kafka.connect.source.SourceTask;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A source of numbered records that misbehaves as its `mode` says. */
public class RoughSource extends SourceConnector {
    private Map<String, String> props;
    private volatile int wantedTasks = 1;

    @Override
    public void start(Map<String, String> props) {
        this.props = props;
        switch (props.get("mode")) {
            case "hangs in start" -> Rough.hang();
            case "has no tasks" -> wantedTasks = 0;
            case "gets its tasks late" -> later(0, 2);
            case "gets a second task" -> later(1, 2);
            case "has three tasks" -> wantedTasks = 3;
            default -> { }
        }
    }

    private void later(int now, int then) {
        wantedTasks = now;
        Thread thread = new Thread(() -> {
            try {
                Thread.sleep(2_000);
            } catch (InterruptedException ignored) {
                return;
            }
            wantedTasks = then;
            context.requestTaskReconfiguration();
        });
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public List<Map<String, String>> taskConfigs(int maxTasks) {
        List<Map<String, String>> configs = new ArrayList<>();
        for (int task = 0; task < wantedTasks; task++) {
            Map<String, String> config = new HashMap<>(props);
            config.put("task", String.valueOf(task));
            configs.add(config);
        }
        return configs;
    }

    @Override
    public Class<? extends Task> taskClass() {
        return RoughTask.class;
    }

    @Override
    public void stop() {
        switch (props.get("mode")) {
            case "connector hangs in stop" -> Rough.hang();
            case "connector throws in stop" -> throw new IllegalStateException("cannot stop");
            default -> { }
        }
    }

    @Override
    public ConfigDef config() {
        return Rough.KEYS;
    }

    @Override
    public ExactlyOnceSupport exactlyOnceSupport(Map<String, String> config) {
        return ExactlyOnceSupport.SUPPORTED;
    }

    @Override
    public String version() {
        return "1.0";
    }

    /** The task: its records are `<task>-<n>`. */
    public static class RoughTask extends SourceTask {
        private static final Logger LOG = LoggerFactory.getLogger(RoughTask.class);
        private static final int BATCH = 10;
        private String mode;
        private String topic;
        private String task;
        private long next;
        private long count;
        private long ms;

        @Override
        public void start(Map<String, String> props) {
            mode = props.get("mode");
            topic = props.get("topic");
            task = props.get("task");
            count = Long.parseLong(props.get("count"));
            ms = Long.parseLong(props.getOrDefault("ms", "0"));
            Map<String, Object> offset = context.offsetStorageReader().offset(Map.of("task", task));
            next = offset == null ? 0 : (Long) offset.get("next");
            if ("task hangs in start".equals(mode)) {
                Rough.hang();
            }
            if ("leaks threads".equals(mode)) {
                Rough.leakThread();
            }
        }

        @Override
        public List<SourceRecord> poll() throws InterruptedException {
            if ("answers slowly".equals(mode) && next == 0) {
                Rough.request(ms);
            }
            if (next >= count) {
                end();
                Thread.sleep(50);
                return null;
            }
            List<SourceRecord> records = new ArrayList<>();
            for (int n = 0; n < BATCH && next < count; n++) {
                String value = task + "-" + next++;
                records.add(new SourceRecord(
                    Map.of("task", task), Map.of("next", next), topic, Schema.STRING_SCHEMA, value));
                if ("floods the log".equals(mode)) {
                    for (int line = 0; line < 200; line++) {
                        System.out.println("printed " + line + " " + "x".repeat(500));
                        LOG.warn("logged {}", line);
                    }
                }
            }
            return records;
        }

        /** What happens after the last record. */
        private void end() {
            switch (mode) {
                case "exits" -> System.exit(7);
                case "throws" -> throw new IllegalStateException("nothing is left of " + topic);
                case "recurses" -> recurse(0);
                case "hangs in poll" -> Rough.hang();
                default -> { }
            }
        }

        private static long recurse(long n) {
            return recurse(n + 1) + 1;
        }

        @Override
        public void stop() {
            switch (mode) {
                case "hangs in stop" -> Rough.hang();
                case "throws in stop" -> throw new IllegalStateException("cannot stop");
                case "exits in stop" -> System.exit(7);
                default -> { }
            }
        }

        @Override
        public String version() {
            return "1.0";
        }
    }
}
