package robosieve.crawlercommons;

import crawlercommons.robots.BaseRobotRules;
import java.net.URL;
import java.util.Arrays;
import robosieve.Robots;

/**
 * Rules of crawler-commons whose answers are those of robosieve. They are serialised as the robots.txt, and parsed
 * again where they arrive. The native memory is freed after the garbage collector has found them unused.
 */
public class RobosieveRules extends BaseRobotRules {
    private static final long serialVersionUID = 1;
    private final byte[] body;
    private final String profile;
    private final String[] names;
    private transient volatile Robots robots;

    RobosieveRules(byte[] body, String profile, String... names) {
        this.body = body;
        this.profile = profile;
        this.names = names;
    }

    @Override
    public boolean isAllowed(String url) {
        return robots().allows(url);
    }

    /** As {@link #isAllowed(String)}. Versions of crawler-commons before 1.5 do not declare it. */
    public boolean isAllowed(URL url) {
        return isAllowed(url.toExternalForm());
    }

    @Override
    public boolean isAllowAll() {
        return robots().allowsAll();
    }

    @Override
    public boolean isAllowNone() {
        return robots().allowsNothing();
    }

    @Override
    public boolean equals(Object other) {
        return super.equals(other) && Arrays.equals(body, ((RobosieveRules) other).body)
                && profile.equals(((RobosieveRules) other).profile) && Arrays.equals(names, ((RobosieveRules) other).names);
    }

    @Override
    public int hashCode() {
        return 31 * super.hashCode() + Arrays.hashCode(body);
    }

    /** The parsed rules. Two threads may parse at once, which does no harm. */
    final Robots robots() {
        Robots parsed = robots;
        if (parsed == null) {
            robots = parsed = Robots.parse(body, profile, names);
        }
        return parsed;
    }
}
