// Tests of the C interface: every function, every status that C can reach, threads, damaged files.
// scripts/x capi compiles it against include/robosieve.h, and runs it plain and under valgrind.
// usage: test SNAPSHOT EXPECTED DIRECTORY HISTORY LISTS
// SNAPSHOT is compiled from datasets/small, EXPECTED is its expected.tsv; DIRECTORY is for scratch.
// HISTORY is a snapshot with a history, of history.jsonl. LISTS is a compiled file of the lists `ads`
// and `shop` of scripts/checks/capi.

#include "robosieve.h"
#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAIL(...) (fprintf(stderr, "line %d: ", __LINE__), fprintf(stderr, __VA_ARGS__), fputs("\n", stderr), exit(1))
#define CHECK(condition) \
    ((condition) ? (void)0 : FAIL("not true: %s\n  last error: %s", #condition, robosieve_last_error()))
// The call has this status, without its prefix, and its message contains the text.
#define FAILS(call, expected, text) check_failure(__LINE__, #call, call, ROBOSIEVE_STATUS_##expected, text)
#define OK(call) CHECK((call) == ROBOSIEVE_STATUS_OK)
#define COUNT(array) (sizeof(array) / sizeof *(array))

static void check_failure(int line, const char *call, robosieve_status found, robosieve_status wanted,
                          const char *text) {
    const char *message = robosieve_last_error();
    if (found != wanted || strstr(message, text) == NULL) {
        FAIL("%d: %s\n  is %d, not %d, with the message: %s\n  which should contain: %s", line, call, (int)found,
             (int)wanted, message, text);
    }
}

// The agents of expected.tsv.
static const char *const AGENTS[] = {"GPTBot", "Googlebot", "Googlebot-Image:Googlebot", "MJ12bot", "FooBot"};
enum { AGENT_COUNT = COUNT(AGENTS), MAX_ROWS = 1000, MAX_DATA = 1 << 16 };

// The URLs of expected.tsv as a column, and their verdicts.
static char data[MAX_DATA];
static int32_t offsets[MAX_ROWS + 1];
static int64_t offsets64[MAX_ROWS + 1];
static int8_t expected[MAX_ROWS * AGENT_COUNT];
static size_t row_count;

static int8_t number_of(char letter) {
    static const char letters[] = "DAUI"; // The numbers of robosieve_verdict, in their order.
    const char *at = strchr(letters, letter);
    CHECK(letter != '\0' && at != NULL);
    return (int8_t)(at - letters);
}

static void read_expected(const char *path) {
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL);
    char line[4096];
    size_t end = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        size_t len = strlen(line);
        CHECK(len > AGENT_COUNT + 1 && line[len - 1] == '\n' && line[AGENT_COUNT] == '\t' && row_count < MAX_ROWS);
        for (size_t agent = 0; agent < AGENT_COUNT; agent++) {
            expected[row_count * AGENT_COUNT + agent] = number_of(line[agent]);
        }
        size_t url_len = len - AGENT_COUNT - 2;
        CHECK(end + url_len <= MAX_DATA);
        memcpy(data + end, line + AGENT_COUNT + 1, url_len);
        end += url_len;
        row_count++;
        offsets[row_count] = (int32_t)end;
        offsets64[row_count] = (int64_t)end;
    }
    CHECK(row_count > 300);
    fclose(file);
}

static size_t data_len(void) { return (size_t)offsets[row_count]; }

// A whole file, which the caller frees.
static char *read_file(const char *path, size_t *len) {
    FILE *file = fopen(path, "rb");
    CHECK(file != NULL && fseek(file, 0, SEEK_END) == 0);
    *len = (size_t)ftell(file);
    rewind(file);
    char *bytes = malloc(*len);
    CHECK(bytes != NULL && fread(bytes, 1, *len, file) == *len);
    fclose(file);
    return bytes;
}

static void write_file(const char *path, const char *bytes, size_t len) {
    remove(path); // A snapshot that is still mapped must not change.
    FILE *file = fopen(path, "wb");
    CHECK(file != NULL && fwrite(bytes, 1, len, file) == len);
    CHECK(fclose(file) == 0);
}

static robosieve_snapshot *open_snapshot(const char *path) {
    robosieve_snapshot *snapshot = NULL;
    OK(robosieve_snapshot_open(path, ROBOSIEVE_OPEN_FLAG_VERIFY_CHECKSUMS, &snapshot));
    return snapshot;
}

static robosieve_judge *new_judge(const robosieve_snapshot *snapshot, const char *agent, robosieve_judge_options how) {
    robosieve_judge *judge = NULL;
    how.size = sizeof how;
    OK(robosieve_judge_new(snapshot, &agent, 1, &how, &judge));
    return judge;
}

static int8_t verdict_on(const robosieve_judge *judge, const char *url) {
    int8_t verdict = -1;
    OK(robosieve_judge_url(judge, url, strlen(url), &verdict, 1));
    return verdict;
}

static void test_open(const char *path, const char *not_a_snapshot, const char *directory) {
    char scratch[4096];
    snprintf(scratch, sizeof scratch, "%s/damaged.rsieve", directory);
    // Any pointer: errors set it to NULL.
    robosieve_snapshot *const before = (robosieve_snapshot *)scratch;
    robosieve_snapshot *snapshot = before;
    FAILS(robosieve_snapshot_open(NULL, 0, &snapshot), BAD_ARGUMENT, "path is NULL");
    CHECK(snapshot == NULL);
    FAILS(robosieve_snapshot_open(path, 0, NULL), BAD_ARGUMENT, "out is NULL");
    FAILS(robosieve_snapshot_open(path, 6, &snapshot), BAD_ARGUMENT, "0x6");
    snapshot = before;
    FAILS(robosieve_snapshot_open("no/such/file", 0, &snapshot), IO, "no/such/file: ");
    CHECK(snapshot == NULL);
    FAILS(robosieve_snapshot_open(directory, 0, &snapshot), IO, "directory");
    snapshot = before;
    FAILS(robosieve_snapshot_open(not_a_snapshot, 0, &snapshot), NOT_A_SNAPSHOT, "robosieve compile");
    CHECK(snapshot == NULL);

    size_t len;
    char *bytes = read_file(path, &len);
    write_file(scratch, bytes, 0);
    FAILS(robosieve_snapshot_open(scratch, 0, &snapshot), NOT_A_SNAPSHOT, scratch);
    write_file(scratch, bytes, len - 1);
    FAILS(robosieve_snapshot_open(scratch, 0, &snapshot), CORRUPT, scratch);
    bytes[8]++; // The format version (docs/FORMAT.md).
    write_file(scratch, bytes, len);
    FAILS(robosieve_snapshot_open(scratch, 0, &snapshot), UNSUPPORTED_VERSION, "version");
    bytes[8]--;
    bytes[len - 1] ^= 1;
    write_file(scratch, bytes, len);
    snapshot = before;
    FAILS(robosieve_snapshot_open(scratch, ROBOSIEVE_OPEN_FLAG_VERIFY_CHECKSUMS, &snapshot), CORRUPT, scratch);
    CHECK(snapshot == NULL);
    // Without the flag, only the header is read.
    OK(robosieve_snapshot_open(scratch, 0, &snapshot));
    robosieve_snapshot_close(snapshot);
    free(bytes);

    snapshot = open_snapshot(path);
    CHECK(robosieve_snapshot_byte_len(snapshot) == len);
    robosieve_snapshot_close(snapshot);
    robosieve_snapshot_close(NULL);
}

