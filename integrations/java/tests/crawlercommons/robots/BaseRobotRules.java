package crawlercommons.robots;

import java.io.Serializable;
import java.net.URL;
import java.util.ArrayList;
import java.util.List;

/** What the adapter uses of crawler-commons' class, to compile and test it without that library. */
public abstract class BaseRobotRules implements Serializable {
    public static final long UNSET_CRAWL_DELAY = Long.MIN_VALUE;
    private long crawlDelay = UNSET_CRAWL_DELAY;
    private boolean deferVisits;
    private boolean matchedWildcard;
    private final ArrayList<String> sitemaps = new ArrayList<>();

    public abstract boolean isAllowed(String url);

    public abstract boolean isAllowed(URL url);

    public abstract boolean isAllowAll();

    public abstract boolean isAllowNone();

    public long getCrawlDelay() {
        return crawlDelay;
    }

    public void setCrawlDelay(long delay) {
        crawlDelay = delay;
    }

    public boolean isDeferVisits() {
        return deferVisits;
    }

    public void setDeferVisits(boolean defer) {
        deferVisits = defer;
    }

    public boolean isMatchedWildcard() {
        return matchedWildcard;
    }

    public void setMatchedWildcard(boolean matched) {
        matchedWildcard = matched;
    }

    public void addSitemap(String sitemap) {
        sitemaps.add(sitemap);
    }

    public List<String> getSitemaps() {
        return sitemaps;
    }

    @Override
    public boolean equals(Object other) {
        return other != null && getClass() == other.getClass();
    }

    @Override
    public int hashCode() {
        return 1;
    }
}
