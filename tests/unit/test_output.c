/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/text_lines.h"
#include "core/input.h"
#include "core/memory.h"
#include "core/output.h"
#include "core/text.h"
#include "core/unfinished.h"
#include "unit/tap.h"

#include <dirent.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PATH_SIZE = 256, LINES = 40000 };

static const struct output_options plain = {0}, replacing = {.replace = true}, patchable = {.patchable = true};

/* How many entries the test's directory (the current one) has: none may be left over. */
static int entries(void)
{
    int count = 0;
    DIR *here = opendir(".");
    for (struct dirent *entry; here && (entry = readdir(here));)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (here)
        closedir(here);
    return count;
}

/* All of a small file, through the other half of the house. */
static const char *content(const char *path)
{
    static char text[64];
    struct error err = {0};
    struct input *input = input_open(path, &err);
    if (!input)
        return NULL;
    if (input_need(input, sizeof text - 1, &err) == STATUS_FAILED)
        return NULL;
    size_t length = input_available(input) < sizeof text - 1 ? input_available(input) : sizeof text - 1;
    memcpy(text, input->at, length);
    text[length] = '\0';
    input_close(input);
    return text;
}

static enum status put(const char *path, struct output_options options, const char *text, struct error *err)
{
    *err = (struct error){0};
    struct output *output = output_open(path, options, err);
    if (!output)
        return STATUS_FAILED;
    output_text(output, text);
    return output_close(output, true, err);
}

static int mode_of(const char *path)
{
    struct stat about;
    return stat(path, &about) < 0 ? -1 : (int)about.st_mode & 0777;
}

