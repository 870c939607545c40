package kconnect.rough;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.connect.connector.Task;
import org.apache.kafka.connect.errors.ConnectException;
import org.apache.kafka.connect.errors.DataException;
import org.apache.kafka.connect.errors.RetriableException;
import org.apache.kafka.connect.sink.SinkConnector;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.sink.SinkTask;

/** A sink that appends values to a file, and misbehaves or uses its context as its `mode` says. */
public class RoughSink extends SinkConnector {
    private Map<String, String> props;

    @Override
    public void start(Map<String, String> props) {
        this.props = props;
    }

    @Override
    public List<Map<String, String>> taskConfigs(int maxTasks) {
        return Collections.nCopies(maxTasks, props);
    }

    @Override
    public Class<? extends Task> taskClass() {
        return RoughTask.class;
    }

    @Override
    public void stop() {
    }

    @Override
    public ConfigDef config() {
        return Rough.KEYS;
    }

    @Override
    public String version() {
        return "1.0";
    }

    /** Refuses, cannot alter any, or appends what it was told to its file, as its `mode` says. */
    @Override
    public boolean alterOffsets(Map<String, String> config, Map<TopicPartition, Long> offsets) {
        switch (config.get("mode")) {
            case "refuses offsets" -> throw new ConnectException("Offsets are fixed until Friday");
            case "has fixed offsets" -> throw new UnsupportedOperationException("fixed");
            case "keeps offsets" -> {
                List<String> lines = offsets.entrySet().stream().map(String::valueOf).sorted().toList();
                append(Path.of(config.get("file")), lines);
                return true;
            }
            default -> {
                return false;
            }
        }
    }

    private static void append(Path file, List<String> lines) {
        try {
            Files.write(file, lines, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        } catch (IOException error) {
            throw new UncheckedIOException(error);
        }
    }

    /** The task. */
    public static class RoughTask extends SinkTask {
        private String mode;
        private Path file;
        private int calls;
        private long ms;
        private long resumeAt;
        private boolean wasPaused;
        private boolean wasRewound;

        @Override
        public void start(Map<String, String> props) {
            mode = props.get("mode");
            file = Path.of(props.get("file"));
            ms = Long.parseLong(props.getOrDefault("ms", "0"));
            if ("leaks threads".equals(mode)) {
                Rough.leakThread();
            }
        }

        @Override
        public void open(Collection<TopicPartition> partitions) {
            if ("begins at 4".equals(mode)) {
                partitions.forEach(partition -> context.offset(partition, 4));
            }
        }

        @Override
        public void put(Collection<SinkRecord> records) {
            if ("pauses".equals(mode) && wasPaused && resumeAt > 0 && System.currentTimeMillis() > resumeAt) {
                resumeAt = 0;
                note("resumed");
                context.resume(context.assignment().toArray(TopicPartition[]::new));
            }
            if (records.isEmpty()) {
                return;
            }
            calls++;
            if ("is unavailable twice".equals(mode) && calls <= 2) {
                context.timeout(300);
                note("unavailable at " + System.currentTimeMillis());
                throw new RetriableException("try again");
            }
            if ("is always unavailable".equals(mode)) {
                context.timeout(300);
                throw new RetriableException("try again");
            }
            List<String> lines = new ArrayList<>();
            for (SinkRecord record : records) {
                String value = String.valueOf(record.value());
                if ("reports bad records".equals(mode) && value.startsWith("bad")) {
                    context.errantRecordReporter().report(record, new DataException("no good: " + value));
                } else {
                    lines.add(value);
                }
            }
            if ("writes slowly".equals(mode)) {
                Rough.request(ms);
            }
            write(lines);
            switch (mode) {
                case "exits" -> System.exit(7);
                case "hangs in put" -> Rough.hang();
                case "pauses" -> {
                    if (!wasPaused) {
                        wasPaused = true;
                        // Longer than a run takes to see that nothing moves.
                        resumeAt = System.currentTimeMillis() + 3_000;
                        note("paused");
                        context.pause(context.assignment().toArray(TopicPartition[]::new));
                    }
                }
                case "rewinds" -> {
                    if (!wasRewound) {
                        wasRewound = true;
                        note("rewound");
                        for (TopicPartition partition : context.assignment()) {
                            context.offset(partition, 0);
                        }
                    }
                }
                default -> { }
            }
        }

        @Override
        public void stop() {
            if ("hangs in stop".equals(mode)) {
                Rough.hang();
            }
        }

        /** What the task did to its context, in the order of the file's lines. */
        private void note(String what) {
            write(List.of("# " + what));
        }

        private void write(List<String> lines) {
            append(file, lines);
        }

        @Override
        public String version() {
            return "1.0";
        }
    }
}
