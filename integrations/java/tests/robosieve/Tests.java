package robosieve;

import crawlercommons.robots.BaseRobotRules;
import java.io.*;
import java.lang.reflect.*;
import java.net.*;
import java.nio.charset.StandardCharsets;
import java.nio.file.*;
import java.time.Duration;
import java.util.*;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicInteger;
import robosieve.crawlercommons.RobosieveRulesParser;

/**
 * Tests of the package, without a test library, so that any Java runs them. Each method without arguments is a test.
 * usage: Tests SNAPSHOT EXPECTED HISTORY LISTS JAR, as scripts/x java calls it.
 */
final class Tests {
    private static final String[] AGENTS = {"GPTBot", "Googlebot", "Googlebot-Image:Googlebot", "MJ12bot", "FooBot"};
    private static String snapshot;
    private static String history;
    private static String lists;
    private static String jar;
    /** The lines of EXPECTED: a letter for each agent, a tab and the URL. */
    private static List<String> expected;

    public static void main(String[] args) throws Exception {
        snapshot = args[0];
        expected = Files.readAllLines(Paths.get(args[1]), StandardCharsets.UTF_8);
        history = args[2];
        lists = args[3];
        jar = args[4];
        int passed = 0;
        int failed = 0;
        for (Method test : Tests.class.getDeclaredMethods()) {
            if (test.getParameterCount() == 0 && test.getReturnType() == void.class && !test.isSynthetic()) {
                try {
                    test.invoke(null);
                    passed++;
                } catch (ReflectiveOperationException err) {
                    System.out.println(test.getName() + ": " + err.getCause());
                    err.getCause().printStackTrace(System.out);
                    failed++;
                }
            }
        }
        System.out.println(passed + " passed, " + failed + " failed");
        System.exit(failed == 0 && passed > 0 ? 0 : 1);
    }

    static void columnsAndSingleUrlsGetTheVerdictsOfTheCommand() {
        try (Snapshot opened = new Snapshot(snapshot); Judge judge = opened.judge(AGENTS)) {
            ByteArrayOutputStream data = new ByteArrayOutputStream();
            int[] offsets = new int[expected.size() + 1];
            for (int row = 0; row < expected.size(); row++) {
                byte[] bytes = urlOf(expected.get(row)).getBytes(StandardCharsets.UTF_8);
                data.write(bytes, 0, bytes.length);
                offsets[row + 1] = data.size();
            }
            byte[] codes = judge.verdicts(data.toByteArray(), offsets);
            boolean[] all = judge.allowed(data.toByteArray(), offsets);
            for (int row = 0; row < expected.size(); row++) {
                String url = urlOf(expected.get(row));
                String letters = expected.get(row).substring(0, AGENTS.length);
                Verdict[] single = judge.verdicts(url);
                for (int agent = 0; agent < AGENTS.length; agent++) {
                    Verdict verdict = Verdict.values()["DAUI".indexOf(letters.charAt(agent))];
                    equal(verdict, single[agent]);
                    equal((byte) verdict.ordinal(), codes[row * AGENTS.length + agent]);
                }
                equal(letters.equals("AAAAA"), all[row]);
                equal(letters.equals("AAAAA"), judge.allowed(url));
            }
            equal(0, judge.allowed(new byte[0], new int[0]).length);
            equal(Arrays.asList(AGENTS), judge.agents());
        }
    }

    private static String urlOf(String line) {
        return line.substring(AGENTS.length + 1);
    }

    static void errorsNameTheFileTheValueAndTheCause() throws Exception {
        fails(RobosieveException.class, "/nope.rsieve", () -> new Snapshot("/nope.rsieve"));
        fails(RobosieveException.class, "not a robosieve snapshot", () -> new Snapshot(lists));
        fails(NullPointerException.class, "null", () -> new Snapshot(null));
        try (Snapshot opened = new Snapshot(snapshot); Judge judge = opened.judge("a")) {
            opened.verify();
            fails(IllegalArgumentException.class, "a b", () -> opened.judge("(a b)"));
            fails(IllegalArgumentException.class, "at least one", () -> opened.judge());
            fails(NullPointerException.class, "null", () -> opened.judge((String) null));
            fails(IllegalArgumentException.class, "strict", () -> opened.judge(option("status-policy", "no"), "a"));
            fails(IllegalArgumentException.class, "status-policy", () -> opened.judge(option("statusPolicy", "strict"), "a"));
            fails(IllegalArgumentException.class, "any-scheme", () -> opened.judge(option("any-scheme", "yes"), "a"));
            fails(RobosieveException.class, "history", () -> opened.judge(option("as-of", "0"), "a"));
            fails(IllegalArgumentException.class, "offset", () -> judge.allowed(new byte[1], new int[] {0, 2}));
            fails(IllegalArgumentException.class, "offset", () -> judge.allowed(new byte[1], new int[] {1, 0}));
        }
    }

