package airflow_kconnect;

import java.util.Collection;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import org.apache.kafka.common.config.ConfigData;
import org.apache.kafka.common.config.provider.ConfigProvider;

/**
 * The config provider that has the secrets of hosted runs, as long as each runs: in memory only.
 *
 * Their names are random, and cannot be listed: a worker finds those that its own configurations refer to. Janino compiles
 * it, which knows neither lambdas nor diamonds.
 */
public class RunSecrets implements ConfigProvider {
    private static final Map VALUES = new ConcurrentHashMap();

    public static void put(Map values) {
        VALUES.putAll(values);
    }

    public static void remove(Collection names) {
        VALUES.keySet().removeAll(names);
    }

    public ConfigData get(String path) {
        return new ConfigData(new HashMap());
    }

    public ConfigData get(String path, Set keys) {
        Map found = new HashMap();
        for (Iterator each = keys.iterator(); each.hasNext();) {
            Object key = each.next();
            Object value = VALUES.get(key);
            if (value != null) {
                found.put(key, value);
            }
        }
        return new ConfigData(found);
    }

    public void configure(Map configs) {
    }

    public void close() {
    }
}
