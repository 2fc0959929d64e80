package robosieve;

/** Whether an agent may fetch a URL. The code of a verdict in columns is its {@link #ordinal}. */
public enum Verdict {
    /** The agent may not fetch it. */
    DISALLOWED,
    /** The agent may fetch it. */
    ALLOWED,
    /** The snapshot does not contain the URL's origin. */
    UNKNOWN,
    /** The text is not a URL with a scheme and a host. */
    INVALID
}
