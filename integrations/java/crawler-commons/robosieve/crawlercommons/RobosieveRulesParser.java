package robosieve.crawlercommons;

import crawlercommons.robots.BaseRobotRules;
import crawlercommons.robots.BaseRobotsParser;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Collection;

/** A parser of crawler-commons that answers as Google's parser, or as RFC 9309 says. docs/JAVA.md has the differences. */
public class RobosieveRulesParser extends BaseRobotsParser {
    private static final long serialVersionUID = 1;
    private static final byte[] DISALLOW_ALL = "user-agent: *\ndisallow: /\n".getBytes(StandardCharsets.US_ASCII);

    private final String profile;

    /** A parser with the profile <code>google</code>. */
    public RobosieveRulesParser() {
        this("google");
    }

    /** A parser with a profile: <code>google</code> or <code>rfc9309</code>. */
    public RobosieveRulesParser(String profile) {
        this.profile = profile;
    }

    /** Several names are separated by commas or blanks. */
    @Deprecated
    @Override
    public BaseRobotRules parseContent(String url, byte[] content, String contentType, String robotNames) {
        return parseContent(url, content, contentType, Arrays.asList(robotNames.split("[,\\s]+")));
    }

    /**
     * The rules of all groups that name one of the names, else of those for everybody.
     *
     * @throws IllegalArgumentException for a name that is not a product token
     */
    @Override
    public BaseRobotRules parseContent(String url, byte[] content, String contentType, Collection<String> robotNames) {
        String[] names = robotNames.stream().filter(name -> !name.isEmpty()).toArray(String[]::new);
        RobosieveRules rules = new RobosieveRules(content == null ? new byte[0] : content, profile, names);
        rules.setMatchedWildcard(!rules.robots().isNamed());
        rules.robots().crawlDelay().ifPresent(delay -> rules.setCrawlDelay(delay.toMillis()));
        rules.robots().sitemaps().forEach(sitemap -> addSitemap(rules, url, sitemap));
        return rules;
    }

    /** Adds a sitemap, relative to the robots.txt. A value that is not a URL with a host is left out. */
    private static void addSitemap(BaseRobotRules rules, String base, String sitemap) {
        try {
            URI absolute = new URI(base).resolve(sitemap);
            if (absolute.getHost() != null) {
                rules.addSitemap(absolute.toString());
            }
        } catch (URISyntaxException | IllegalArgumentException err) {
            // Not a URL.
        }
    }

    /**
     * Without a robots.txt: 4xx except 429 allows all. Everything else allows nothing, and the visit is deferred.
     *
     * @throws IllegalStateException for 2xx
     */
    @Override
    public BaseRobotRules failedFetch(int status) {
        if (status >= 200 && status < 300) {
            throw new IllegalStateException("status " + status + " has a body; call parseContent");
        }
        boolean isMissing = status >= 400 && status < 500 && status != 429;
        RobosieveRules rules = new RobosieveRules(isMissing ? new byte[0] : DISALLOW_ALL, profile);
        rules.setDeferVisits(!isMissing);
        return rules;
    }
}
