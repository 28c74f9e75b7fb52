/* SPDX-License-Identifier: BSD-3-Clause */
/* A crash of libotf2 ends with one line that names the file of the archive, and with the exit code of an unreadable
   input; a crash elsewhere looks like one. */
#include "config.h"
#include "unit/tap.h"

#ifdef HAVE_OTF2

#include "convert/otf2/otf2_archive.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static char directory[] = "/tmp/sight-test-guard.XXXXXX";
static char anchor[64];

/* An archive that cannot be opened is enough: the handlers are there before the library is asked. */
static void begin(struct otf2_archive *archive)
{
    struct error err = {0};
    struct input *input = input_open(anchor, &err);
    if (!input || otf2_files_open(archive, input, &err) == STATUS_OK)
        _exit(99);
}

static void in_definitions(int number)
{
    struct otf2_archive archive = {0};
    begin(&archive);
    otf2_guard(&archive);
    otf2_guard_file(OTF2_UNDEFINED_LOCATION, "def");
    raise(number);
}

static void in_location(int number)
{
    struct otf2_archive archive = {0};
    begin(&archive);
    otf2_guard(&archive);
    otf2_guard_file(UINT64_C(1073741822), "evt");
    raise(number);
}

static void outside(int number)
{
    struct otf2_archive archive = {0};
    begin(&archive);
    otf2_guard(&archive);
    otf2_guard(NULL);
    raise(number);
}

/* Runs it in a process of its own: how that ended, and what it said. */
static int crash(void (*run)(int), int number, char *said, size_t size)
{
    int ends[2], status = 0;
    size_t length = 0;
    if (pipe(ends) != 0)
        return -1;
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        run(number);
        _exit(98);
    }
    close(ends[1]);
    for (ssize_t got; length + 1 < size && (got = read(ends[0], said + length, size - 1 - length)) > 0;)
        length += (size_t)got;
    said[length] = '\0';
    close(ends[0]);
    waitpid(child, &status, 0);
    return status;
}

static void test_crashes(void)
{
    static const int numbers[] = {SIGSEGV, SIGBUS, SIGABRT, SIGFPE};
    char said[1000], wanted[200];
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        int status = crash(in_location, numbers[i], said, sizeof said);
        snprintf(wanted, sizeof wanted,
                 "sight: %s: libotf2 crashed while it read my.run/1073741822.evt, which is damaged\n", anchor);
        tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == 4, "signal %d in a location: exit code 4", numbers[i]);
        tap_equal_string(said, wanted, "signal %d in a location: its file", numbers[i]);
    }
    int status = crash(in_definitions, SIGABRT, said, sizeof said);
    snprintf(wanted, sizeof wanted, "sight: %s: libotf2 crashed while it read my.run.def, which is damaged\n", anchor);
    tap_ok(WIFEXITED(status) && WEXITSTATUS(status) == 4, "in the definitions: exit code 4");
    tap_equal_string(said, wanted, "in the definitions: their file");
    status = crash(outside, SIGABRT, said, sizeof said);
    tap_ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "a crash that is not the library's");
    tap_equal_string(said, "", "says nothing of the library");
}

int main(void)
{
    FILE *file = NULL;
    if (mkdtemp(directory)) {
        snprintf(anchor, sizeof anchor, "%s/my.run.otf2", directory);
        file = fopen(anchor, "w");
    }
    if (!tap_ok(file != NULL, "an anchor file"))
        return tap_done();
    fputs("no anchor\n", file);
    fclose(file);
    test_crashes();
    unlink(anchor);
    rmdir(directory);
    return tap_done();
}

#else

int main(void)
{
    puts("1..0 # SKIP this build does not read OTF2");
    return 0;
}

#endif
