package robosieve;

/** An error of the library: a file that cannot be read, or is damaged. The message says what to do. */
public final class RobosieveException extends RuntimeException {
    private static final long serialVersionUID = 1;

    RobosieveException(String message) {
        super(message);
    }
}
