import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Answers questions about robots.txt files with a Java parser, by the protocol of README.md.
 *
 * A parser is a class whose `main` calls `serve`. Parsing gets the body and the agent, judging what
 * parsing returned and the URL. The base times them and catches what they throw.
 */
final class Base {
    interface Parse<P> {
        P parse(byte[] body, String agent) throws Exception;
    }

    interface Allowed<P> {
        boolean allowed(P parsed, String url) throws Exception;
    }

    /** Java has no JSON library. The runner writes the keys in this form, and escapes `"` and `\` only. */
    private static final Pattern KEY = Pattern.compile("\"(robots|agents|urls|repeat|keep)\": ?(\"[^\"]*\"|\\[.*?\\](?=,? ?\"(?:robots|agents|urls|repeat|keep)\": ?|\\})|[0-9a-z]+)");
    private static final Pattern TEXT = Pattern.compile("\"((?:[^\"\\\\]++|\\\\.)*+)\"");

    static <P> void serve(Parse<P> parse, Allowed<P> allowed) throws Exception {
        PrintStream out = new PrintStream(new java.io.FileOutputStream(java.io.FileDescriptor.out), true, StandardCharsets.UTF_8);
        System.setOut(System.err);
        out.println("{\"hello\": 1, \"parses\": \"per agent\"}");
        List<P> kept = new ArrayList<>();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null;) {
            byte[] body = {};
            List<String> agents = List.of(), urls = List.of();
            int repeat = 1;
            boolean keep = false;
            for (Matcher key = KEY.matcher(line); key.find();) {
                switch (key.group(1)) {
                    case "robots" -> body = Base64.getDecoder().decode(key.group(2).replace("\"", ""));
                    case "agents" -> agents = texts(key.group(2));
                    case "urls" -> urls = texts(key.group(2));
                    case "repeat" -> repeat = Integer.parseInt(key.group(2));
                    default -> keep = key.group(2).equals("true");
                }
            }
            String answer = "";
            for (int i = 0; i < repeat; i++) {
                answer = ask(parse, allowed, body, agents, urls, keep, kept);
            }
            out.println(answer);
        }
    }

    private static List<String> texts(String json) {
        List<String> found = new ArrayList<>();
        for (Matcher text = TEXT.matcher(json); text.find();) {
            found.add(text.group(1).replaceAll("\\\\(.)", "$1"));
        }
        return found;
    }

    private static long cpuNanos() {
        // That of the process has steps of 10 ms.
        return ManagementFactory.getThreadMXBean().getCurrentThreadCpuTime();
    }

    private static <P> String ask(Parse<P> parse, Allowed<P> allowed, byte[] body, List<String> agents, List<String> urls, boolean keep, List<P> kept) {
        List<String> verdicts = new ArrayList<>();
        long parseNanos = 0, askNanos = 0;
        for (String agent : agents) {
            P parsed = null;
            long start = cpuNanos();
            try {
                parsed = parse.parse(body, agent);
            } catch (Exception | StackOverflowError error) {
                System.err.println(error);
            }
            parseNanos += cpuNanos() - start;
            if (keep) {
                kept.add(parsed);
            }
            StringBuilder letters = new StringBuilder("\"");
            start = cpuNanos();
            for (String url : urls) {
                try {
                    letters.append(parsed == null ? 'E' : allowed.allowed(parsed, url) ? 'A' : 'D');
                } catch (Exception | StackOverflowError error) {
                    letters.append('E');
                }
            }
            askNanos += cpuNanos() - start;
            verdicts.add(letters.append('"').toString());
        }
        return "{\"verdicts\": " + verdicts + ", \"parse_ns\": " + parseNanos + ", \"ask_ns\": " + askNanos + "}";
    }
}
