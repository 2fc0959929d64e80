import com.google.search.robotstxt.Open;
import com.google.search.robotstxt.RobotsMatcher;
import java.util.Map;

/** Google's parser in Java. */
final class GoogleJava {
    public static void main(String[] arguments) throws Exception {
        Base.<Map.Entry<String, RobotsMatcher>>serve(
            (body, agent) -> Map.entry(agent, Open.parse(body)),
            (parsed, url) -> parsed.getValue().singleAgentAllowedByRobots(parsed.getKey(), url));
    }
}
