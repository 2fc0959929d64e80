import crawlercommons.robots.SimpleRobotRulesParser;
import java.util.List;

/** crawler-commons, whose rules are those of one agent. */
final class CrawlerCommons {
    public static void main(String[] arguments) throws Exception {
        SimpleRobotRulesParser parser = new SimpleRobotRulesParser();
        Base.serve(
            (body, agent) -> parser.parseContent("http://example.com/robots.txt", body, "text/plain",
                agent.equals("*") ? List.of() : List.of(agent.toLowerCase())),
            (rules, url) -> rules.isAllowed(url));
    }
}
