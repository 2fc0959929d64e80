package com.google.search.robotstxt;

/** Parses for programs outside of this package: the parser's own method is not public. */
public final class Open {
    private Open() {}

    public static RobotsMatcher parse(byte[] body) {
        return (RobotsMatcher) new RobotsParser(new RobotsParseHandler()).parse(body);
    }
}
