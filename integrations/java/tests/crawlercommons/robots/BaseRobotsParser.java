package crawlercommons.robots;

import java.io.Serializable;
import java.util.Collection;

/** What the adapter uses of crawler-commons' class, to compile and test it without that library. */
public abstract class BaseRobotsParser implements Serializable {
    @Deprecated
    public abstract BaseRobotRules parseContent(String url, byte[] content, String contentType, String robotNames);

    public abstract BaseRobotRules parseContent(String url, byte[] content, String contentType, Collection<String> names);

    public abstract BaseRobotRules failedFetch(int status);
}
