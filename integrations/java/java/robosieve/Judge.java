package robosieve;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * Judges URLs for some agents. Any number of threads may use one.
 *
 * <p>A column is Arrow's: row i is the bytes <code>data[offsets[i]]</code> up to
 * <code>data[offsets[i + 1]]</code>, so there is one offset more than there are rows. It is copied, and costs much
 * less a URL than single calls.
 */
public final class Judge extends NativeObject {
    /** The time of a row that has none. */
    public static final long NO_TIME = Long.MIN_VALUE;

    private static final Verdict[] VERDICTS = Verdict.values();
    private final List<String> agents;

    Judge(long handle) {
        super(handle);
        agents = Collections.unmodifiableList(Arrays.asList(agentLabels(handle)));
    }

    /** The agents. A set was replaced by its members. */
    public List<String> agents() {
        return agents;
    }

    /**
     * Whether all agents may fetch a URL. False for an origin that is unknown, for a text that is not a URL, and if one
     * of the judge's own lists blocks it.
     */
    public boolean allowed(String url) {
        byte[] bytes = utf8(url);
        return allowed(bytes, new int[] {0, bytes.length})[0];
    }

    /**
     * Whether all agents may fetch each row of a column, as {@link #allowed(String)}.
     *
     * @throws IllegalArgumentException if offsets descend or exceed the data
     */
    public boolean[] allowed(byte[] data, int[] offsets) {
        return allowRows(handle(), data, offsets);
    }

    /** The verdict for each agent, in their order. */
    public Verdict[] verdicts(String url) {
        byte[] bytes = utf8(url);
        byte[] codes = verdicts(bytes, new int[] {0, bytes.length});
        Verdict[] verdicts = new Verdict[codes.length];
        Arrays.setAll(verdicts, agent -> VERDICTS[codes[agent]]);
        return verdicts;
    }

    /**
     * The codes of the verdicts on a column: those of row 0 for all agents, then those of row 1, and so on.
     *
     * @throws IllegalArgumentException if offsets descend or exceed the data
     */
    public byte[] verdicts(byte[] data, int[] offsets) {
        return judgeRows(handle(), data, offsets, null);
    }

    /**
     * As {@link #verdicts(byte[], int[])}, each row by the rules in force at its own time, in seconds since 1970 or
     * {@link #NO_TIME}. The snapshot has a history.
     */
    public byte[] verdictsAsOf(byte[] data, int[] offsets, long[] times) {
        return judgeRows(handle(), data, offsets, times.clone());
    }

    private native String[] agentLabels(long judge);

    private native boolean[] allowRows(long judge, byte[] data, int[] offsets);

    private native byte[] judgeRows(long judge, byte[] data, int[] offsets, long[] times);
}
