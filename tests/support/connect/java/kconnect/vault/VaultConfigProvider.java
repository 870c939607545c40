package kconnect.vault;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.config.ConfigData;
import org.apache.kafka.common.config.ConfigException;
import org.apache.kafka.common.config.provider.ConfigProvider;

/** `${name:folder:key}`: the text of a file in a folder below the provider's parameter `root`. */
public class VaultConfigProvider implements ConfigProvider {
    private Path root;

    @Override
    public void configure(Map<String, ?> configs) {
        if (configs.get("root") == null) {
            throw new ConfigException("root", null, "the vault needs it");
        }
        root = Path.of(configs.get("root").toString());
    }

    @Override
    public ConfigData get(String path) {
        return get(path, Set.of());
    }

    @Override
    public ConfigData get(String path, Set<String> keys) {
        Map<String, String> found = new HashMap<>();
        for (String key : keys) {
            try {
                found.put(key, Files.readString(root.resolve(path).resolve(key)));
            } catch (java.io.IOException error) {
                throw new ConfigException("the vault has no " + path + "/" + key);
            }
        }
        return new ConfigData(found);
    }

    @Override
    public void close() {}
}