/* Files without a name leave nothing behind, even if the program is killed. Not all file systems have them. */
static bool have_nameless(void)
{
    int fd = open(".", O_TMPFILE | O_RDWR, 0600);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

static void test_whole_or_not(void)
{
    struct error err = {0};
    umask(027);
    struct output *output = output_open("a", plain, &err);
    output_text(output, "half");
    output_flush(output);
    tap_ok(access("a", F_OK) < 0, "not there before it is whole");
    tap_equal_int(entries(), have_nameless() ? 0 : 1, "nor is it, but under another name where all have one");
    tap_equal_int(output_close(output, false, &err), STATUS_OK, "dropped");
    tap_equal_int(entries(), 0, "nothing is left");
    tap_equal_int(put("a", plain, "first", &err), STATUS_OK, "written");
    tap_equal_string(content("a"), "first", "and there");
    tap_equal_int(mode_of("a"), 0640, "its mode follows the umask");
    tap_equal_int(put("a", plain, "second", &err), STATUS_FAILED, "not replaced");
    tap_equal_string(err.text, "a: exists (use -f to replace it)", "which is said");
    tap_equal_int(err.kind, ERROR_OUTPUT, "as a fault of the output");
    chmod("a", 0604);
    output = output_open("a", replacing, &err);
    output_text(output, "third");
    output_flush(output);
    tap_equal_string(content("a"), "first", "the old one stays until the new one is whole");
    tap_equal_int(output_close(output, true, &err), STATUS_OK, "replaced");
    tap_equal_string(content("a"), "third", "by the new one");
    tap_equal_int(mode_of("a"), 0604, "which takes its mode");
    output = output_open("b", plain, &err);
    output_text(output, "mine");
    put("b", plain, "theirs", &err);
    tap_equal_int(output_close(output, true, &err), STATUS_FAILED, "a file made meanwhile is not replaced");
    tap_equal_string(err.text, "b: exists (use -f to replace it)", "which is said");
    tap_equal_string(content("b"), "theirs", "it stays");
    tap_equal_int(entries(), 2, "nothing else is left");
    unlink("a");
    unlink("b");
}

static void test_links(void)
{
    struct error err = {0};
    mkdir("d", 0777);
    tap_ok(symlink("d/target", "link") == 0 && symlink("link", "link2") == 0, "links made");
    tap_equal_int(put("link2", plain, "one", &err), STATUS_OK, "through a dangling link");
    tap_equal_string(content("d/target"), "one", "to where it points");
    tap_equal_int(put("link2", plain, "two", &err), STATUS_FAILED, "what is behind the link is not replaced");
    tap_equal_int(put("link2", replacing, "two", &err), STATUS_OK, "but if asked to");
    tap_equal_string(content("d/target"), "two", "at the link's end");
    struct stat about;
    tap_ok(lstat("link2", &about) == 0 && S_ISLNK(about.st_mode), "the link stays a link");
    unlink("link");
    tap_ok(symlink("link2", "link") == 0, "a circle");
    tap_equal_int(put("link2", replacing, "two", &err), STATUS_FAILED, "is a fault");
    tap_equal_string(err.text, "link2: cannot create: Too many levels of symbolic links", "which is said");
    unlink("link");
    unlink("link2");
    unlink("d/target");
    tap_equal_int(put("d", replacing, "x", &err), STATUS_FAILED, "a directory is not written");
    tap_equal_string(err.text, "d: is a directory", "which is said");
    tap_equal_int(put("d/e/f", plain, "x", &err), STATUS_FAILED, "nor a file in none");
    tap_equal_string(err.text, "d/e/f: cannot create: No such file or directory", "which is said");
    tap_equal_int(put("", plain, "x", &err), STATUS_FAILED, "nor one without name");
    rmdir("d");
    char name[256];
    memset(name, 'n', sizeof name - 1);
    name[255] = '\0';
    tap_equal_int(put(name, plain, "long", &err), STATUS_OK, "the longest name");
    tap_equal_string(content(name), "long", "is there");
    unlink(name);
    tap_equal_int(entries(), 0, "nothing is left");
}

static void test_full(void)
{
    struct error err = {0};
    struct output *output = output_open("/dev/full", plain, &err);
    for (int i = 0; output && i < LINES; i++)
        output_print(output, "%s %d\n", "line", i);
    tap_ok(output && output_position(output) > 300000, "a full device still takes what is written");
    tap_ok(output && output->fault.kind == ERROR_OUTPUT, "the fault is kept");
    tap_equal_int(output_close(output, true, &err), STATUS_FAILED, "and reported at the end");
    tap_equal_string(err.text, "/dev/full: cannot write: No space left on device", "in words");
    tap_equal_int(put("/dev/null", plain, "x", &err), STATUS_OK, "a device is there, but not replaced");
    setenv("TMPDIR", "/nowhere", 1);
    tap_equal_int(put("/dev/null", patchable, "x", &err), STATUS_FAILED, "no room for what is to be patched");
    unsetenv("TMPDIR");
}

/* Writes numbers, then changes one that is in the file, one that is in the buffer and one that is in both. */
static void test_patch(const char *path)
{
    struct error err = {0};
    struct output *output = output_open(path, (struct output_options){.replace = true, .patchable = true}, &err);
    if (!tap_ok(output, "%s: opened to be patched", path))
        return;
    uint32_t number = 0;
    for (; number < LINES; number++)
        output_write(output, &number, sizeof number);
    tap_equal_int((long long)output_position(output), LINES * 4, "%s: position", path);
    tap_ok(output->written > 100 && output->written < LINES * 4, "%s: some is written, some is not", path);
    uint32_t ones = UINT32_MAX;
    uint64_t edge = output->written - 2, places[] = {0, LINES * 4 - 4, edge};
    for (int i = 0; i < 3; i++)
        output_patch(output, places[i], &ones, sizeof ones);
    tap_equal_int(output_close(output, true, &err), STATUS_OK, "%s: closed", path);
    struct input *input = input_open(path, &err);
    tap_equal_int(input_need(input, LINES * 4, &err), STATUS_OK, "%s: all is there", path);
    const unsigned char *at = input->at;
    int wrong = 0;
    for (uint32_t i = 1; i < LINES - 1; i++)
        wrong += memcmp(at + 4 * i, &i, 4) != 0;
    tap_ok(memcmp(at, &ones, 4) == 0 && memcmp(at + LINES * 4 - 4, &ones, 4) == 0, "%s: begin and end", path);
    tap_ok(memcmp(at + edge, &ones, 4) == 0 && wrong == 2, "%s: across the buffer's edge", path);
    tap_ok(input_need(input, LINES * 4 + 1, &err) == STATUS_END && !input->fault, "%s: no more", path);
    input_close(input);
    unlink(path);
}

static void test_compressed(const char *path)
{
    struct error err = {0};
    struct output *output = output_open(path, plain, &err);
    for (int i = 0; i < LINES; i++)
        output_print(output, "%08d\n", i);
    tap_equal_int(output_close(output, true, &err), STATUS_OK, "%s: closed", path);
    struct stat about;
    tap_ok(stat(path, &about) == 0 && about.st_size < LINES * 9 / 2, "%s: smaller", path);
    struct input *input = input_open(path, &err);
    int same = 0;
    for (char line[16]; input_need(input, 9, &err) == STATUS_OK; input_consume(input, 9)) {
        snprintf(line, sizeof line, "%08d\n", same);
        same += memcmp(line, input->at, 9) == 0;
    }
    tap_equal_int(same, LINES, "%s: all lines", path);
    tap_ok(input->ended && !input->fault, "%s: whole", path);
    input_close(input);
    unlink(path);
    test_patch(path);
    tap_equal_int(put(path, plain, "", &err), STATUS_OK, "%s: empty", path);
    tap_equal_string(content(path), "", "%s: is empty", path);
    unlink(path);
}

/* The i-th byte of data that can be packed, but not to nothing. */
static unsigned char frame_byte(size_t i)
{
    uint64_t hash = (i >> 3) * UINT64_C(0x9E3779B97F4A7C15);
    return (unsigned char)(i % 8 < 6 ? i >> 12 : hash >> 60);
}

/* A file of so many bytes, in pieces of uneven length; its first byte is written last. */
static enum status write_frames(const char *path, size_t size, bool patch, struct error *err)
{
    struct output *output = output_open(path, patch ? patchable : plain, err);
    if (!output)
        return STATUS_FAILED;
    for (size_t at = 0; at < size; at++) {
        unsigned char byte = patch && at == 0 ? 0xFF : frame_byte(at);
        output_write(output, &byte, 1);
    }
    unsigned char first = frame_byte(0);
    if (patch && size > 0)
        output_patch(output, 0, &first, 1);
    return output_close(output, true, err);
}

static size_t right_bytes(const char *path)
{
    struct error err = {0};
    struct input *input = input_open(path, &err);
    size_t count = 0;
    while (input && input_need(input, 1, &err) == STATUS_OK && *input->at == frame_byte(count)) {
        input_consume(input, 1);
        count++;
    }
    if (!input || !input->ended || input->fault)
        count = SIZE_MAX;
    input_close(input);
    return count;
}

static bool same_bytes(const char *left, const char *right)
{
    char command[PATH_SIZE];
    snprintf(command, sizeof command, "cmp -s %s %s", left, right);
    return system(command) == 0;
}

/* Several threads pack what one packs, whether the beginning is held or not. */
static void test_frames(void)
{
    enum { FRAME = 1 << 20 };
    static const size_t sizes[] = {0, 1, FRAME - 1, FRAME, FRAME + 1, 2 * FRAME, 9 * FRAME + 5, 20 * FRAME};
    struct error err = {0};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        for (unsigned threads = 1; threads <= 5; threads += 2) {
            output_pack_threads(threads);
            enum status status = write_frames("plain.zst", sizes[i], false, &err);
            tap_ok(status == STATUS_OK && right_bytes("plain.zst") == sizes[i], "%zu bytes by %u threads", sizes[i],
                   threads);
            status = write_frames("held.zst", sizes[i], true, &err);
            tap_ok(status == STATUS_OK && same_bytes("held.zst", "plain.zst"), "%zu bytes, the first one last",
                   sizes[i]);
            if (threads == 1)
                rename("plain.zst", "one.zst");
            else
                tap_ok(same_bytes("plain.zst", "one.zst"), "%zu bytes, as by one thread", sizes[i]);
            unlink("plain.zst");
            unlink("held.zst");
        }
        unlink("one.zst");
    }
    /* Given up in the middle. */
    struct output *output = output_open("given-up.zst", patchable, &err);
    for (size_t at = 0; at < 7 * FRAME; at++)
        output_write(output, "x", 1);
    tap_ok(output_close(output, false, &err) == STATUS_OK && access("given-up.zst", F_OK) < 0,
           "nothing is left of what is given up");
    output_pack_threads(1);
}

