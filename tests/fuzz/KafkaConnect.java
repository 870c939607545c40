import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.config.ConfigDef;
import org.apache.kafka.common.config.ConfigValue;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.connect.connector.ConnectRecord;
import org.apache.kafka.connect.data.Schema;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.header.ConnectHeaders;
import org.apache.kafka.connect.header.Header;
import org.apache.kafka.connect.json.JsonConverter;
import org.apache.kafka.connect.sink.SinkRecord;
import org.apache.kafka.connect.storage.Converter;
import org.apache.kafka.connect.storage.HeaderConverter;
import org.apache.kafka.connect.transforms.Transformation;
import org.apache.kafka.connect.transforms.predicates.Predicate;

/**
 * Kafka Connect's own converters, transformations and predicates, driven as a sink task drives them.
 * One request per line of standard input, one answer per line of standard output; bytes travel as base64.
 */
public class KafkaConnect {
    static final ObjectMapper JSON = new ObjectMapper();

    record Stage(Transformation<SinkRecord> transformation, Predicate<SinkRecord> predicate, boolean negate) {
        SinkRecord apply(SinkRecord record) {
            return predicate != null && negate == predicate.test(record) ? record : transformation.apply(record);
        }
    }

    static class Refused extends Exception {
        final Map<String, String> errors;

