package robosieve;

import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/** What one robots.txt says to one crawler. Any number of threads may use one. */
public final class Robots extends NativeObject {
    /** Three times true or false, the crawl delay in milliseconds or nothing, and the sitemaps. */
    private final List<String> facts;

    private Robots(long handle) {
        super(handle);
        facts = Collections.unmodifiableList(Arrays.asList(listFacts(handle)));
    }

    /**
     * Parses a body for a crawler.
     *
     * @param profile <code>google</code>, for the answers of Google's parser, or <code>rfc9309</code>
     * @param names the crawler's product token, or a chain (<code>Googlebot-Image:Googlebot</code>). With several, it
     *     obeys the groups of all of them, as in crawler-commons; RFC 9309 knows one name for a crawler.
     * @throws IllegalArgumentException for a name that is not an agent. A body has no errors.
     */
    public static Robots parse(byte[] body, String profile, String... names) {
        return new Robots(openRules(body, profile, names));
    }

    /** Whether the crawler may fetch a URL or a path. */
    public boolean allows(String url) {
        return isAllowed(handle(), utf8(url));
    }

    /** Whether a group names the crawler. If not, it obeys the groups for everybody. */
    public boolean isNamed() {
        return Boolean.parseBoolean(facts.get(0));
    }

    /** Whether no rule disallows a path. */
    public boolean allowsAll() {
        return Boolean.parseBoolean(facts.get(1));
    }

    /** Whether the rules disallow all paths. */
    public boolean allowsNothing() {
        return Boolean.parseBoolean(facts.get(2));
    }

    /** The time between two fetches that the file asks for; the shortest of several. */
    public Optional<Duration> crawlDelay() {
        return Optional.of(facts.get(3)).filter(millis -> !millis.isEmpty()).map(Long::valueOf).map(Duration::ofMillis);
    }

    /** The values of the sitemap lines, in order. They are for all crawlers. */
    public List<String> sitemaps() {
        return facts.subList(4, facts.size());
    }

    private static native long openRules(byte[] body, String profile, String[] names);

    private native boolean isAllowed(long rules, byte[] url);

    private native String[] listFacts(long rules);
}