static void test_bytes(const char *path) {
    size_t len;
    char *bytes = read_file(path, &len);
    robosieve_snapshot *snapshot = NULL;
    OK(robosieve_snapshot_open_bytes(bytes, len, ROBOSIEVE_OPEN_FLAG_VERIFY_CHECKSUMS, &snapshot));
    CHECK(robosieve_snapshot_byte_len(snapshot) == len);
    robosieve_judge *judge = NULL;
    OK(robosieve_judge_new(snapshot, AGENTS, AGENT_COUNT, NULL, &judge));
    robosieve_snapshot_close(snapshot);
    // The library has a copy.
    memset(bytes, 0, len);
    int8_t verdicts[sizeof expected];
    OK(robosieve_judge_rows32(judge, data, data_len(), offsets, row_count, verdicts, sizeof verdicts));
    CHECK(memcmp(verdicts, expected, row_count * AGENT_COUNT) == 0);
    robosieve_judge_close(judge);
    FAILS(robosieve_snapshot_open_bytes(bytes, len, 0, &snapshot), NOT_A_SNAPSHOT, "robosieve compile");
    CHECK(snapshot == NULL);
    FAILS(robosieve_snapshot_open_bytes(NULL, 9, 0, &snapshot), BAD_ARGUMENT, "data is NULL");
    FAILS(robosieve_snapshot_open_bytes(NULL, 0, 0, &snapshot), NOT_A_SNAPSHOT, "empty");
    FAILS(robosieve_snapshot_open_bytes(bytes, len, 4, &snapshot), BAD_ARGUMENT, "0x4");
    free(bytes);
}

static void test_names(const robosieve_snapshot *snapshot) {
    char *text = NULL;
    const char *header = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)";
    OK(robosieve_product_token(header, strlen(header), &text));
    CHECK(strcmp(text, "Googlebot") == 0);
    robosieve_string_free(text);
    OK(robosieve_product_token(NULL, 0, &text));
    CHECK(strcmp(text, "*") == 0);
    robosieve_string_free(text);
    FAILS(robosieve_product_token(NULL, 1, &text), BAD_ARGUMENT, "user_agent is NULL");
    CHECK(text == NULL);
    robosieve_judge_options defaults = {0};
    robosieve_judge *judge = new_judge(snapshot, "GTPBot", defaults);
    OK(robosieve_judge_check_spelling(judge, &text));
    CHECK(strcmp(text, "[{\"agent\":\"GTPBot\",\"joined\":[],"
                       "\"misspelled\":[{\"name\":\"GTPBot\",\"suggestion\":\"GPTBot\"}]}]") == 0);
    robosieve_string_free(text);
    robosieve_judge_close(judge);
    judge = new_judge(snapshot, "GPTBot", defaults);
    OK(robosieve_judge_check_spelling(judge, &text));
    CHECK(strcmp(text, "[]") == 0);
    robosieve_string_free(text);
    robosieve_judge_close(judge);
    FAILS(robosieve_judge_check_spelling(NULL, &text), BAD_ARGUMENT, "judge is NULL");
}

static void test_facts(const char *path) {
    robosieve_snapshot *snapshot = open_snapshot(path), *again = open_snapshot(path);
    uint64_t origins = robosieve_snapshot_origin_count(snapshot);
    CHECK(origins > 40);
    CHECK(robosieve_snapshot_checksum(snapshot) != 0);
    CHECK(robosieve_snapshot_checksum(snapshot) == robosieve_snapshot_checksum(again));
    CHECK(robosieve_snapshot_origin_count(NULL) == 0 && robosieve_snapshot_checksum(NULL) == 0);
    CHECK(robosieve_snapshot_byte_len(NULL) == 0);
    char *json = NULL, key[64];
    OK(robosieve_snapshot_metadata(snapshot, &json));
    snprintf(key, sizeof key, "\"origins\":%" PRIu64, origins);
    CHECK(strstr(json, "\"profile\":\"google\"") != NULL && strstr(json, key) != NULL);
    robosieve_string_free(json);
    robosieve_string_free(NULL);
    FAILS(robosieve_snapshot_metadata(NULL, &json), BAD_ARGUMENT, "snapshot is NULL");
    CHECK(json == NULL);
    FAILS(robosieve_snapshot_metadata(snapshot, NULL), BAD_ARGUMENT, "out is NULL");
    robosieve_snapshot_close(snapshot);
    robosieve_snapshot_close(again);
}

static void test_new_judge(const robosieve_snapshot *snapshot) {
    robosieve_judge *judge = (robosieve_judge *)data;
    FAILS(robosieve_judge_new(NULL, AGENTS, 1, NULL, &judge), BAD_ARGUMENT, "snapshot is NULL");
    CHECK(judge == NULL);
    FAILS(robosieve_judge_new(snapshot, NULL, 1, NULL, &judge), BAD_ARGUMENT, "agents is NULL");
    FAILS(robosieve_judge_new(snapshot, AGENTS, 0, NULL, &judge), BAD_ARGUMENT, "agent_count is 0");
    FAILS(robosieve_judge_new(snapshot, AGENTS, SIZE_MAX / 2, NULL, &judge), BAD_ARGUMENT, "address space");
    FAILS(robosieve_judge_new(snapshot, AGENTS, 1, NULL, NULL), BAD_ARGUMENT, "out is NULL");
    const char *const with_null[] = {"GPTBot", NULL};
    FAILS(robosieve_judge_new(snapshot, with_null, 2, NULL, &judge), BAD_ARGUMENT, "agents[1] is NULL");
    const char *const bad[] = {"Mozilla/5.0 (X)", "", "@nobody", "a\tb", "Foo\xff"};
    for (size_t at = 0; at < COUNT(bad); at++) {
        FAILS(robosieve_judge_new(snapshot, bad + at, 1, NULL, &judge), BAD_AGENT, "agent \"");
        CHECK(judge == NULL);
    }

    OK(robosieve_judge_new(snapshot, AGENTS, AGENT_COUNT, NULL, &judge));
    CHECK(robosieve_judge_agent_count(judge) == AGENT_COUNT);
    for (size_t agent = 0; agent < AGENT_COUNT; agent++) {
        CHECK(strcmp(robosieve_judge_agent_label(judge, agent), AGENTS[agent]) == 0);
    }
    CHECK(robosieve_judge_agent_label(judge, AGENT_COUNT) == NULL);
    CHECK(robosieve_judge_agent_label(NULL, 0) == NULL && robosieve_judge_agent_count(NULL) == 0);
    robosieve_judge_close(judge);
    robosieve_judge_close(NULL);

    // A set becomes its members, except those that are present.
    const char *const names[] = {"ccbot", "@ai-train"};
    OK(robosieve_judge_new(snapshot, names, 2, NULL, &judge));
    size_t count = robosieve_judge_agent_count(judge), ccbots = 0;
    for (size_t agent = 0; agent < count; agent++) {
        const char *label = robosieve_judge_agent_label(judge, agent);
        ccbots += strcmp(label, "ccbot") == 0 || strcmp(label, "CCBot") == 0;
    }
    CHECK(count > 10 && ccbots == 1);
    robosieve_judge_close(judge);
}

