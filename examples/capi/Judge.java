// Judges the URLs of standard input, one per line, and prints them with one letter per agent, like
// `robosieve annotate`. Java 22 and newer. docs/C.md has the command that runs it.
// usage: Judge LIBRARY SNAPSHOT AGENT... < URLS
import static java.lang.foreign.ValueLayout.*;
import java.io.*;
import java.lang.foreign.*;
import java.lang.invoke.MethodHandle;

class Judge {
    static SymbolLookup library;

    /** A function of robosieve.h. */
    static MethodHandle function(String name, MemoryLayout returned, MemoryLayout... arguments) {
        return Linker.nativeLinker().downcallHandle(library.findOrThrow("robosieve_" + name), FunctionDescriptor.of(returned, arguments));
    }

    /** Ends the program with the message of a failed call. */
    static void check(Object status) throws Throwable {
        if (!status.equals(0)) {
            var message = (MemorySegment) function("last_error", ADDRESS).invoke();
            throw new IOException(message.reinterpret(Long.MAX_VALUE).getString(0));
        }
    }

    public static void main(String[] args) throws Throwable {
        try (Arena arena = Arena.ofConfined()) {
            library = SymbolLookup.libraryLookup(java.nio.file.Path.of(args[0]), arena);
            int count = args.length - 2;
            var agents = arena.allocate(ADDRESS, count);
            for (int agent = 0; agent < count; agent++) {
                agents.setAtIndex(ADDRESS, agent, arena.allocateFrom(args[agent + 2]));
            }
            MemorySegment snapshot = arena.allocate(ADDRESS), judge = arena.allocate(ADDRESS);
            check(function("snapshot_open", JAVA_INT, ADDRESS, JAVA_INT, ADDRESS).invoke(arena.allocateFrom(args[1]), 0, snapshot));
            check(function("judge_new", JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, ADDRESS)
                    .invoke(snapshot.get(ADDRESS, 0), agents, (long) count, MemorySegment.NULL, judge));
            var rows = function("judge_rows64", JAVA_INT, ADDRESS, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG, ADDRESS, JAVA_LONG);
            // All lines are one column: their bytes, and where each begins. In this encoding a byte is a character.
            String text = new String(System.in.readAllBytes(), "ISO-8859-1");
            String[] lines = (text.endsWith("\n") ? text.substring(0, text.length() - 1) : text).split("\n", -1);
            byte[] bytes = String.join("", lines).getBytes("ISO-8859-1");
            var data = arena.allocateFrom(JAVA_BYTE, bytes);
            var offsets = arena.allocate(JAVA_LONG, lines.length + 1);
            for (int line = 0; line < lines.length; line++) {
                offsets.setAtIndex(JAVA_LONG, line + 1, offsets.getAtIndex(JAVA_LONG, line) + lines[line].length());
            }
            var verdicts = arena.allocate((long) lines.length * count);
            check(rows.invoke(judge.get(ADDRESS, 0), data, (long) bytes.length, offsets, (long) lines.length, verdicts, verdicts.byteSize()));
            var out = new StringBuilder();
            for (int line = 0; line < lines.length; line++) {
                for (int agent = 0; agent < count; agent++) {
                    out.append("DAUI".charAt(verdicts.get(JAVA_BYTE, (long) line * count + agent)));
                }
                out.append('\t').append(lines[line]).append('\n');
            }
            System.out.write(out.toString().getBytes("ISO-8859-1"));
        }
    }
}
