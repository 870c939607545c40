package airflow_kconnect;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.serialization.Serializer;

/**
 * The serializer of the keys of all records that a connector's producers send: bytes stay as they are, but a record for
 * an internal topic ends the task. Unlike an interceptor it may throw; unlike a transformation it is not subject to
 * `errors.tolerance`, and comes after everything that may change the topic.
 *
 * Offsets of exactly-once sources go through the same producer: they are recognised by their key, which begins with the
 * connector's name. Janino compiles it, which knows neither lambdas nor diamonds.
 */
public class TopicGuard implements Serializer {
    private final Set internal = new HashSet();
    private final Set offsets = new HashSet();
    private String group;
    private byte[] own;

    public void configure(Map configs, boolean isKey) {
        internal.addAll(Arrays.asList(text(configs, "internal.kconnect.topics").split(",")));
        offsets.addAll(Arrays.asList(text(configs, "internal.kconnect.offset.topics").split(",")));
        group = text(configs, "internal.kconnect.group") + "-";
        own = text(configs, "internal.kconnect.offset.key").getBytes(StandardCharsets.UTF_8);
    }

    private static String text(Map configs, String key) {
        Object text = configs.get(key);
        if (text == null) {
            throw new IllegalArgumentException(key + " is missing");
        }
        return text.toString();
    }

    public byte[] serialize(String topic, Object data) {
        byte[] key = (byte[]) data;
        if (offsets.contains(topic) ? !isOwn(key) : internal.contains(topic) || isOfHostedGroup(topic)) {
            throw new SerializationException("a record is addressed to the internal topic " + topic
                + "; records must not go there: correct the key, or the transformation, that names this topic");
        }
        return key;
    }

    /** As `InternalTopics` in Python. */
    private boolean isOfHostedGroup(String topic) {
        int end = topic.endsWith("-configs") ? 8 : topic.endsWith("-status") ? 7 : 0;
        return end > 0 && topic.startsWith(group) && topic.length() > group.length() + end;
    }

    private boolean isOwn(byte[] key) {
        if (key == null || key.length < own.length) {
            return false;
        }
        for (int i = 0; i < own.length; i++) {
            if (key[i] != own[i]) {
                return false;
            }
        }
        return true;
    }
}
