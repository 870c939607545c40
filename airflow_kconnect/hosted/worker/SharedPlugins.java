package airflow_kconnect;

import java.util.HashMap;
import java.util.Map;

import org.apache.kafka.common.utils.Exit;
import org.apache.kafka.connect.runtime.isolation.Plugins;

/**
 * What the Connect workers of one JVM have in common: plug-ins are looked for once, and their classes are loaded once.
 *
 * A worker that fails wants to end the JVM, as it is alone in a Connect cluster. Here it ends itself, which its run sees.
 * Janino compiles it, which knows neither lambdas nor diamonds.
 */
public class SharedPlugins implements Exit.Procedure {
    private static final Map KNOWN = new HashMap();

    static {
        Exit.setExitProcedure(new SharedPlugins());
    }

    /** Those that the properties of a worker name. */
    public static synchronized Plugins of(Map properties) {
        Object key = properties.get("plugin.path") + "\n" + properties.get("plugin.discovery");
        Plugins plugins = (Plugins) KNOWN.get(key);
        if (plugins == null) {
            plugins = new Plugins(properties);
            KNOWN.put(key, plugins);
        }
        return plugins;
    }

    public void execute(int statusCode, String message) {
    }
}
