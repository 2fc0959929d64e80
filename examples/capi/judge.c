// Judges the URLs of standard input, one per line, and prints them with one letter per agent, like
// `robosieve annotate`. docs/C.md has the commands that build and run it.
// usage: judge SNAPSHOT AGENT... < URLS

#include "robosieve.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 1 << 16 };

static char data[BLOCK + 1];
static int32_t offsets[BLOCK + 2];

static void check(robosieve_status status) {
    if (status != ROBOSIEVE_STATUS_OK) {
        fprintf(stderr, "judge: %s\n", robosieve_last_error());
        exit(2);
    }
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fputs("usage: judge SNAPSHOT AGENT... < URLS\n", stderr);
        return 2;
    }
    robosieve_snapshot *snapshot;
    robosieve_judge *judge;
    check(robosieve_snapshot_open(argv[1], ROBOSIEVE_OPEN_FLAG_VERIFY_CHECKSUMS, &snapshot));
    check(robosieve_judge_new(snapshot, (const char *const *)argv + 2, (size_t)argc - 2, NULL, &judge));
    robosieve_snapshot_close(snapshot); // The judge keeps it.

    size_t agents = robosieve_judge_agent_count(judge); // A set such as @ai is many agents.
    int8_t *verdicts = malloc((BLOCK + 1) * agents);
    if (verdicts == NULL) return 2;
    size_t held = 0, got; // The bytes of `data` after its last whole line.
    do {
        got = fread(data + held, 1, BLOCK - held, stdin);
        size_t end = held + got, next = 0, rows = 0, len = 0;
        if (got == 0 && held > 0) data[end++] = '\n'; // The last line has no line end.
        // Rows are next to each other, so the line ends go.
        for (char *lf; (lf = memchr(data + next, '\n', end - next)) != NULL; next = (size_t)(lf - data) + 1) {
            size_t line = (size_t)(lf - data) - next;
            memmove(data + len, data + next, line);
            len += line;
            offsets[++rows] = (int32_t)len;
        }
        check(robosieve_judge_rows32(judge, data, len, offsets, rows, verdicts, rows * agents));
        for (size_t row = 0; row < rows; row++) {
            for (size_t agent = 0; agent < agents; agent++) putchar("DAUI"[verdicts[row * agents + agent]]);
            printf("\t%.*s\n", (int)(offsets[row + 1] - offsets[row]), data + offsets[row]);
        }
        held = end - next;
        memmove(data, data + next, held);
        if (held == BLOCK) {
            fputs("judge: a line is longer than 64 KiB\n", stderr);
            return 2;
        }
    } while (got > 0);
    free(verdicts);
    robosieve_judge_close(judge);
    return ferror(stdin) || fclose(stdout) != 0 ? 2 : 0;
}
