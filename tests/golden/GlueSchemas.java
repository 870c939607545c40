// Records glue.jsonl: cases on standard input, one JSON object per line, with `format`, `config` and
//   - `connect` and `value`: a schema and a value of it, as JsonConverter writes them; or
//   - `schema` and `payload`: a schema's text, and the base64 of what follows the version's UUID in a message.
// On standard output the same objects with what Amazon's converters make of them, and with what they read from that:
// bytes in base64, maps as lists of pairs, decimals as texts, dates and times in milliseconds.
//
//   java -cp 'classes:jars/*' GlueSchemas.java < cases.jsonl > answers.jsonl
//
// classes: jsonschema-kafkaconnect-converter and protobuf-kafkaconnect-converter of Amazon's library, 2.0.0, which are not
// published, compiled. jars: software.amazon.glue:schema-registry-serde:1.1.27, commons-collections:commons-collections:3.2.2,
// com.google.protobuf:protobuf-java-util:3.25.5 and org.apache.kafka:connect-json:3.9.1, with their dependencies.
import com.amazonaws.services.schemaregistry.common.configs.GlueSchemaRegistryConfiguration;
import com.amazonaws.services.schemaregistry.deserializers.protobuf.ProtobufSchemaParser;
import com.amazonaws.services.schemaregistry.deserializers.protobuf.ProtobufWireFormatDecoder;
import com.amazonaws.services.schemaregistry.kafkaconnect.jsonschema.ConnectSchemaToJsonSchemaConverter;
import com.amazonaws.services.schemaregistry.kafkaconnect.jsonschema.ConnectValueToJsonNodeConverter;
import com.amazonaws.services.schemaregistry.kafkaconnect.jsonschema.JsonNodeToConnectValueConverter;
import com.amazonaws.services.schemaregistry.kafkaconnect.jsonschema.JsonSchemaDataConfig;
import com.amazonaws.services.schemaregistry.kafkaconnect.jsonschema.JsonSchemaToConnectSchemaConverter;
import com.amazonaws.services.schemaregistry.kafkaconnect.protobuf.fromconnectdata.ConnectDataToProtobufDataConverter;
import com.amazonaws.services.schemaregistry.kafkaconnect.protobuf.fromconnectschema.ConnectSchemaToProtobufSchemaConverter;
import com.amazonaws.services.schemaregistry.kafkaconnect.protobuf.toconnectdata.ProtobufDataToConnectDataConverter;
import com.amazonaws.services.schemaregistry.kafkaconnect.protobuf.toconnectschema.ProtobufSchemaToConnectSchemaConverter;
import com.amazonaws.services.schemaregistry.serializers.json.JsonDataWithSchema;
import com.amazonaws.services.schemaregistry.serializers.json.JsonSerializer;
import com.amazonaws.services.schemaregistry.serializers.protobuf.MessageIndexFinder;
import com.amazonaws.services.schemaregistry.serializers.protobuf.ProtobufSerializer;
import com.amazonaws.services.schemaregistry.utils.ProtobufMessageType;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.Message;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.Collection;
import java.util.Date;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.connect.data.SchemaAndValue;
import org.apache.kafka.connect.data.Struct;
import org.apache.kafka.connect.json.JsonConverter;
import org.everit.json.schema.loader.SchemaLoader;
import org.json.JSONObject;

public class GlueSchemas {
    private static final ObjectMapper MAPPER =
        new ObjectMapper().setNodeFactory(JsonNodeFactory.withExactBigDecimals(true));
    private static final JsonConverter CONNECT = new JsonConverter();
    private static final GlueSchemaRegistryConfiguration GLUE = new GlueSchemaRegistryConfiguration("eu-central-1");

    private record Written(String schema, byte[] payload) {}

