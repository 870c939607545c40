package airflow_kconnect;

import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

import javax.security.auth.callback.Callback;
import javax.security.auth.callback.UnsupportedCallbackException;
import javax.security.auth.login.AppConfigurationEntry;

import org.apache.kafka.common.security.auth.AuthenticateCallbackHandler;
import org.apache.kafka.common.security.auth.SaslExtensions;
import org.apache.kafka.common.security.auth.SaslExtensionsCallback;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerToken;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerTokenCallback;

/**
 * Gives Java's clients the tokens that Python has got for them: in memory only, by the option `login` of the login module.
 *
 * Janino compiles it, which knows neither lambdas nor diamonds.
 */
public class RunTokens implements AuthenticateCallbackHandler {
    private static final Map TOKENS = new ConcurrentHashMap();
    private String login;

    public static void put(String login, String value, long lifetimeMs, String principal, Map extensions) {
        TOKENS.put(login, new Token(value, lifetimeMs, principal, extensions));
    }

    public void configure(Map configs, String mechanism, List entries) {
        login = (String) ((AppConfigurationEntry) entries.get(0)).getOptions().get("login");
    }

    public void handle(Callback[] callbacks) throws UnsupportedCallbackException {
        Token token = (Token) TOKENS.get(login);
        for (int i = 0; i < callbacks.length; i++) {
            if (callbacks[i] instanceof OAuthBearerTokenCallback) {
                OAuthBearerTokenCallback callback = (OAuthBearerTokenCallback) callbacks[i];
                if (token == null) {
                    callback.error("no_token", "the provider of tokens gave none", null);
                } else {
                    callback.token(token);
                }
            } else if (callbacks[i] instanceof SaslExtensionsCallback) {
                Map extensions = token == null ? new HashMap() : token.extensions;
                ((SaslExtensionsCallback) callbacks[i]).extensions(new SaslExtensions(extensions));
            } else {
                throw new UnsupportedCallbackException(callbacks[i]);
            }
        }
    }

    public void close() {
    }

    private static class Token implements OAuthBearerToken {
        private final String value;
        private final long lifetimeMs;
        private final String principal;
        final Map extensions;

        Token(String value, long lifetimeMs, String principal, Map extensions) {
            this.value = value;
            this.lifetimeMs = lifetimeMs;
            this.principal = principal;
            this.extensions = extensions;
        }

        public String value() {
            return value;
        }

        public Set scope() {
            return new HashSet();
        }

        public long lifetimeMs() {
            return lifetimeMs;
        }

        public String principalName() {
            return principal;
        }

        public Long startTimeMs() {
            return null;
        }
    }
}
