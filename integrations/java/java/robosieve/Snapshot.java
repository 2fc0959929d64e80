package robosieve;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;

/** Compiled robots.txt files: what <code>robosieve compile</code> writes. Any number of threads may use one. */
public final class Snapshot extends NativeObject {
    /**
     * Opens a file. It is mapped into memory, so this takes the same time for any size.
     *
     * @throws RobosieveException if the file cannot be read, or is not a snapshot
     */
    public Snapshot(String path) {
        super(openFile(path));
    }

    /** A judge for some agents, with the default options. */
    public Judge judge(String... agents) {
        return judge(Collections.emptyMap(), agents);
    }

    /**
     * A judge for some agents: product tokens (<code>GPTBot</code>), chains
     * (<code>Googlebot-Image:Googlebot</code>) or sets (<code>@ai</code>). Create one for many URLs. It keeps
     * the snapshot, which may be closed before.
     *
     * @param options the names and values of the command's options: <code>status-policy</code>,
     *     <code>unknown</code> (<code>allow</code> or <code>disallow</code>), <code>agent-match</code>,
     *     <code>any-scheme</code> (<code>true</code>), <code>at</code> and <code>as-of</code> (seconds since 1970),
     *     <code>no-time</code>, and <code>lists</code>, a file of <code>robosieve lists</code> whose blocked URLs
     *     are not {@link Judge#allowed}
     * @throws IllegalArgumentException for a name that is not an agent, or an option that is not known
     */
    public Judge judge(Map<String, String> options, String... agents) {
        List<String> pairs = new ArrayList<>();
        options.forEach((name, value) -> Collections.addAll(pairs, name, value));
        return new Judge(openJudge(handle(), agents, pairs.toArray(new String[0])));
    }

    /**
     * Reads the whole file, and compares it with its checksums. Worth it after a copy over a network.
     *
     * @throws RobosieveException that says which part is damaged
     */
    public void verify() {
        verify(handle());
    }

    private static native long openFile(String path);

    private native long openJudge(long snapshot, String[] agents, String[] options);

    private native void verify(long snapshot);
}
