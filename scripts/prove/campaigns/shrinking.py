"""Shrinks an input that shows a difference: delta debugging (Zeller and Hildebrandt 2002)."""


def smallest(parts, differs):
    """The parts that are needed for the difference: without any further one, it is gone. `differs(parts)` is
    whether a list of parts shows the difference, and is true for the whole list."""
    size = max(1, len(parts) // 2)
    while True:
        at, removed = 0, False
        while at < len(parts):
            rest = parts[:at] + parts[at + size :]
            if differs(rest):
                parts, removed = rest, True
            else:
                at += size
        if size == 1 and not removed:
            return parts
        # Removing one part may make another superfluous, so the last pass is repeated.
        size = max(1, size // 2)


def smallest_text(text, differs):
    """The same for bytes: first its lines are left out, then single bytes."""
    lines = smallest(text.splitlines(keepends=True), lambda parts: differs(b"".join(parts)))
    text = b"".join(lines)
    # One probe per byte, so a long text stays as it is.
    if len(text) > 2000:
        return text
    return bytes(smallest(list(text), lambda parts: differs(bytes(parts))))