    static void closedObjectsThrowAndJudgesKeepTheirSnapshot() throws Exception {
        Snapshot opened = new Snapshot(snapshot);
        Judge judge = opened.judge(option("unknown", "allow"), "GPTBot");
        opened.close();
        opened.close();
        fails(IllegalStateException.class, "closed", () -> opened.judge("a"));
        equal(true, judge.allowed("https://unknown.example/"));
        judge.close();
        fails(IllegalStateException.class, "closed", () -> judge.allowed("https://unknown.example/"));
    }

    static void threadsShareAJudgeWhileOneClosesIt() throws Exception {
        Snapshot opened = new Snapshot(snapshot);
        for (int round = 0; round < 50; round++) {
            Judge judge = opened.judge("GPTBot");
            AtomicInteger wrong = new AtomicInteger();
            List<Thread> threads = new ArrayList<>();
            for (int number = 0; number < 4; number++) {
                threads.add(new Thread(() -> {
                    try {
                        for (int url = 0; url < 1000; url++) {
                            if (judge.allowed("https://shop.example/cart/1")) {
                                wrong.incrementAndGet();
                            }
                        }
                    } catch (IllegalStateException closed) {
                        // The other answer that is right.
                    }
                }));
            }
            threads.forEach(Thread::start);
            judge.close();
            for (Thread thread : threads) {
                thread.join();
            }
            equal(0, wrong.get());
        }
    }

    static void forgottenObjectsAreFreed() throws Exception {
        byte[] body = new byte[1 << 20];
        Field open = Class.forName("robosieve.NativeObject$Owner").getDeclaredField("OPEN");
        open.setAccessible(true);
        for (int number = 0; number < 3000; number++) {
            Robots.parse(body, "google");
            if (number % 100 == 0) {
                System.gc();
            }
        }
        int left = ((Set<?>) open.get(null)).size();
        check(left < 1000, left + " of 3,000 forgotten objects are open");
    }

    static void rowsAreJudgedByTheRulesOfTheirTime() {
        long[] times = {1772323200, 1777593600, Judge.NO_TIME, 0};
        byte[] data = "https://e.test/ahttps://e.test/ahttps://e.test/ahttps://e.test/a".getBytes(StandardCharsets.UTF_8);
        int[] offsets = {0, 16, 32, 48, 64};
        try (Snapshot opened = new Snapshot(history); Judge judge = opened.judge(option("no-time", "newest"), "GPTBot");
                Judge past = opened.judge(option("as-of", "1772323200"), "GPTBot")) {
            equal("[0, 1, 1, 2]", Arrays.toString(judge.verdictsAsOf(data, offsets, times)));
            equal("[0, 0, 0, 0]", Arrays.toString(past.verdicts(data, offsets)));
        }
    }

    static void ownListsBlock() {
        Map<String, String> options = new HashMap<>(option("unknown", "allow"));
        options.put("lists", lists);
        try (Snapshot opened = new Snapshot(snapshot);
                Judge judge = opened.judge(options, "GPTBot")) {
            equal(false, judge.allowed("https://ads.example/x"));
            equal(true, judge.allowed("https://good.ads.example/x"));
        }
    }

