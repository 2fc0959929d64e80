package robosieve;

import java.io.IOException;
import java.io.InputStream;
import java.lang.ref.PhantomReference;
import java.lang.ref.ReferenceQueue;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.Paths;
import java.nio.file.StandardCopyOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/** An object of the native library. It is freed by {@link #close}, or some time after it was forgotten. */
abstract class NativeObject implements AutoCloseable {
    static {
        load();
    }

    private final Owner owner;

    NativeObject(long handle) {
        // No thread waits for forgotten objects, so each new one frees those before it.
        for (Object forgotten; (forgotten = Owner.FORGOTTEN.poll()) != null; ) {
            ((Owner) forgotten).close();
        }
        owner = new Owner(this, handle);
    }

    /** The number of the object. Native methods are those of instances, so it is not freed while one runs. */
    final long handle() {
        return owner.handle;
    }

    /** Frees the object. Its methods throw IllegalStateException from now on. A second call does nothing. */
    @Override
    public void close() {
        owner.close();
    }

    /** Frees an object once. Java 8 has no Cleaner. */
    private static final class Owner extends PhantomReference<NativeObject> {
        static final ReferenceQueue<NativeObject> FORGOTTEN = new ReferenceQueue<>();
        static final Set<Owner> OPEN = ConcurrentHashMap.newKeySet();
        final long handle;

        Owner(NativeObject object, long handle) {
            super(object, FORGOTTEN);
            this.handle = handle;
            OPEN.add(this);
        }

        void close() {
            if (OPEN.remove(this)) {
                free(handle);
            }
        }
    }

    static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /**
     * Loads the library of this machine: the file that the property robosieve.library names, else a copy of
     * the one in the jar. Each class loader gets a copy of its own, because a file is loaded only once.
     */
    private static void load() {
        String given = System.getProperty("robosieve.library");
        if (given != null) {
            System.load(Paths.get(given).toAbsolutePath().toString());
            return;
        }
        String machine = System.getProperty("os.name") + "-" + System.getProperty("os.arch").replace("amd64", "x86_64");
        String resource = "natives/" + machine + "/librobosieve_java.so";
        InputStream library = NativeObject.class.getResourceAsStream(resource);
        if (library == null) {
            throw new UnsatisfiedLinkError("the jar has no " + resource + "; build it for this machine (docs/JAVA.md),"
                    + " and name it by -Drobosieve.library=FILE");
        }
        try {
            Path copy = Files.createTempFile("robosieve", ".so");
            try {
                Files.copy(library, copy, StandardCopyOption.REPLACE_EXISTING);
                library.close();
                System.load(copy.toString());
            } finally {
                Files.delete(copy);
            }
        } catch (IOException | UnsatisfiedLinkError err) {
            throw new UnsatisfiedLinkError(err.getMessage() + "; the library is copied to java.io.tmpdir: name a folder"
                    + " with space, from which programs may run, by -Djava.io.tmpdir=FOLDER");
        }
    }

    private static native void free(long handle);
}
