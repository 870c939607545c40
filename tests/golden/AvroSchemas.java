// Records avro-to-connect.jsonl and connect-to-avro.jsonl: schemas on standard input, one JSON object per line with `config`
// and `avro` or `connect`; on standard output the same objects with the answer, and with what comes back from it.
//
//   java -cp 'jars/*' AvroSchemas.java < schemas.jsonl > answers.jsonl
//
// jars: io.apicurio:apicurio-registry-utils-converter:3.0.9 (its AvroData is a copy of Confluent's),
// org.apache.avro:avro:1.12.0 and org.apache.kafka:connect-json:4.3.0, with their dependencies.
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.apicurio.registry.utils.converter.avro.AvroData;
import io.apicurio.registry.utils.converter.avro.AvroDataConfig;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.Map;
import org.apache.kafka.connect.json.JsonConverter;

public class AvroSchemas {
    public static void main(String[] arguments) throws Exception {
        ObjectMapper mapper = new ObjectMapper();
        JsonConverter json = new JsonConverter();
        json.configure(Map.of("schemas.enable", "true"), false);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        for (String line; (line = in.readLine()) != null; ) {
            ObjectNode object = (ObjectNode) mapper.readTree(line);
            Map<String, Object> config = new HashMap<>();
            object.get("config").fields().forEachRemaining(e -> config.put(e.getKey(), e.getValue().asText()));
            try {
                if (object.has("avro")) {
                    var avro = new org.apache.avro.Schema.Parser().setValidateDefaults(false)
                        .parse(mapper.writeValueAsString(object.get("avro")));
                    var connect = data(config).toConnectSchema(avro);
                    object.set("connect", json.asJsonSchema(connect));
                    object.set("back", mapper.readTree(data(config).fromConnectSchema(connect).toString()));
                } else {
                    var avro = data(config).fromConnectSchema(json.asConnectSchema(object.get("connect")));
                    object.set("avro", mapper.readTree(avro.toString()));
                    object.set("back", json.asJsonSchema(data(config).toConnectSchema(avro)));
                }
            } catch (Exception error) {
                object.put("error", error.getClass().getSimpleName() + ": " + error.getMessage());
            }
            out.println(mapper.writeValueAsString(object));
        }
    }

    private static AvroData data(Map<String, Object> config) {
        return new AvroData(new AvroDataConfig(config));
    }
}