static void test_fifo(void)
{
    struct error err = {0};
    mkfifo("fifo", 0600);
    pid_t writer = fork();
    if (writer == 0)
        _exit(put("fifo", patchable, "through the pipe", &err) != STATUS_OK);
    tap_equal_string(content("fifo"), "through the pipe", "a FIFO is written directly");
    int status = 1;
    waitpid(writer, &status, 0);
    tap_equal_int(status, 0, "without a fault");
    struct stat about;
    tap_ok(stat("fifo", &about) == 0 && S_ISFIFO(about.st_mode), "and stays one");

    signal(SIGPIPE, SIG_IGN);
    int ends[2], saved = dup(STDOUT_FILENO);
    if (pipe(ends) < 0)
        return;
    fflush(stdout);
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    enum status result = put("-", plain, "nobody reads this", &err);
    dup2(saved, STDOUT_FILENO);
    close(saved);
    tap_equal_int(result, STATUS_FAILED, "nobody reads standard output");
    tap_ok(err.broken_pipe, "which is recognised");
    tap_equal_string(err.text, "standard output: cannot write: Broken pipe", "in words");
    unlink("fifo");
}

static void test_long_text(void)
{
    struct error err = {0};
    enum { LENGTH = 200000 };
    char *text = memory_new(LENGTH + 1);
    memset(text, 'x', LENGTH);
    struct output *output = output_open("long", plain, &err);
    output_print(output, "%d%s%d", 1, text, 2);
    for (int i = 0; i < 100; i++) {
        memcpy(output_room(output, 32 * 1024), text, 32 * 1024);
        output->at += 32 * 1024;
    }
    tap_equal_int((long long)output_position(output), LENGTH + 2 + 3276800, "position behind a long text");
    tap_equal_int(output_close(output, true, &err), STATUS_OK, "long texts");
    struct stat about;
    tap_ok(stat("long", &about) == 0 && about.st_size == LENGTH + 2 + 3276800, "are all there");
    unlink("long");
    free(text);
}