        Refused(Map<String, String> errors) {
            this.errors = errors;
        }
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            out.println(JSON.writeValueAsString(answer(JSON.readTree(line))));
            out.flush();
        }
    }

    static JsonNode answer(JsonNode request) {
        if (request.has("offsets")) return offsets(request.get("offsets"));
        Map<String, String> config = new HashMap<>();
        request.get("config").fields().forEachRemaining(e -> config.put(e.getKey(), e.getValue().asText()));
        ObjectNode answer = JSON.createObjectNode();
        try {
            KafkaConnect connect = new KafkaConnect(config);
            ArrayNode answers = answer.putArray("answers");
            for (JsonNode record : request.get("records")) answers.add(connect.process(record));
        } catch (Refused refused) {
            ObjectNode errors = answer.putObject("refused");
            refused.errors.forEach(errors::put);
        }
        return answer;
    }

    /** Keys and values as OffsetStorageWriter writes them: [connector, source partition, source offset] each. */
    static JsonNode offsets(JsonNode given) {
        JsonConverter converter = new JsonConverter();
        converter.configure(Map.of("schemas.enable", "false"), false);
        ArrayNode answers = JSON.createArrayNode();
        for (JsonNode one : given) {
            List<Object> key = List.of(one.get(0).asText(), JSON.convertValue(one.get(1), Map.class));
            ArrayNode pair = answers.addArray();
            pair.add(converter.fromConnectData("offsets", null, key));
            pair.add(converter.fromConnectData("offsets", null, JSON.convertValue(one.get(2), Map.class)));
        }
        return answers;
    }

    final List<Stage> stages = new ArrayList<>();
    final Converter keyIn, valueIn, keyOut, valueOut;
    final HeaderConverter headerIn, headerOut;

    KafkaConnect(Map<String, String> config) throws Refused {
        Map<String, String> errors = new HashMap<>();
        keyIn = converter("key.converter", config, errors);
        valueIn = converter("value.converter", config, errors);
        headerIn = headerConverter("header.converter", config, errors);
        keyOut = config.containsKey(OUT + "key.converter") ? converter(OUT + "key.converter", config, errors) : keyIn;
        valueOut = config.containsKey(OUT + "value.converter")
            ? converter(OUT + "value.converter", config, errors) : valueIn;
        headerOut = config.containsKey(OUT + "header.converter")
            ? headerConverter(OUT + "header.converter", config, errors) : headerIn;
        stages(config, errors);
        if (!errors.isEmpty()) throw new Refused(errors);
    }

    static final String OUT = "preview.output.";

    static Map<String, String> below(String prefix, Map<String, String> config) {
        Map<String, String> found = new HashMap<>();
        config.forEach((key, value) -> {
            if (key.startsWith(prefix)) found.put(key.substring(prefix.length()), value);
        });
        return found;
    }

    @SuppressWarnings("unchecked")
    static <T> T made(String key, Map<String, String> config, Map<String, String> errors) {
        try {
            return (T) Class.forName(config.get(key)).getDeclaredConstructor().newInstance();
        } catch (ReflectiveOperationException | RuntimeException error) {
            errors.put(key, error.toString());
            return null;
        }
    }

    /** What the worker's validation says of a plug-in's own keys, as `PUT /connector-plugins/.../config/validate`. */
    static void validate(String prefix, ConfigDef def, Map<String, String> config, Map<String, String> errors) {
        for (ConfigValue value : def.validate(config))
            if (!value.errorMessages().isEmpty()) errors.put(prefix + value.name(), value.errorMessages().toString());
    }

    static Converter converter(String key, Map<String, String> config, Map<String, String> errors) {
        Converter made = made(key, config, errors);
        if (made == null) return null;
        Map<String, String> own = below(key + ".", config);
        boolean isKey = key.endsWith("key.converter");
        own.put("converter.type", isKey ? "key" : "value");
        configure(key + ".", made.config(), own, errors, () -> made.configure(own, isKey));
        return made;
    }

    static HeaderConverter headerConverter(String key, Map<String, String> config, Map<String, String> errors) {
        HeaderConverter made = made(key, config, errors);
        if (made == null) return null;
        Map<String, String> own = below(key + ".", config);
        own.put("converter.type", "header");
        configure(key + ".", made.config(), own, errors, () -> made.configure(own));
        return made;
    }

    static void configure(
        String prefix, ConfigDef def, Map<String, String> own, Map<String, String> errors, Runnable configured
    ) {
        int before = errors.size();
        if (def != null) validate(prefix, def, own, errors);
        if (errors.size() > before) return;
        try {
            configured.run();
        } catch (RuntimeException error) {
            errors.put(prefix, error.toString());
        }
    }

    void stages(Map<String, String> config, Map<String, String> errors) {
        Map<String, Predicate<SinkRecord>> predicates = new HashMap<>();
        for (String alias : names(config.get("predicates"))) {
            String prefix = "predicates." + alias + ".";
            Predicate<SinkRecord> made = made(prefix + "type", config, errors);
            if (made == null) continue;
            Map<String, String> own = below(prefix, config);
            configure(prefix, made.config(), own, errors, () -> made.configure(own));
            predicates.put(alias, made);
        }
        for (String alias : names(config.get("transforms"))) {
            String prefix = "transforms." + alias + ".";
            Transformation<SinkRecord> made = made(prefix + "type", config, errors);
            if (made == null) continue;
            Map<String, String> own = below(prefix, config);
            configure(prefix, made.config(), own, errors, () -> made.configure(own));
            Predicate<SinkRecord> predicate = predicates.get(own.get("predicate"));
            stages.add(new Stage(made, predicate, Boolean.parseBoolean(own.get("negate"))));
        }
    }

    static List<String> names(String list) {
        List<String> names = new ArrayList<>();
        if (list != null) for (String name : list.split(",")) if (!name.isBlank()) names.add(name.trim());
        return names;
    }

    JsonNode process(JsonNode given) {
        String stage = "KEY_CONVERTER";
        try {
            String topic = given.get("topic").asText();
            SchemaAndValue key = keyIn.toConnectData(topic, bytes(given.get("key")));
            stage = "VALUE_CONVERTER";
            SchemaAndValue value = valueIn.toConnectData(topic, bytes(given.get("value")));
            stage = "HEADER_CONVERTER";
            ConnectHeaders headers = new ConnectHeaders();
            for (JsonNode header : given.get("headers")) {
                String name = header.get("key").asText();
                headers.add(name, headerIn.toConnectHeader(topic, name, bytes(header.get("value"))));
            }
            Long timestamp = given.get("timestamp").isNull() ? null : given.get("timestamp").asLong();
            SinkRecord record = new SinkRecord(
                topic, given.get("partition").asInt(), key.schema(), key.value(), value.schema(), value.value(),
                given.get("offset").asLong(), timestamp, TimestampType.CREATE_TIME, headers);
            stage = "TRANSFORMATION";
            for (Stage next : stages) {
                record = next.apply(record);
                if (record == null) return JSON.createObjectNode().put("dropped", true);
            }
            return written(record);
        } catch (Exception | StackOverflowError error) {
            return JSON.createObjectNode().put("error", stage + ": " + error);
        }
    }

    ObjectNode written(ConnectRecord<?> record) {
        ObjectNode answer = JSON.createObjectNode();
        answer.put("topic", record.topic());
        answer.put("partition", record.kafkaPartition());
        answer.put("timestamp", record.timestamp());
        answer.put("key", keyOut.fromConnectData(record.topic(), record.keySchema(), record.key()));
        answer.put("value", valueOut.fromConnectData(record.topic(), record.valueSchema(), record.value()));
        ArrayNode headers = answer.putArray("headers");
        for (Header header : record.headers()) {
            byte[] value = headerOut.fromConnectHeader(record.topic(), header.key(), header.schema(), header.value());
            headers.addObject().put("key", header.key()).put("value", value);
        }
        return answer;
    }

    static byte[] bytes(JsonNode base64) throws java.io.IOException {
        return base64 == null || base64.isNull() ? null : base64.binaryValue();
    }
}