    public static void main(String[] arguments) throws Exception {
        CONNECT.configure(Map.of("schemas.enable", "true"), false);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line; (line = in.readLine()) != null; ) {
            ObjectNode object = (ObjectNode) MAPPER.readTree(line);
            try {
                if (object.has("connect")) {
                    Written made = written(object);
                    object.put("schema", made.schema);
                    object.put("payload", Base64.getEncoder().encodeToString(made.payload));
                    SchemaAndValue back = read(object);
                    object.set("back", CONNECT.asJsonSchema(back.schema()));
                    object.set("read", plain(back.value()));
                } else {
                    SchemaAndValue made = read(object);
                    object.set("connect", CONNECT.asJsonSchema(made.schema()));
                    object.set("read", plain(made.value()));
                }
            } catch (Throwable error) {
                object.put("error", error.getClass().getSimpleName() + ": " + error.getMessage());
            }
            out.println(MAPPER.writeValueAsString(object));
        }
    }

    private static boolean isJson(ObjectNode object) {
        return object.get("format").asText().equals("JSON");
    }

    private static Map<String, Object> config(ObjectNode object) {
        Map<String, Object> config = new HashMap<>();
        object.get("config").fields().forEachRemaining(e -> config.put(e.getKey(), e.getValue().asText()));
        return config;
    }

    private static JsonNode plain(Object value) {
        if (value instanceof Struct struct) {
            ObjectNode made = MAPPER.createObjectNode();
            struct.schema().fields().forEach(f -> made.set(f.name(), plain(struct.getWithoutDefault(f.name()))));
            return made;
        }
        if (value instanceof Collection<?> items) {
            ArrayNode made = MAPPER.createArrayNode();
            items.forEach(item -> made.add(plain(item)));
            return made;
        }
        if (value instanceof Map<?, ?> map) {
            ArrayNode made = MAPPER.createArrayNode();
            map.forEach((k, v) -> made.add(MAPPER.createArrayNode().add(plain(k)).add(plain(v))));
            return made;
        }
        if (value instanceof BigDecimal decimal) {
            return MAPPER.getNodeFactory().textNode(decimal.toPlainString());
        }
        return MAPPER.valueToTree(value instanceof Date date ? date.getTime() : value);
    }

    private static Written written(ObjectNode object) throws Exception {
        ObjectNode envelope = MAPPER.createObjectNode();
        envelope.set("schema", object.get("connect"));
        envelope.set("payload", object.get("value"));
        SchemaAndValue given = CONNECT.toConnectData("t", MAPPER.writeValueAsBytes(envelope));
        if (isJson(object)) {
            JsonSchemaDataConfig config = new JsonSchemaDataConfig(config(object));
            String schema = new ConnectSchemaToJsonSchemaConverter(config).fromConnectSchema(given.schema()).toString();
            String data = new ConnectValueToJsonNodeConverter(config).convertToJson(given.schema(), given.value()).toString();
            return new Written(schema, new JsonSerializer(GLUE).serialize(JsonDataWithSchema.builder(schema, data).build()));
        }
        var file = new ConnectSchemaToProtobufSchemaConverter().convert(given.schema());
        Message message = new ConnectDataToProtobufDataConverter().convert(file, given.schema(), given.value());
        ProtobufSerializer serializer = new ProtobufSerializer(GLUE);
        return new Written(serializer.getSchemaDefinition(message), serializer.serialize(message));
    }

    private static SchemaAndValue read(ObjectNode object) throws Exception {
        byte[] payload = Base64.getDecoder().decode(object.get("payload").asText());
        String text = object.get("schema").asText();
        if (isJson(object)) {
            JsonSchemaDataConfig config = new JsonSchemaDataConfig(config(object));
            var schema = SchemaLoader.builder().schemaJson(new JSONObject(text)).build().load().build();
            var connect = new JsonSchemaToConnectSchemaConverter(config).toConnectSchema(schema);
            Object value = new JsonNodeToConnectValueConverter(config).toConnectValue(connect, MAPPER.readTree(payload));
            return new SchemaAndValue(connect, value);
        }
        var file = ProtobufSchemaParser.parse(text, "t.proto");
        var decoder = new ProtobufWireFormatDecoder(new MessageIndexFinder());
        Message message = (Message) decoder.decode(payload, file, ProtobufMessageType.DYNAMIC_MESSAGE);
        var connect = new ProtobufSchemaToConnectSchemaConverter().toConnectSchema(message);
        return new SchemaAndValue(connect, new ProtobufDataToConnectDataConverter().toConnectData(message, connect));
    }
}