    static void robotsAnswersForOneFile() throws Exception {
        byte[] body = ("user-agent: a\ndisallow: /x\ncrawl-delay: 1.5\n\nuser-agent: b\ndisallow: /\n\n"
                + "sitemap: https://e.example/s.xml\nuser-agent: c\nallow: /\ndisallow:\n").getBytes(StandardCharsets.UTF_8);
        try (Robots a = Robots.parse(body, "google", "a"); Robots b = Robots.parse(body, "google", "zz:b");
                Robots c = Robots.parse(body, "rfc9309", "c"); Robots d = Robots.parse(body, "google")) {
            equal("false true false", a.allows("/x") + " " + a.allows("https://e.example/y") + " " + b.allows("/"));
            equal(Optional.of(Duration.ofMillis(1500)), a.crawlDelay());
            equal(Optional.empty(), b.crawlDelay());
            equal(Collections.singletonList("https://e.example/s.xml"), a.sitemaps());
            equal("true true false", a.isNamed() + " " + b.isNamed() + " " + d.isNamed());
            equal("false false true true", a.allowsAll() + " " + b.allowsAll() + " " + c.allowsAll() + " " + d.allowsAll());
            equal("false true false", a.allowsNothing() + " " + b.allowsNothing() + " " + c.allowsNothing());
        }
        fails(IllegalArgumentException.class, "(a b)", () -> Robots.parse(body, "google", "(a b)"));
        fails(IllegalArgumentException.class, "rfc9309", () -> Robots.parse(body, "yahoo"));
    }

    static void crawlerCommonsMergesGroupsOfSeveralNames() throws Exception {
        byte[] body = ("user-agent: a\ndisallow: /x\ncrawl-delay: 9\nuser-agent: b\nallow: /x/y\ncrawl-delay: 2\n"
                + "sitemap: /s.xml\nuser-agent: *\ndisallow: /").getBytes(StandardCharsets.UTF_8);
        RobosieveRulesParser parser = new RobosieveRulesParser();
        BaseRobotRules rules = parser.parseContent("https://e.example/robots.txt", body, "text/plain", Arrays.asList("a", "b"));
        for (BaseRobotRules copy : Arrays.asList(rules, serialised(rules))) {
            equal(false, copy.isAllowed("https://e.example/x"));
            equal(true, copy.isAllowed(new URL("https://e.example/x/y")));
            equal(true, copy.isAllowed("https://e.example/"));
            equal(2000L, copy.getCrawlDelay());
            equal(Collections.singletonList("https://e.example/s.xml"), copy.getSitemaps());
            equal(rules, copy);
            equal("false false false", copy.isAllowAll() + " " + copy.isAllowNone() + " " + copy.isMatchedWildcard());
        }
        rules = parser.parseContent("https://e.example/robots.txt", body, "text/plain", "c, d");
        equal("true true", rules.isMatchedWildcard() + " " + rules.isAllowNone());
        check(parser.failedFetch(404).isAllowAll() && !parser.failedFetch(404).isDeferVisits(), "404");
        check(parser.failedFetch(503).isAllowNone() && parser.failedFetch(429).isDeferVisits(), "503, 429");
        check(parser.parseContent("", null, null, Collections.emptySet()).isAllowAll(), "no body");
    }

    static void eachClassLoaderLoadsTheLibrary() throws Exception {
        for (int number = 0; number < 2; number++) {
            URL[] path = {new File(jar).toURI().toURL()};
            try (URLClassLoader loader = new URLClassLoader(path, null)) {
                Class<?> robots = loader.loadClass("robosieve.Robots");
                Method parse = robots.getMethod("parse", byte[].class, String.class, String[].class);
                Object parsed = parse.invoke(null, new byte[0], "google", new String[] {"a"});
                equal(true, robots.getMethod("allows", String.class).invoke(parsed, "/"));
            }
        }
    }

    private static BaseRobotRules serialised(BaseRobotRules rules) throws Exception {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(rules);
        }
        return (BaseRobotRules) new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray())).readObject();
    }

    private static Map<String, String> option(String name, String value) {
        return Collections.singletonMap(name, value);
    }

    private static void equal(Object expected, Object found) {
        check(expected.equals(found), "expected " + expected + ", found " + found);
    }

    private static void check(boolean holds, String what) {
        if (!holds) {
            throw new AssertionError(what);
        }
    }

    private static void fails(Class<?> kind, String message, Callable<?> call) throws Exception {
        try {
            call.call();
        } catch (RuntimeException err) {
            check(kind.isInstance(err) && err.getMessage().contains(message), err.toString());
            return;
        }
        throw new AssertionError("no " + kind);
    }
}