/* As output_close does before it moves a file to its place. */
static int file_with_name(char *name, int *place)
{
    bool named;
    int fd = unfinished_make_file(name, place, &named);
    if (fd >= 0 && !named && !unfinished_name_file(fd, name, place))
        return -1;
    return fd;
}

static void test_interrupted(void)
{
    struct error err = {0};
    struct output *outputs[20];
    for (int i = 0; i < 20; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%d", i);
        outputs[i] = output_open(name, plain, &err);
    }
    tap_equal_int(entries(), have_nameless() ? 0 : 20, "20 temporary files");
    char name[] = "named.XXXXXX";
    int place = -1, fd = file_with_name(name, &place);
    tap_ok(fd >= 0 && place >= 0, "one has got its name");
    tap_equal_int(entries(), have_nameless() ? 1 : 21, "which is there");
    unfinished_remove();
    tap_equal_int(entries(), 0, "all are removed on a signal");
    unfinished_drop(place);
    close(fd);
    for (int i = 0; i < 20; i++) {
        enum status status = output_close(outputs[i], false, &err);
        if (status != STATUS_OK)
            tap_ok(false, "dropping is no fault");
    }
    tap_equal_int(entries(), 0, "dropping them afterwards is no fault");
    put("kept", plain, "x", &err);
    unfinished_remove();
    tap_equal_int(entries(), 1, "what is finished stays");
    unlink("kept");
}

/* Output in memory grows beyond any buffer and is identical byte by byte. */
static void test_memory(void)
{
    enum { WRITES = 100000 };
    struct output *output = output_open_memory();
    for (int i = 0; i < WRITES; i++)
        output_print(output, "%06d\n", i);
    size_t length;
    tap_equal_int((long long)output_position(output), WRITES * 7, "in memory: the position");
    char *bytes = output_take(output, &length);
    tap_equal_int((long long)length, WRITES * 7, "in memory: the length");
    bool right = bytes[length] == '\0';
    for (int i = 0; i < WRITES && right; i++)
        right = atoi(&bytes[i * 7]) == i && bytes[i * 7 + 6] == '\n';
    tap_ok(right, "in memory: the bytes");
    free(bytes);
}

/* A number as text, and back, against printf's. */
static bool number_is_right(uint64_t number)
{
    char ours[24], expected[24];
    *text_put_u64(ours, number) = '\0';
    snprintf(expected, sizeof expected, "%" PRIu64, number);
    const char *at = expected, *end = expected + strlen(expected);
    uint64_t again = 0;
    return strcmp(ours, expected) == 0 && text_take_u64(&at, end, &again) && again == number && at == end;
}

static bool takes(const char *text, uint64_t *number)
{
    const char *at = text;
    return text_take_u64(&at, text + strlen(text), number);
}

/* Numbers of every length and around every power, and what no 64 bits hold. */
static void test_numbers(void)
{
    int wrong = 0;
    uint64_t number = 0, power = 1;
    for (int i = 0; i < 20; i++, power *= 10)
        for (uint64_t near = power - 2; near != power + 3; near++)
            wrong += !number_is_right(near);
    for (int i = 0; i < 64; i++)
        wrong += !number_is_right(UINT64_C(1) << i) + !number_is_right((UINT64_C(1) << i) - 1);
    tap_equal_int(wrong, 0, "numbers as text, and back");
    tap_ok(!takes("18446744073709551616", &number) && !takes("99999999999999999999", &number), "no more than 64 bits");
    tap_ok(!takes("", &number) && !takes("x", &number), "no digits are no number");
    tap_ok(takes("0000000000000000000000000042:", &number) && number == 42, "zeros before it do not count");
}

static void test_zstd(void)
{
    test_compressed("packed.zst");
    test_frames();
}

int main(void)
{
    char directory[] = "/tmp/sight-test-output.XXXXXX";
    if (!mkdtemp(directory) || chdir(directory) < 0)
        return 1;
    test_whole_or_not();
    test_links();
    test_full();
    test_patch("patched");
    test_fifo();
    test_long_text();
    test_interrupted();
    test_memory();
    test_numbers();
    if (input_has_gzip())
        test_compressed("packed.gz");
    else
        tap_skip("no zlib in this build");
    if (input_has_zstd())
        test_zstd();
    else
        tap_skip("no zstd in this build");
    tap_equal_int(entries(), 0, "nothing is left at the end");
    return chdir("/") < 0 || rmdir(directory) < 0 || tap_done();
}
