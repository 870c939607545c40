package kconnect.tokens;

import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;
import javax.security.auth.callback.Callback;
import javax.security.auth.callback.UnsupportedCallbackException;
import javax.security.auth.login.AppConfigurationEntry;
import org.apache.kafka.common.security.auth.AuthenticateCallbackHandler;
import org.apache.kafka.common.security.auth.SaslExtensions;
import org.apache.kafka.common.security.auth.SaslExtensionsCallback;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerExtensionsValidatorCallback;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerToken;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerTokenCallback;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallback;
import org.apache.kafka.common.security.oauthbearer.OAuthBearerValidatorCallbackHandler;

/**
 * A broker's check of tokens that is as strict as that of MSK (a signed request to connect) and of Google's Kafka (an
 * access token in a JWT without signature). What access keys and access tokens there are is asked of the option `cloud`.
 * Any other token is a JWT, which Kafka's own handler checks. As a handler of logins it gives none: the broker itself
 * does not log in anywhere.
 */
public final class CloudTokens implements AuthenticateCallbackHandler {
    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static final DateTimeFormatter TIME = DateTimeFormatter.ofPattern("yyyyMMdd'T'HHmmss'Z'").withZone(ZoneOffset.UTC);
    private final OAuthBearerValidatorCallbackHandler signed = new OAuthBearerValidatorCallbackHandler();
    private String cloud;

    private record Accepted(String value, String principalName, long lifetimeMs) implements OAuthBearerToken {
        @Override public Set<String> scope() { return Set.of(); }
        @Override public Long startTimeMs() { return null; }
    }

    @Override
    public void configure(Map<String, ?> configs, String mechanism, List<AppConfigurationEntry> entries) {
        cloud = (String) entries.get(0).getOptions().get("cloud");
        if (configs.get("sasl.oauthbearer.jwks.endpoint.url") != null) {
            signed.configure(configs, mechanism, entries);
        }
    }

    @Override
    public void handle(Callback[] callbacks) throws IOException, UnsupportedCallbackException {
        for (Callback callback : callbacks) {
            if (callback instanceof OAuthBearerValidatorCallback check && isSigned(check.tokenValue())) {
                signed.handle(new Callback[] {callback});
            } else if (callback instanceof OAuthBearerValidatorCallback check) {
                try {
                    check.token(check.tokenValue().contains(".") ? ofGoogle(check.tokenValue()) : ofAws(check.tokenValue()));
                } catch (Exception error) {
                    check.error("invalid_token", null, null);
                    System.err.println("refused: " + error);
                }
            } else if (callback instanceof OAuthBearerExtensionsValidatorCallback check) {
                SaslExtensions given = check.inputExtensions();
                given.map().keySet().forEach(check::valid);
            } else if (!(callback instanceof OAuthBearerTokenCallback || callback instanceof SaslExtensionsCallback)) {
                throw new UnsupportedCallbackException(callback);
            }
        }
    }

    private static boolean isSigned(String value) {
        return value.contains(".") && !text(value.split("\\.")[0]).contains("GOOG_OAUTH2_TOKEN");
    }

    private OAuthBearerToken ofAws(String value) throws Exception {
        String url = text(value);
        Map<String, String> query = new TreeMap<>();
        for (String part : url.substring(url.indexOf('?') + 1).split("&")) {
            query.put(part.substring(0, part.indexOf('=')), part.substring(part.indexOf('=') + 1));
        }
        if (query.remove("User-Agent") == null) throw new SecurityException("no agent");
        String signature = query.remove("X-Amz-Signature");
        String[] scope = decoded(query.get("X-Amz-Credential")).split("/");
        String session = query.containsKey("X-Amz-Security-Token") ? decoded(query.get("X-Amz-Security-Token")) : "";
        String secret = asked("/secret?access_key=" + encoded(scope[0]) + "&session=" + encoded(session));
        String host = "kafka." + scope[2] + ".amazonaws.com";
        if (!url.startsWith("https://" + host + "/?")) throw new SecurityException("another host");
        if (!"kafka-cluster:Connect".equals(decoded(query.get("Action")))) throw new SecurityException("another action");
        String canonical = query.entrySet().stream().map(e -> e.getKey() + "=" + e.getValue()).collect(Collectors.joining("&"));
        String request = "GET\n/\n" + canonical + "\nhost:" + host + "\n\nhost\n" + sha256("");
        String at = query.get("X-Amz-Date");
        String signed = "AWS4-HMAC-SHA256\n" + at + "\n" + String.join("/", List.of(scope).subList(1, 5)) + "\n" + sha256(request);
        byte[] key = ("AWS4" + secret).getBytes(StandardCharsets.UTF_8);
        for (String each : List.of(scope).subList(1, 5)) {
            key = hmac(key, each);
        }
        if (!HexFormat.of().formatHex(hmac(key, signed)).equals(signature)) throw new SecurityException("another signature");
        long until = Instant.from(TIME.parse(at)).plusSeconds(Long.parseLong(query.get("X-Amz-Expires"))).toEpochMilli();
        if (until < System.currentTimeMillis()) throw new SecurityException("expired");
        return new Accepted(value, "kconnect", until);  // of temporary keys it is that of their role
    }

    private OAuthBearerToken ofGoogle(String value) throws Exception {
        String[] parts = value.split("\\.");
        String[] known = asked("/tokeninfo?access_token=" + encoded(text(parts[2]))).split(" ");
        return new Accepted(value, known[0], (long) (Double.parseDouble(known[1]) * 1000));
    }

    private String asked(String path) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create(cloud + path)).build();
        HttpResponse<String> answer = HTTP.send(request, HttpResponse.BodyHandlers.ofString());
        if (answer.statusCode() != 200) throw new SecurityException("the cloud does not know it");
        return answer.body();
    }

    private static String text(String value) {
        return new String(Base64.getUrlDecoder().decode(value), StandardCharsets.UTF_8);
    }

    private static String decoded(String value) {
        return URLDecoder.decode(value, StandardCharsets.UTF_8);
    }

    private static String encoded(String value) {
        return URLEncoder.encode(value, StandardCharsets.UTF_8);
    }

    private static String sha256(String value) throws Exception {
        return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(value.getBytes(StandardCharsets.UTF_8)));
    }

    private static byte[] hmac(byte[] key, String value) throws Exception {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key, "HmacSHA256"));
        return mac.doFinal(value.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public void close() {
        signed.close();
    }
}
