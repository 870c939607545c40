package airflow_kconnect;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.kafka.clients.consumer.ConsumerInterceptor;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;

/**
 * Gives the consumers of a sink's tasks the records of a replay's ranges only, before anything else sees them.
 *
 * Janino compiles it, which knows neither lambdas nor diamonds. It must not throw: Kafka would continue with all records.
 */
public class OffsetFilter implements ConsumerInterceptor {
    private static final Map RANGES = new ConcurrentHashMap();
    private static final Map FIRST = new ConcurrentHashMap();

    /** The ranges, a line each: topic, partition, first offset, offset after the last one; by tabs. */
    public static void allow(String ranges) {
        String[] lines = ranges.split("\n");
        for (int i = 0; i < lines.length; i++) {
            String[] parts = lines[i].split("\t");
            if (parts.length == 4) {
                TopicPartition place = new TopicPartition(parts[0], Integer.parseInt(parts[1]));
                RANGES.put(place, new long[] {Long.parseLong(parts[2]), Long.parseLong(parts[3])});
            }
        }
    }

    /** The first offset of each partition of which records were given to a task, as lines. */
    public static String first() {
        StringBuilder text = new StringBuilder();
        for (Iterator each = FIRST.entrySet().iterator(); each.hasNext();) {
            Map.Entry entry = (Map.Entry) each.next();
            TopicPartition place = (TopicPartition) entry.getKey();
            text.append(place.topic()).append('\t').append(place.partition()).append('\t').append(entry.getValue());
            text.append('\n');
        }
        return text.toString();
    }

    public ConsumerRecords onConsume(ConsumerRecords records) {
        Map kept = new HashMap();
        for (Iterator each = records.partitions().iterator(); each.hasNext();) {
            TopicPartition place = (TopicPartition) each.next();
            List inside = inside(records.records(place), (long[]) RANGES.get(place));
            if (!inside.isEmpty()) {
                kept.put(place, inside);
                remember(place, ((ConsumerRecord) inside.get(0)).offset());
            }
        }
        return new ConsumerRecords(kept, records.nextOffsets());
    }

    private static List inside(List records, long[] range) {
        List inside = new ArrayList();
        if (range == null) {
            return inside;
        }
        for (Iterator each = records.iterator(); each.hasNext();) {
            ConsumerRecord record = (ConsumerRecord) each.next();
            if (record.offset() >= range[0] && record.offset() < range[1]) {
                inside.add(record);
            }
        }
        return inside;
    }

    private static synchronized void remember(TopicPartition place, long offset) {
        Long before = (Long) FIRST.get(place);
        if (before == null || offset < before.longValue()) {
            FIRST.put(place, Long.valueOf(offset));
        }
    }

    public void onCommit(Map offsets) {
    }

    public void close() {
    }

    public void configure(Map configs) {
    }
}