static void test_options(const robosieve_snapshot *snapshot) {
    robosieve_judge *judge = NULL;
    const char *agent = "FooBot";
    const robosieve_judge_options defaults = {.size = sizeof defaults};
    robosieve_judge_options options = {0};
    FAILS(robosieve_judge_new(snapshot, &agent, 1, &options, &judge), BAD_ARGUMENT, "options->size is 0");
    options.size = SIZE_MAX;
    FAILS(robosieve_judge_new(snapshot, &agent, 1, &options, &judge), BAD_ARGUMENT, "options->size");
#define BAD_MEMBER(member, value) \
    options = defaults; \
    options.member = value; \
    FAILS(robosieve_judge_new(snapshot, &agent, 1, &options, &judge), BAD_ARGUMENT, "options->" #member " is")
    BAD_MEMBER(status_policy, 8);
    BAD_MEMBER(unknown_origin, -1);
    BAD_MEMBER(agent_match, 2);
    BAD_MEMBER(any_scheme, 2);
    BAD_MEMBER(has_at, INT_MIN);
    // The options of a later version: a larger struct.
    struct {
        robosieve_judge_options options;
        int64_t member;
    } later = {{.size = sizeof later}, 0};
    OK(robosieve_judge_new(snapshot, &agent, 1, &later.options, &judge));
    robosieve_judge_close(judge);
    later.member = INT64_MIN;
    FAILS(robosieve_judge_new(snapshot, &agent, 1, &later.options, &judge), BAD_ARGUMENT, "does not know");
    void *misaligned = (char *)&later + 1;
    FAILS(robosieve_judge_new(snapshot, &agent, 1, misaligned, &judge), BAD_ARGUMENT, "options is not aligned");

    // Each option changes a verdict; datasets/small/README.md describes the sites.
    enum { NO = ROBOSIEVE_VERDICT_DISALLOWED, YES = ROBOSIEVE_VERDICT_ALLOWED, UNKNOWN = ROBOSIEVE_VERDICT_UNKNOWN };
    const struct {
        const char *agent, *url;
        int8_t by_default, verdict;
        robosieve_judge_options options;
    } cases[] = {
        {"FooBot", "https://closed.example/", YES, NO, {.status_policy = ROBOSIEVE_STATUS_POLICY_STRICT}},
        {"FooBot", "https://busy.example/", NO, YES, {.status_policy = ROBOSIEVE_STATUS_POLICY_RFC9309}},
        {"FooBot", "https://busy.example/", NO, NO, {.status_policy = ROBOSIEVE_STATUS_POLICY_GOOGLE}},
        {"FooBot", "https://busy.example/", NO, YES, {.status_policy = ROBOSIEVE_STATUS_POLICY_GOOGLE2012}},
        {"FooBot", "https://busy.example/", NO, YES, {.status_policy = ROBOSIEVE_STATUS_POLICY_GOOGLE2019}},
        {"FooBot", "https://busy.example/", NO, NO, {.status_policy = ROBOSIEVE_STATUS_POLICY_GOOGLE2023}},
        {"FooBot", "https://busy.example/", NO, NO, {.status_policy = ROBOSIEVE_STATUS_POLICY_GOOGLE2026}},
        {"FooBot", "https://nowhere.example/", UNKNOWN, YES, {.unknown_origin = ROBOSIEVE_UNKNOWN_ORIGIN_ALLOW}},
        {"FooBot", "https://nowhere.example/", UNKNOWN, NO, {.unknown_origin = ROBOSIEVE_UNKNOWN_ORIGIN_DISALLOW}},
        {"FooBot", "http://wiki.example/", UNKNOWN, YES, {.any_scheme = 1}},
        {"MJ12bot", "https://shop.example/", NO, YES, {.agent_match = ROBOSIEVE_AGENT_MATCH_GOOGLE}},
        {"FooBot", "https://down.example/", NO, YES, {.has_at = 1, .at = INT64_C(4102444800)}},
        {"FooBot", "https://down.example/", NO, NO, {.has_at = 0, .at = INT64_C(4102444800)}},
    };
    for (size_t at = 0; at < COUNT(cases); at++) {
        robosieve_judge *by_default = new_judge(snapshot, cases[at].agent, defaults);
        judge = new_judge(snapshot, cases[at].agent, cases[at].options);
        int8_t before = verdict_on(by_default, cases[at].url), after = verdict_on(judge, cases[at].url);
        if (before != cases[at].by_default || after != cases[at].verdict) {
            FAIL("case %zu: %s is %d and %d", at, cases[at].url, before, after);
        }
        robosieve_judge_close(by_default);
        robosieve_judge_close(judge);
    }
}

// HISTORY has one site, which is closed from 2026-03-01 to 2026-04-30, and open from 2026-05-01 on.
static void test_times(const char *path) {
    static const char url[] = "https://e.test/page";
    enum { ROWS = 5, URL = sizeof url - 1 };
    enum { NO = ROBOSIEVE_VERDICT_DISALLOWED, YES = ROBOSIEVE_VERDICT_ALLOWED, UNKNOWN = ROBOSIEVE_VERDICT_UNKNOWN };
    static const int64_t march = 1772323200, may = 1777593600;
    char rows[ROWS * URL];
    int32_t starts[ROWS + 1];
    int64_t starts64[ROWS + 1];
    for (int row = 0; row <= ROWS; row++) {
        starts[row] = row * URL;
        starts64[row] = row * URL;
        if (row < ROWS) memcpy(rows + row * URL, url, URL);
    }
    const int64_t times[ROWS] = {march - 1, march, may - 1, may, INT64_MIN};
    const int8_t wanted[ROWS] = {UNKNOWN, NO, NO, YES, UNKNOWN};
    robosieve_snapshot *snapshot = open_snapshot(path);
    robosieve_judge_options options = {.size = sizeof options};
    robosieve_judge *judge = new_judge(snapshot, "FooBot", options);
    int8_t verdicts[ROWS] = {99, 99, 99, 99, 99};
    OK(robosieve_judge_rows32_as_of(judge, rows, sizeof rows, starts, ROWS, times, verdicts, ROWS));
    CHECK(memcmp(verdicts, wanted, ROWS) == 0);
    memset(verdicts, 99, ROWS);
    OK(robosieve_judge_rows64_as_of(judge, rows, sizeof rows, starts64, ROWS, times, verdicts, ROWS));
    CHECK(memcmp(verdicts, wanted, ROWS) == 0);
    FAILS(robosieve_judge_rows32_as_of(judge, rows, sizeof rows, starts, ROWS, NULL, verdicts, ROWS), BAD_ARGUMENT,
          "times is NULL");
    CHECK(verdict_on(judge, url) == YES);
    robosieve_judge_close(judge);
    // A row without a time by the newest rules, and one time for all.
    options.no_time = ROBOSIEVE_NO_TIME_NEWEST;
    judge = new_judge(snapshot, "FooBot", options);
    OK(robosieve_judge_rows32_as_of(judge, rows, sizeof rows, starts, ROWS, times, verdicts, ROWS));
    CHECK(memcmp(verdicts, wanted, ROWS - 1) == 0 && verdicts[ROWS - 1] == YES);
    robosieve_judge_close(judge);
    options.has_as_of = 1;
    options.as_of = may - 1;
    judge = new_judge(snapshot, "FooBot", options);
    CHECK(verdict_on(judge, url) == NO);
    robosieve_judge_close(judge);
    // A program of the first version knows no time.
    options.size = offsetof(robosieve_judge_options, as_of);
    const char *agent = "FooBot";
    OK(robosieve_judge_new(snapshot, &agent, 1, &options, &judge));
    CHECK(verdict_on(judge, url) == YES);
    robosieve_judge_close(judge);
    robosieve_snapshot_close(snapshot);
}

static void test_rows(const robosieve_judge *judge) {
    // Guard bytes after the buffer must stay.
    enum { LEN = MAX_ROWS * AGENT_COUNT };
    static int8_t verdicts[LEN];
    size_t used = row_count * AGENT_COUNT;
    memset(verdicts, 99, LEN);
    OK(robosieve_judge_rows32(judge, data, data_len(), offsets, row_count, verdicts, LEN));
    CHECK(memcmp(verdicts, expected, used) == 0);
    for (size_t at = used; at < LEN; at++) CHECK(verdicts[at] == 99);
    memset(verdicts, 99, LEN);
    OK(robosieve_judge_rows64(judge, data, data_len(), offsets64, row_count, verdicts, used));
    CHECK(memcmp(verdicts, expected, used) == 0);
    // A slice of the column has offsets that start later.
    size_t first = 100;
    OK(robosieve_judge_rows32(judge, data, data_len(), offsets + first, row_count - first, verdicts, LEN));
    CHECK(memcmp(verdicts, expected + first * AGENT_COUNT, used - first * AGENT_COUNT) == 0);

    for (size_t row = 0; row < row_count; row++) {
        int8_t one[AGENT_COUNT + 1] = {0, 0, 0, 0, 0, 77};
        const char *url = data + offsets[row];
        size_t len = (size_t)(offsets[row + 1] - offsets[row]);
        OK(robosieve_judge_url(judge, url, len, one, sizeof one));
        CHECK(memcmp(one, expected + row * AGENT_COUNT, AGENT_COUNT) == 0 && one[AGENT_COUNT] == 77);
    }
    int8_t nothing[AGENT_COUNT];
    OK(robosieve_judge_url(judge, NULL, 0, nothing, AGENT_COUNT));
    CHECK(nothing[0] == ROBOSIEVE_VERDICT_NOT_A_URL);
}

static void test_masks(const robosieve_snapshot *snapshot, const robosieve_judge *judge) {
    static int64_t masks[MAX_ROWS], masks64[MAX_ROWS], without[MAX_ROWS];
    static int8_t unjudged[MAX_ROWS], unjudged64[MAX_ROWS];
    memset(masks, -1, sizeof masks);
    OK(robosieve_judge_masks32(judge, data, data_len(), offsets, row_count, masks, unjudged));
    OK(robosieve_judge_masks64(judge, data, data_len(), offsets64, row_count, masks64, unjudged64));
    OK(robosieve_judge_masks32(judge, data, data_len(), offsets, row_count, without, NULL));
    size_t unjudged_rows = 0;
    for (size_t row = 0; row < row_count; row++) {
        const int8_t *verdicts = expected + row * AGENT_COUNT;
        int64_t mask = 0;
        for (size_t agent = 0; agent < AGENT_COUNT; agent++) {
            mask |= (int64_t)(verdicts[agent] == ROBOSIEVE_VERDICT_ALLOWED) << agent;
        }
        CHECK(masks[row] == mask && masks64[row] == mask && without[row] == mask);
        int8_t kind = verdicts[0] > ROBOSIEVE_VERDICT_ALLOWED ? verdicts[0] : 0;
        CHECK(unjudged[row] == kind && unjudged64[row] == kind);
        unjudged_rows += kind != 0;
    }
    CHECK(unjudged_rows > 5 && masks[row_count] == -1);

    const char *many[64];
    for (size_t at = 0; at < 64; at++) many[at] = "FooBot";
    robosieve_judge *judge63 = NULL, *judge64 = NULL;
    OK(robosieve_judge_new(snapshot, many, 63, NULL, &judge63));
    OK(robosieve_judge_new(snapshot, many, 64, NULL, &judge64));
    OK(robosieve_judge_masks32(judge63, data, data_len(), offsets, row_count, masks, NULL));
    for (size_t row = 0; row < row_count; row++) {
        CHECK(masks[row] == (expected[row * AGENT_COUNT + 4] == ROBOSIEVE_VERDICT_ALLOWED ? INT64_MAX : 0));
    }
    robosieve_status too_many = robosieve_judge_masks32(judge64, data, data_len(), offsets, row_count, masks, NULL);
    FAILS(too_many, BAD_ARGUMENT, "64 agents");
    robosieve_judge_close(judge63);
    robosieve_judge_close(judge64);
}

static void test_allowed(const robosieve_snapshot *snapshot, const robosieve_judge *judge) {
    static int8_t all[MAX_ROWS + 1], any[MAX_ROWS + 1];
    memset(all, 99, sizeof all);
    memset(any, 99, sizeof any);
    OK(robosieve_judge_allowed32(judge, data, data_len(), offsets, row_count, ROBOSIEVE_REQUIRE_ALL, all, MAX_ROWS));
    OK(robosieve_judge_allowed64(judge, data, data_len(), offsets64, row_count, ROBOSIEVE_REQUIRE_ANY, any, row_count));
    size_t differing = 0;
    for (size_t row = 0; row < row_count; row++) {
        size_t count = 0;
        for (size_t agent = 0; agent < AGENT_COUNT; agent++) {
            count += expected[row * AGENT_COUNT + agent] == ROBOSIEVE_VERDICT_ALLOWED;
        }
        CHECK(all[row] == (count == AGENT_COUNT) && any[row] == (count > 0));
        differing += all[row] != any[row];
    }
    CHECK(differing > 5 && all[row_count] == 99 && any[row_count] == 99);

    // An unknown origin is allowed only if the options allow it, and text that is not a URL never.
    static const char column[] = "https://nowhere.example/" "/cart" "https://shop.example/";
    static const int32_t starts[] = {0, 24, 29, 50};
    robosieve_judge_options options = {0};
    int8_t found[3];
    robosieve_judge *other = new_judge(snapshot, "FooBot", options);
    OK(robosieve_judge_allowed32(other, column, sizeof column - 1, starts, 3, 0, found, 3));
    CHECK(found[0] == 0 && found[1] == 0 && found[2] == 1);
    robosieve_judge_close(other);
    options.unknown_origin = ROBOSIEVE_UNKNOWN_ORIGIN_ALLOW;
    other = new_judge(snapshot, "FooBot", options);
    OK(robosieve_judge_allowed32(other, column, sizeof column - 1, starts, 3, 0, found, 3));
    CHECK(found[0] == 1 && found[1] == 0 && found[2] == 1);
    robosieve_judge_close(other);

    const int32_t descending[] = {0, 3, 2};
    FAILS(robosieve_judge_allowed32(NULL, column, 50, starts, 3, 0, found, 3), BAD_ARGUMENT, "judge is NULL");
    FAILS(robosieve_judge_allowed32(judge, column, 50, starts, 3, 2, found, 3), BAD_ARGUMENT, "require is 2");
    FAILS(robosieve_judge_allowed32(judge, column, 50, starts, 3, 0, NULL, 3), BAD_ARGUMENT, "allowed is NULL");
    FAILS(robosieve_judge_allowed32(judge, column, 50, starts, 3, 0, found, 2), BAD_ARGUMENT, "room for 2 of 3 rows");
    FAILS(robosieve_judge_allowed32(judge, column, 50, descending, 2, 0, found, 3), BAD_COLUMN, "descend");
    FAILS(robosieve_judge_allowed64(judge, column, 50, NULL, 2, 0, found, 3), BAD_ARGUMENT, "offsets is NULL");
    OK(robosieve_judge_allowed64(judge, NULL, 0, NULL, 0, 0, NULL, 0));
}

static void release_nothing_of_schema(struct ArrowSchema *schema) { schema->release = NULL; }
static void release_nothing_of_array(struct ArrowArray *array) { array->release = NULL; }

static int bit(const void *bits, size_t at) { return ((const uint8_t *)bits)[at / 8] >> (at % 8) & 1; }

// A column of Arrow with the URLs of expected.tsv after a row that is left out, of which every fifth is null.
static struct ArrowArray arrow_column(const void **buffers, uint8_t *validity, int32_t *shifted) {
    shifted[0] = 0;
    for (size_t row = 0; row < row_count; row++) {
        if (row % 5 != 0) validity[(row + 1) / 8] |= (uint8_t)(1 << ((row + 1) % 8));
    }
    memcpy(shifted + 1, offsets, (row_count + 1) * sizeof *offsets);
    buffers[0] = validity;
    buffers[1] = shifted;
    buffers[2] = data;
    struct ArrowArray array = {.length = (int64_t)row_count,
                               .null_count = -1,
                               .offset = 1,
                               .n_buffers = 3,
                               .buffers = buffers,
                               .release = release_nothing_of_array};
    return array;
}

static void test_arrow(const robosieve_judge *judge) {
    static uint8_t validity[MAX_ROWS / 8 + 1];
    static int32_t shifted[MAX_ROWS + 2];
    const void *buffers[3];
    struct ArrowSchema schema = {.format = "u", .name = "url", .flags = 2, .release = release_nothing_of_schema};
    struct ArrowArray array = arrow_column(buffers, validity, shifted);
    struct ArrowSchema type;
    struct ArrowArray table;
    const uint32_t all = ROBOSIEVE_COLUMN_VERDICTS | ROBOSIEVE_COLUMN_ALLOWED | ROBOSIEVE_COLUMN_REASON |
                         ROBOSIEVE_COLUMN_ORIGIN | ROBOSIEVE_COLUMN_CRAWL_DELAY;
    OK(robosieve_judge_arrow(judge, &array, &schema, all, ROBOSIEVE_REQUIRE_ANY, &table, &type));
    CHECK(strcmp(type.format, "+s") == 0 && table.length == array.length && table.null_count == 0);
    CHECK(type.n_children == 2 * AGENT_COUNT + 3 && table.n_children == type.n_children);
    for (size_t agent = 0; agent < AGENT_COUNT; agent++) {
        struct ArrowArray *column = table.children[agent];
        CHECK(strcmp(type.children[agent]->name, AGENTS[agent]) == 0 && strcmp(type.children[agent]->format, "c") == 0);
        CHECK(column->null_count == (int64_t)((row_count + 4) / 5) && column->n_buffers == 2);
        for (size_t row = 0; row < row_count; row++) {
            CHECK(bit(column->buffers[0], row) == (row % 5 != 0));
            CHECK(row % 5 == 0 || ((const int8_t *)column->buffers[1])[row] == expected[row * AGENT_COUNT + agent]);
        }
    }
    struct ArrowArray *allowed = table.children[AGENT_COUNT], *reason = table.children[AGENT_COUNT + 1],
                      *origin = table.children[AGENT_COUNT + 2];
    CHECK(strcmp(type.children[AGENT_COUNT]->name, "allowed") == 0);
    CHECK(strcmp(type.children[AGENT_COUNT + 2]->format, "U") == 0);
    for (size_t row = 0; row < row_count; row++) {
        int any = 0, is_url = 1;
        for (size_t agent = 0; agent < AGENT_COUNT; agent++) {
            any |= expected[row * AGENT_COUNT + agent] == ROBOSIEVE_VERDICT_ALLOWED;
            is_url &= expected[row * AGENT_COUNT + agent] != ROBOSIEVE_VERDICT_NOT_A_URL;
        }
        CHECK(row % 5 == 0 || bit(allowed->buffers[1], row) == any);
        CHECK(bit(origin->buffers[0], row) == (row % 5 != 0 && is_url));
        // The words of a reason, and the bytes of an origin.
        int8_t number = ((const int8_t *)reason->buffers[1])[row];
        const int64_t *words = reason->dictionary->buffers[1], *ends = origin->buffers[1];
        const char *word = (const char *)reason->dictionary->buffers[2] + words[number];
        size_t word_len = (size_t)(words[number + 1] - words[number]);
        CHECK(row % 5 == 0 || (word_len == 9 && memcmp(word, "not-a-url", 9) == 0) == !is_url);
        // The small data have origins of http, https, ftp and gopher.
        const char *text = (const char *)origin->buffers[2] + ends[row];
        CHECK(ends[row + 1] - ends[row] == 0 || strchr("hfg", text[0]) != NULL);
    }
    CHECK(strncmp(type.children[AGENT_COUNT + 3]->name, "crawl_delay_", 12) == 0);
    CHECK(table.children[AGENT_COUNT + 3]->null_count < (int64_t)row_count);
    // A consumer may keep a column longer than its table.
    struct ArrowArray moved = *table.children[0];
    table.children[0]->release = NULL;
    table.release(&table);
    CHECK(table.release == NULL && ((const int8_t *)moved.buffers[1])[1] == expected[AGENT_COUNT]);
    moved.release(&moved);
    type.release(&type);
    CHECK(type.release == NULL && array.release != NULL && schema.release != NULL);

    array.length = 0;
    OK(robosieve_judge_arrow(judge, &array, &schema, all, 0, &table, &type));
    CHECK(table.length == 0 && table.children[0]->length == 0);
    table.release(&table);
    type.release(&type);
    array.length = (int64_t)row_count;

    schema.format = "l";
    FAILS(robosieve_judge_arrow(judge, &array, &schema, 1, 0, &table, &type), BAD_ARGUMENT, "text or bytes");
    CHECK(table.release == NULL && type.release == NULL);
    schema.format = "u";
    FAILS(robosieve_judge_arrow(judge, &array, &schema, 0, 0, &table, &type), BAD_ARGUMENT, "columns is 0");
    FAILS(robosieve_judge_arrow(judge, &array, &schema, 64, 0, &table, &type), BAD_ARGUMENT, "0x40");
    FAILS(robosieve_judge_arrow(judge, &array, &schema, 1, 7, &table, &type), BAD_ARGUMENT, "require is 7");
    FAILS(robosieve_judge_arrow(judge, NULL, &schema, 1, 0, &table, &type), BAD_ARGUMENT, "array is NULL");
    array.length = -1;
    FAILS(robosieve_judge_arrow(judge, &array, &schema, 1, 0, &table, &type), BAD_ARGUMENT, "array->length is -1");
    array.length = (int64_t)row_count;
    array.n_buffers = 2;
    FAILS(robosieve_judge_arrow(judge, &array, &schema, 1, 0, &table, &type), BAD_ARGUMENT, "n_buffers is 2");
    array.n_buffers = 3;
    shifted[9] = shifted[8] - 1;
    FAILS(robosieve_judge_arrow(judge, &array, &schema, 1, 0, &table, &type), BAD_COLUMN, "offset");
    array.release = NULL;
    FAILS(robosieve_judge_arrow(judge, &array, &schema, 1, 0, &table, &type), BAD_ARGUMENT, "released");
}

static void test_bad_columns(const robosieve_judge *judge) {
    const int32_t good[] = {0, 2, 4}, descending[] = {0, 3, 2}, negative[] = {-1, 2}, beyond[] = {0, 5};
    const int64_t descending64[] = {0, 3, 2}, negative64[] = {-1, 2}, beyond64[] = {0, INT64_MAX};
    const char text[] = "abcd";
    int8_t verdicts[2 * AGENT_COUNT], *room = verdicts;
    int64_t masks[2];
    const size_t len = sizeof verdicts;
    memset(verdicts, 99, len);
    const void *odd_offsets = (const char *)good + 1;
    void *odd_masks = (char *)masks + 1;
    FAILS(robosieve_judge_rows32(NULL, text, 4, good, 2, room, len), BAD_ARGUMENT, "judge is NULL");
    FAILS(robosieve_judge_rows32(judge, NULL, 4, good, 2, room, len), BAD_ARGUMENT, "data is NULL");
    FAILS(robosieve_judge_rows32(judge, text, SIZE_MAX, good, 2, room, len), BAD_ARGUMENT, "data cannot have");
    FAILS(robosieve_judge_rows32(judge, text, 4, NULL, 2, room, len), BAD_ARGUMENT, "offsets is NULL");
    FAILS(robosieve_judge_rows32(judge, text, 4, good, SIZE_MAX, room, len), BAD_ARGUMENT, "offsets cannot have");
    FAILS(robosieve_judge_rows32(judge, text, 4, odd_offsets, 1, room, len), BAD_ARGUMENT, "offsets is not aligned");
    FAILS(robosieve_judge_rows32(judge, text, 4, good, 2, NULL, len), BAD_ARGUMENT, "verdicts is NULL");
    FAILS(robosieve_judge_rows32(judge, text, 4, good, 2, room, len - 1), BAD_ARGUMENT, "9 numbers, too few");
    FAILS(robosieve_judge_rows32(judge, text, 4, descending, 2, room, len), BAD_COLUMN, "the offsets descend");
    FAILS(robosieve_judge_rows32(judge, text, 4, negative, 1, room, len), BAD_COLUMN, "an offset of -1");
    FAILS(robosieve_judge_rows32(judge, text, 4, beyond, 1, room, len), BAD_COLUMN, "an offset of 5 in 4 bytes");
    FAILS(robosieve_judge_rows64(NULL, text, 4, descending64, 2, room, len), BAD_ARGUMENT, "judge is NULL");
    FAILS(robosieve_judge_rows64(judge, text, 4, descending64, 2, room, len), BAD_COLUMN, "the offsets descend");
    FAILS(robosieve_judge_rows64(judge, text, 4, negative64, 1, room, len), BAD_COLUMN, "an offset of -1");
    FAILS(robosieve_judge_rows64(judge, text, 4, beyond64, 1, room, len), BAD_COLUMN, "9223372036854775807");
    FAILS(robosieve_judge_masks32(NULL, text, 4, good, 2, masks, room), BAD_ARGUMENT, "judge is NULL");
    FAILS(robosieve_judge_masks32(judge, text, 4, good, 2, NULL, room), BAD_ARGUMENT, "masks is NULL");
    FAILS(robosieve_judge_masks32(judge, text, 4, good, 2, odd_masks, room), BAD_ARGUMENT, "masks is not aligned");
    FAILS(robosieve_judge_masks32(judge, text, 4, descending, 2, masks, room), BAD_COLUMN, "the offsets descend");
    FAILS(robosieve_judge_masks64(NULL, text, 4, descending64, 2, masks, room), BAD_ARGUMENT, "judge is NULL");
    FAILS(robosieve_judge_masks64(judge, text, 4, beyond64, 1, masks, room), BAD_COLUMN, "an offset of");
    for (size_t at = 0; at < len; at++) CHECK(verdicts[at] == 99);
    FAILS(robosieve_judge_url(NULL, text, 4, room, len), BAD_ARGUMENT, "judge is NULL");
    FAILS(robosieve_judge_url(judge, NULL, 4, room, len), BAD_ARGUMENT, "url is NULL");
    FAILS(robosieve_judge_url(judge, text, 4, NULL, len), BAD_ARGUMENT, "verdicts is NULL");
    FAILS(robosieve_judge_url(judge, text, 4, room, AGENT_COUNT - 1), BAD_ARGUMENT, "room for 4 of 5 agents");
    // Without rows, nothing is read or written.
    OK(robosieve_judge_rows32(judge, NULL, 0, NULL, 0, NULL, 0));
    OK(robosieve_judge_rows64(judge, NULL, 0, NULL, 0, NULL, 0));
    OK(robosieve_judge_masks32(judge, NULL, 0, NULL, 0, NULL, NULL));
    OK(robosieve_judge_masks64(judge, NULL, 0, NULL, 0, NULL, NULL));
}

static void test_explain(const robosieve_judge *judge) {
    const char url[] = "https://shop.example/products/tea-pot?sort=price";
    const size_t len = sizeof url - 1;
    char *json = NULL, *all = NULL;
    OK(robosieve_explain(judge, url, len, 0, 0, &json));
    const char *const parts[] = {
        "\"agent\":\"GPTBot\"", "\"verdict\":\"disallowed\"", "\"origin\":\"https://shop.example\"",
        "\"basis\":\"rules\"", "\"outcome\":\"rules\"", "\"rule\":{", "\"line\":", url,
    };
    for (size_t at = 0; at < COUNT(parts); at++) {
        if (strstr(json, parts[at]) == NULL) FAIL("no %s in %s", parts[at], json);
    }
    OK(robosieve_explain(judge, url, len, 0, ROBOSIEVE_EXPLAIN_FLAG_ALL_RULES, &all));
    CHECK(strlen(all) > strlen(json) && strstr(all, "\"reason\":\"no-match\"") != NULL);
    robosieve_string_free(all);
    robosieve_string_free(json);
    OK(robosieve_explain(judge, "a\0b\xff", 4, 4, 0, &json));
    CHECK(strstr(json, "\"url\":\"a\\u0000b\xef\xbf\xbd\"") != NULL && strstr(json, "\"verdict\":\"invalid\"") != NULL);
    robosieve_string_free(json);
    json = data;
    FAILS(robosieve_explain(judge, url, len, 5, 0, &json), BAD_ARGUMENT, "agent is 5, but the judge has 5");
    CHECK(json == NULL);
    FAILS(robosieve_explain(judge, url, len, 0, 2, &json), BAD_ARGUMENT, "0x2");
    FAILS(robosieve_explain(judge, url, len, 0, 0, NULL), BAD_ARGUMENT, "out is NULL");
    FAILS(robosieve_explain(judge, NULL, len, 0, 0, &json), BAD_ARGUMENT, "url is NULL");
    FAILS(robosieve_explain(NULL, url, len, 0, 0, &json), BAD_ARGUMENT, "judge is NULL");
}

static void test_lists(const char *path, const char *snapshot_path) {
    robosieve_lists *lists = (robosieve_lists *)data;
    FAILS(robosieve_lists_open(NULL, 0, &lists), BAD_ARGUMENT, "path is NULL");
    CHECK(lists == NULL);
    FAILS(robosieve_lists_open(path, 2, &lists), BAD_ARGUMENT, "0x2");
    FAILS(robosieve_lists_open(path, 0, NULL), BAD_ARGUMENT, "out is NULL");
    FAILS(robosieve_lists_open("/missing", 0, &lists), IO, "/missing");
    FAILS(robosieve_lists_open(snapshot_path, 0, &lists), NOT_FILTER_LISTS, "a robosieve snapshot");
    OK(robosieve_lists_open(path, ROBOSIEVE_OPEN_FLAG_VERIFY_CHECKSUMS, &lists));
    CHECK(robosieve_lists_count(lists) == 2 && robosieve_lists_count(NULL) == 0);
    CHECK(strcmp(robosieve_lists_name(lists, 0), "ads") == 0 && strcmp(robosieve_lists_name(lists, 1), "shop") == 0);
    CHECK(robosieve_lists_name(lists, 2) == NULL && robosieve_lists_name(NULL, 0) == NULL);

    static const char urls[] = "https://www.ads.example/x"   // listed by the first
                               "https://good.ads.example/"   // an exception
                               "https://shop.example/cart/1" // listed by the second
                               "https://shop.example/tea"
                               "not a URL";
    static const int32_t starts[] = {0, 25, 50, 77, 101, 110};
    static const int32_t wanted[] = {0, -1, 1, -1, -1};
    int64_t starts64[COUNT(starts)];
    for (size_t at = 0; at < COUNT(starts); at++) starts64[at] = starts[at];
    int32_t listed[COUNT(wanted)], listed64[COUNT(wanted)];
    const size_t len = sizeof urls - 1, rows = COUNT(wanted);
    OK(robosieve_lists_rows32(lists, urls, len, starts, rows, listed, rows));
    OK(robosieve_lists_rows64(lists, urls, len, starts64, rows, listed64, rows));
    CHECK(memcmp(listed, wanted, sizeof wanted) == 0 && memcmp(listed64, wanted, sizeof wanted) == 0);
    OK(robosieve_lists_rows32(lists, NULL, 0, NULL, 0, NULL, 0));
    FAILS(robosieve_lists_rows32(lists, urls, len, starts, rows, listed, rows - 1), BAD_ARGUMENT, "room for 4 of 5");
    FAILS(robosieve_lists_rows32(lists, urls, len - 1, starts, rows, listed, rows), BAD_COLUMN, "");
    FAILS(robosieve_lists_rows64(NULL, urls, len, starts64, rows, listed, rows), BAD_ARGUMENT, "lists is NULL");

    char *json = data;
    OK(robosieve_lists_find(lists, urls + starts[1], 25, &json));
    CHECK(strstr(json, "\"is_exception\":true") != NULL && strstr(json, "\"lists\":[\"ads\"]") != NULL);
    CHECK(strstr(json, "\"entry\":\"@@good.ads.example\"") != NULL);
    robosieve_string_free(json);
    OK(robosieve_lists_find(lists, urls + starts[3], 24, &json));
    CHECK(json == NULL);
    FAILS(robosieve_lists_find(lists, NULL, 1, &json), BAD_ARGUMENT, "url is NULL");
    FAILS(robosieve_lists_find(lists, urls, 1, NULL), BAD_ARGUMENT, "out is NULL");
    robosieve_lists_close(lists);
    robosieve_lists_close(NULL);
}

static void *judge_in_thread(void *argument) {
    const robosieve_judge *judge = argument;
    // The last error belongs to the thread.
    CHECK(robosieve_last_error()[0] == '\0');
    int8_t *verdicts = malloc(row_count * AGENT_COUNT);
    CHECK(verdicts != NULL);
    for (int round = 0; round < 20; round++) {
        OK(robosieve_judge_rows32(judge, data, data_len(), offsets, row_count, verdicts, row_count * AGENT_COUNT));
        CHECK(memcmp(verdicts, expected, row_count * AGENT_COUNT) == 0);
        char *json = NULL;
        OK(robosieve_explain(judge, "https://news.example/", 21, 1, 0, &json));
        robosieve_string_free(json);
    }
    FAILS(robosieve_judge_url(judge, NULL, 1, verdicts, AGENT_COUNT), BAD_ARGUMENT, "url is NULL");
    free(verdicts);
    return NULL;
}

static void test_threads(const robosieve_judge *judge) {
    pthread_t threads[8];
    int8_t verdicts[AGENT_COUNT];
    FAILS(robosieve_judge_url(judge, "x", 1, verdicts, 2), BAD_ARGUMENT, "room for 2 of 5");
    const char *message = robosieve_last_error();
    for (size_t at = 0; at < COUNT(threads); at++) {
        CHECK(pthread_create(threads + at, NULL, judge_in_thread, (void *)judge) == 0);
    }
    for (size_t at = 0; at < COUNT(threads); at++) CHECK(pthread_join(threads[at], NULL) == 0);
    // Neither other threads nor a success change it.
    OK(robosieve_judge_url(judge, "x", 1, verdicts, AGENT_COUNT));
    CHECK(strstr(robosieve_last_error(), "room for 2 of 5") != NULL && message == robosieve_last_error());
}

// Flips bits all over the file. Every answer is a status; some are CORRUPT, and nothing crashes.
static void test_robots(void) {
    static const char body[] = "User-agent: *\nDisallow: /cart\nAllow: /cart/help\nCrawl-delay: 2.5\n"
                               "User-agent: GPTBot\nUser-agent: MJ12bot\nDisallow: /\n"
                               "Sitemap: https://shop.example/a.xml\nSitemap: /b.xml\n";
    robosieve_robots *robots = (robosieve_robots *)data;
    FAILS(robosieve_robots_parse(NULL, 1, 0, &robots), BAD_ARGUMENT, "body is NULL");
    CHECK(robots == NULL);
    FAILS(robosieve_robots_parse(body, 1, 2, &robots), BAD_ARGUMENT, "profile is 2");
    FAILS(robosieve_robots_parse(body, 1, 0, NULL), BAD_ARGUMENT, "out is NULL");
    OK(robosieve_robots_parse(NULL, 0, ROBOSIEVE_PROFILE_RFC9309, &robots));
    CHECK(robosieve_robots_sitemap_count(robots) == 0);
    robosieve_robots_close(robots);
    OK(robosieve_robots_parse(body, sizeof body - 1, ROBOSIEVE_PROFILE_GOOGLE, &robots));

    static const struct {
        const char *agent, *url;
        int32_t match, allowed;
    } cases[] = {
        {"FooBot", "/", 0, 1},
        {"FooBot", "/cart/1", 0, 0},
        {"FooBot/1.0", "https://shop.example/cart/help?x", 0, 1},
        {"gptbot", "https://shop.example", 0, 0},
        {"Nobody:GPTBot", "/", 0, 0},
        // No group can name it for Google's parser.
        {"MJ12bot", "/", ROBOSIEVE_AGENT_MATCH_EXTENDED, 0},
        {"MJ12bot", "/", ROBOSIEVE_AGENT_MATCH_GOOGLE, 1},
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int32_t allowed = -1;
        OK(robosieve_robots_allows(robots, cases[i].agent, cases[i].url, strlen(cases[i].url), cases[i].match,
                                   &allowed));
        CHECK(allowed == cases[i].allowed);
    }
    int32_t allowed = 1;
    FAILS(robosieve_robots_allows(NULL, "a", "/", 1, 0, &allowed), BAD_ARGUMENT, "robots is NULL");
    CHECK(allowed == 0);
    FAILS(robosieve_robots_allows(robots, "@ai", "/", 1, 0, &allowed), BAD_AGENT, "@ai");
    FAILS(robosieve_robots_allows(robots, "\xff", "/", 1, 0, &allowed), BAD_AGENT, "UTF-8");
    FAILS(robosieve_robots_allows(robots, NULL, "/", 1, 0, &allowed), BAD_ARGUMENT, "agent is NULL");
    FAILS(robosieve_robots_allows(robots, "a", NULL, 1, 0, &allowed), BAD_ARGUMENT, "url is NULL");
    FAILS(robosieve_robots_allows(robots, "a", "/", 1, 2, &allowed), BAD_ARGUMENT, "agent_match is 2");
    FAILS(robosieve_robots_allows(robots, "a", "/", 1, 0, NULL), BAD_ARGUMENT, "allowed is NULL");

    // A column with rows of both verdicts, from a later offset.
    static const char column[] = "--/cart/1/cart/helphttps://shop.example/cart";
    static const int32_t ends32[] = {2, 9, 19, 19, 44};
    static const int64_t ends64[] = {2, 9, 19, 19, 44};
    int8_t found[5] = {9, 9, 9, 9, 9};
    OK(robosieve_robots_rows32(robots, "FooBot", 0, column, sizeof column - 1, ends32, 4, found, 4));
    CHECK(found[0] == 0 && found[1] == 1 && found[2] == 1 && found[3] == 0 && found[4] == 9);
    memset(found, 9, sizeof found);
    OK(robosieve_robots_rows64(robots, "GPTBot", 0, column, sizeof column - 1, ends64, 4, found, 5));
    CHECK(found[0] == 0 && found[1] == 0 && found[2] == 0 && found[3] == 0 && found[4] == 9);
    OK(robosieve_robots_rows32(robots, "FooBot", 0, NULL, 0, NULL, 0, NULL, 0));
    FAILS(robosieve_robots_rows32(robots, "a", 0, column, 43, ends32, 4, found, 4), BAD_COLUMN, "44 in 43");
    FAILS(robosieve_robots_rows32(robots, "a", 0, column, 44, ends32, 4, found, 3), BAD_ARGUMENT, "3 of 4 rows");
    FAILS(robosieve_robots_rows32(NULL, "a", 0, column, 44, ends32, 4, found, 4), BAD_ARGUMENT, "robots is NULL");
    FAILS(robosieve_robots_rows64(robots, "a", 2, column, 44, ends64, 4, found, 4), BAD_ARGUMENT, "agent_match is 2");

    char *json = NULL;
    OK(robosieve_robots_explain(robots, "FooBot", "/cart/1", 7, 0, 0, &json));
    CHECK(strstr(json, "\"verdict\":\"disallowed\"") && strstr(json, "\"line\":2"));
    robosieve_string_free(json);
    FAILS(robosieve_robots_explain(robots, "@ai", "/", 1, 0, 0, &json), BAD_AGENT, "@ai");
    CHECK(json == NULL);
    FAILS(robosieve_robots_explain(robots, "a", "/", 1, 0, 2, &json), BAD_ARGUMENT, "0x2");

    // Responses: rules, none, a failing site, and a redirect.
    static const struct {
        int32_t status, policy, allowed;
    } responses[] = {{200, 0, 0}, {404, 0, 1}, {503, 0, 0}, {429, 0, 0}, {429, ROBOSIEVE_STATUS_POLICY_RFC9309, 1},
                     {403, ROBOSIEVE_STATUS_POLICY_STRICT, 0}, {0, 0, 0}};
    for (size_t i = 0; i < COUNT(responses); i++) {
        robosieve_robots *answer = NULL;
        OK(robosieve_robots_from_response(responses[i].status, body, sizeof body - 1, 0, responses[i].policy, &answer));
        OK(robosieve_robots_allows(answer, "FooBot", "/cart/1", 7, 0, &allowed));
        CHECK(allowed == responses[i].allowed);
        OK(robosieve_robots_explain(answer, "FooBot", "/cart/1", 7, 0, ROBOSIEVE_EXPLAIN_FLAG_ALL_RULES, &json));
        CHECK((strstr(json, "\"basis\":\"rules\"") != NULL) == (responses[i].status == 200));
        robosieve_string_free(json);
        robosieve_robots_close(answer);
    }
    robosieve_robots *answer = (robosieve_robots *)data;
    FAILS(robosieve_robots_from_response(301, NULL, 0, 0, 0, &answer), BAD_ARGUMENT, "a redirect");
    CHECK(answer == NULL);
    FAILS(robosieve_robots_from_response(304, NULL, 0, 0, 0, &answer), BAD_ARGUMENT, "304");
    FAILS(robosieve_robots_from_response(-1, NULL, 0, 0, 0, &answer), BAD_ARGUMENT, "status is -1");
    FAILS(robosieve_robots_from_response(200, NULL, 0, 0, 8, &answer), BAD_ARGUMENT, "status_policy is 8");

    double seconds = 0;
    OK(robosieve_robots_crawl_delay(robots, "FooBot", 0, &seconds));
    CHECK(seconds == 2.5);
    OK(robosieve_robots_crawl_delay(robots, "GPTBot", 0, &seconds));
    CHECK(seconds == -1);
    FAILS(robosieve_robots_crawl_delay(robots, "", 0, &seconds), BAD_AGENT, "a name is missing");
    FAILS(robosieve_robots_crawl_delay(robots, "a", 0, NULL), BAD_ARGUMENT, "seconds is NULL");

    size_t len = 7;
    CHECK(robosieve_robots_sitemap_count(robots) == 2 && robosieve_robots_sitemap_count(NULL) == 0);
    const char *sitemap = robosieve_robots_sitemap(robots, 1, &len);
    CHECK(len == 6 && memcmp(sitemap, "/b.xml", len) == 0);
    CHECK(robosieve_robots_sitemap(robots, 2, &len) == NULL && len == 0);
    CHECK(robosieve_robots_sitemap(NULL, 0, &len) == NULL && robosieve_robots_sitemap(robots, 0, NULL) == NULL);
    robosieve_robots_close(robots);
    robosieve_robots_close(NULL);
}

static void test_damage(const char *path, const char *directory) {
    char scratch[4096];
    snprintf(scratch, sizeof scratch, "%s/flipped.rsieve", directory);
    static int8_t verdicts[MAX_ROWS * AGENT_COUNT];
    static int64_t masks[MAX_ROWS];
    size_t len, at_open = 0, at_rows = 0, at_explain = 0;
    char *bytes = read_file(path, &len);
    for (size_t at = 3; at < len; at += 97) {
        bytes[at] ^= (char)(1 << at % 8);
        write_file(scratch, bytes, len);
        bytes[at] ^= (char)(1 << at % 8);
        robosieve_snapshot *snapshot = NULL;
        robosieve_judge *judge = NULL;
        char *json = NULL;
        robosieve_status status = robosieve_snapshot_open(scratch, ROBOSIEVE_OPEN_FLAG_VERIFY_CHECKSUMS, &snapshot);
        robosieve_snapshot_close(snapshot);
        at_open += status == ROBOSIEVE_STATUS_CORRUPT;
        if (robosieve_snapshot_open(scratch, 0, &snapshot) != ROBOSIEVE_STATUS_OK) continue;
        status = robosieve_judge_new(snapshot, AGENTS, AGENT_COUNT, NULL, &judge);
        CHECK(status == ROBOSIEVE_STATUS_OK || status == ROBOSIEVE_STATUS_CORRUPT);
        if (status == ROBOSIEVE_STATUS_OK) {
            status = robosieve_judge_rows32(judge, data, data_len(), offsets, row_count, verdicts, sizeof verdicts);
            CHECK(status == ROBOSIEVE_STATUS_OK || status == ROBOSIEVE_STATUS_CORRUPT);
            at_rows += status == ROBOSIEVE_STATUS_CORRUPT;
            CHECK(robosieve_judge_masks64(judge, data, data_len(), offsets64, row_count, masks, NULL) == status);
            for (size_t row = at % 16; row < row_count; row += 16) {
                size_t url_len = (size_t)(offsets[row + 1] - offsets[row]);
                status = robosieve_explain(judge, data + offsets[row], url_len, row % AGENT_COUNT, 0, &json);
                CHECK(status == ROBOSIEVE_STATUS_OK || (status == ROBOSIEVE_STATUS_CORRUPT && json == NULL));
                at_explain += status == ROBOSIEVE_STATUS_CORRUPT;
                robosieve_string_free(json);
            }
        }
        status = robosieve_snapshot_metadata(snapshot, &json);
        CHECK(status == ROBOSIEVE_STATUS_OK || status == ROBOSIEVE_STATUS_CORRUPT);
        robosieve_string_free(json);
        robosieve_judge_close(judge);
        robosieve_snapshot_close(snapshot);
    }
    printf("flipped bits: %zu found by checksums, %zu by rows, %zu by explanations\n", at_open, at_rows, at_explain);
    CHECK(at_open > len / 97 / 2 && at_rows > 0 && at_explain > 0);
    free(bytes);
}

int main(int argc, char **argv) {
    CHECK(argc == 6);
    CHECK(robosieve_last_error()[0] == '\0');
    CHECK(strchr(robosieve_version(), '.') != NULL);
    read_expected(argv[2]);
    test_open(argv[1], argv[2], argv[3]);
    test_facts(argv[1]);
    test_bytes(argv[1]);
    test_robots();

    robosieve_snapshot *snapshot = open_snapshot(argv[1]);
    test_new_judge(snapshot);
    test_options(snapshot);
    test_names(snapshot);
    robosieve_judge *judge = NULL;
    OK(robosieve_judge_new(snapshot, AGENTS, AGENT_COUNT, NULL, &judge));
    test_masks(snapshot, judge);
    test_allowed(snapshot, judge);
    // A judge keeps its snapshot.
    robosieve_snapshot_close(snapshot);
    test_rows(judge);
    test_arrow(judge);
    test_bad_columns(judge);
    test_explain(judge);
    test_threads(judge);
    robosieve_judge_close(judge);
    test_damage(argv[1], argv[3]);
    test_times(argv[4]);
    test_lists(argv[5], argv[1]);
    printf("robosieve %s: all tests of the C interface passed, with %zu URLs\n", robosieve_version(), row_count);
    return 0;
}
