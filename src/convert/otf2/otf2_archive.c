/* SPDX-License-Identifier: BSD-3-Clause */
#include "convert/otf2/otf2_archive.h"

#include "convert/otf2/otf2_parts.h"
#include "core/directory.h"
#include "core/memory.h"
#include "core/tar.h"
#include "core/unfinished.h"

#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* The library prints its errors on standard error unless it has a callback, which gets no context of the call that
   failed: so the first one is noted here and fetched by whoever made the call. A later one is usually a consequence. */
static char complaint[300];

static OTF2_ErrorCode note_complaint(void *context, const char *file, uint64_t line, const char *function,
                                     OTF2_ErrorCode code, const char *format, va_list arguments)
{
    (void)context;
    (void)file;
    (void)line;
    (void)function;
    if (!complaint[0] && code != OTF2_SUCCESS) {
        int used = snprintf(complaint, sizeof complaint, "%s", OTF2_Error_GetDescription(code));
        if (format && used > 0 && (size_t)used + 2 < sizeof complaint) {
            memcpy(complaint + used, ": ", 3);
            vsnprintf(complaint + used + 2, sizeof complaint - (size_t)used - 2, format, arguments);
        }
    }
    return code;
}

/* Where the library knows the archive's files by links, the user has other names for them. */
static void copy_unlinked(char *line, size_t size, const struct otf2_archive *archive)
{
    const struct otf2_links *links = archive ? &archive->links : NULL;
    const char *link = links && links->directory ? strstr(complaint, links->name) : NULL;
    if (link)
        snprintf(line, size, "%.*s%s%s", (int)(link - complaint), complaint, links->directory,
                 link + strlen(links->name));
    else
        snprintf(line, size, "%s", complaint);
}

const char *otf2_complaint(const struct otf2_archive *archive)
{
    static char line[sizeof complaint];
    copy_unlinked(line, sizeof line, archive);
    /* Names from the archive are quoted in it, and may hold terminal escapes. */
    for (char *at = line; *at; at++)
        if ((unsigned char)*at < ' ')
            *at = ' ';
    complaint[0] = '\0';
    return line;
}

/* libotf2 trusts what it reads: its assertions and wild pointers end the program. The handlers are there as long as an
   archive is open (there may be two), and say so only of a crash in the library: installing them for each batch would
   cost as many system calls. */
enum { EXIT_UNREADABLE = 4, BUS = 1, SIGNALS = 4 };
static const int crashes[SIGNALS] = {SIGSEGV, [BUS] = SIGBUS, SIGABRT, SIGFPE};
static struct sigaction before[SIGNALS];
static volatile sig_atomic_t guarding;
static atomic_uint open_archives;
/* What the library reads: here, as no other memory can be trusted to be whole after a crash. */
static struct {
    char input[512], stem[256]; /* of the anchor: "traces" of "traces.otf2" */
    uint64_t location;
    const char *suffix;
} reading;

/* Puts back the handlers that were there before. */
static void remove_handlers(void)
{
    for (size_t i = 0; i < SIGNALS; i++)
        sigaction(crashes[i], &before[i], NULL);
}

struct words {
    char text[1024];
    size_t length;
};

/* Names from a packed archive may hold terminal escapes. */
static void say(struct words *words, const char *text, size_t length)
{
    for (size_t i = 0; i < length && text[i] && words->length + 1 < sizeof words->text; i++)
        words->text[words->length++] = (unsigned char)text[i] < ' ' ? ' ' : text[i];
}

static void say_number(struct words *words, uint64_t number)
{
    char digits[20];
    size_t at = sizeof digits;
    do
        digits[--at] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    say(words, digits + at, sizeof digits - at);
}

/* In a handler: "traces.def", or "traces/3.evt". */
static void say_crash(void)
{
    static const char crashed[] = ": libotf2 crashed while it read ", damaged[] = ", which is damaged";
    struct words words = {.length = 0};
    say(&words, "sight: ", 7);
    say(&words, reading.input, sizeof reading.input);
    say(&words, crashed, sizeof crashed);
    say(&words, reading.stem, sizeof reading.stem);
    if (reading.location != OTF2_UNDEFINED_LOCATION) {
        say(&words, "/", 1);
        say_number(&words, reading.location);
    }
    say(&words, ".", 1);
    say(&words, reading.suffix, 4);
    say(&words, damaged, sizeof damaged);
    words.text[words.length++] = '\n';
    if (write(STDERR_FILENO, words.text, words.length) < 0)
        _exit(EXIT_UNREADABLE);
}

/* SA_RESETHAND lets a crash in here end the program as usual. A crash of ours happens again on return, and then has its
   usual end; a signal that was sent is sent again. */
static void on_crash(int number, siginfo_t *about, void *context)
{
    /* Memory that is kept in a file: its own handler says what happened to that. */
    bool stored = number == SIGBUS && about->si_code > 0 && memory_is_stored(about->si_addr);
    if (stored && before[BUS].sa_flags & SA_SIGINFO)
        before[BUS].sa_sigaction(number, about, context);
    if (!guarding || stored) {
        remove_handlers();
        if (about->si_code <= 0)
            raise(number);
        return;
    }
    unfinished_remove();
    say_crash();
    _exit(EXIT_UNREADABLE);
}

static void install_handlers(void)
{
    struct sigaction action = {.sa_sigaction = on_crash, .sa_flags = (int)(SA_RESETHAND | SA_SIGINFO)};
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < SIGNALS; i++)
        sigaction(crashes[i], &action, &before[i]);
}

void otf2_guard(const struct otf2_archive *archive)
{
    if (archive && !guarding) {
        const char *slash = strrchr(archive->anchor, '/'), *name = slash ? slash + 1 : archive->anchor;
        snprintf(reading.input, sizeof reading.input, "%s", archive->name);
        const char *dot = strrchr(name, '.');
        snprintf(reading.stem, sizeof reading.stem, "%.*s", (int)(dot ? (size_t)(dot - name) : strlen(name)), name);
    }
    guarding = archive != NULL;
}

void otf2_guard_file(uint64_t location, const char *suffix)
{
    reading.location = location;
    reading.suffix = suffix;
}

/* After a chunk's first byte and its byte order. */
bool otf2_is_anchor(const unsigned char *data, size_t size)
{
    return size >= 6 && memcmp(data + 2, "OTF2", 4) == 0;
}

/* Any tar file may hold an archive: the name of its first member says nothing. */
bool otf2_is_packed(const unsigned char *data, size_t size)
{
    return tar_is_file(data, size);
}

/* Two archives in one directory: which one is meant must be said by name. A hidden file, which directory_names() leaves
   out, is one that somebody is still writing (rsync, our own converter). */
char *otf2_find_anchor(const char *directory)
{
    char *found = NULL;
    size_t count = 0, anchors = 0;
    char **names = directory_names(directory, &count);
    for (size_t i = 0; names && i < count; i++)
        if (otf2_part_is_anchor(names[i]) && anchors++ == 0)
            found = directory_join(directory, names[i]);
    if (names)
        directory_names_free(names, count);
    struct stat about;
    if (anchors == 1 && stat(directory_place(found), &about) == 0 && S_ISREG(about.st_mode))
        return found;
    free(found);
    return NULL;
}

static int remove_one(const char *path, const struct stat *about, int kind, struct FTW *place)
{
    (void)about;
    (void)kind;
    (void)place;
    return remove(path);
}

/* Directories below each other: the tar file may be hostile, and each is open while those in it are looked at. */
enum { DEPTH_MOST = 64 };

/* The anchor in the directory or one below; *count: how many there are. Packed archives often hold the directory of the
   experiment, and that the archive. */
static char *find_unpacked(const char *directory, unsigned depth, size_t *count)
{
    char *found = otf2_find_anchor(directory);
    DIR *open = found || depth == 0 ? NULL : opendir(directory);
    *count += found != NULL;
    for (struct dirent *entry; open && (entry = readdir(open));) {
        char *below;
        if (entry->d_name[0] == '.' || asprintf(&below, "%s/%s", directory, entry->d_name) < 0)
            continue;
        char *other = find_unpacked(below, depth - 1, count);
        free(found ? other : NULL);
        found = found ? found : other;
        free(below);
    }
    if (open)
        closedir(open);
    return found;
}

static bool has_file(const char *directory, const char *name)
{
    char *path = directory_join(directory, name);
    bool has = access(path, F_OK) == 0;
    free(path);
    return has;
}

/* Of a file without an ending, the whole. */
static char *stem_of(const char *anchor)
{
    const char *dot = strrchr(anchor, '.');
    char *stem = memory_copy_string(anchor);
    if (dot)
        stem[dot - anchor] = '\0';
    return stem;
}

static char *with_suffix(const char *stem, const char *suffix)
{
    char *path;
    if (asprintf(&path, "%s.%s", stem, suffix) < 0)
        memory_failed();
    return path;
}

static enum status unpack(struct otf2_archive *archive, struct input *input, struct error *err)
{
    char *directory = directory_join(temporary_directory(), "sight-otf2.XXXXXX");
    if (!unfinished_make_directory(directory, &archive->unfinished)) {
        error_set_errno(err, ERROR_OUTPUT, "%s: cannot make a directory", temporary_directory());
        free(directory);
        return STATUS_FAILED;
    }
    archive->directory = directory;
    enum status status = tar_unpack(input, directory, &archive->unpack_cut, err);
    if (status != STATUS_OK)
        return status;
    size_t count = 0;
    archive->anchor = find_unpacked(directory, DEPTH_MOST, &count);
    if (count > 1)
        return error_set(err, ERROR_INPUT, "%s: a tar file with %zu OTF2 archives: unpack it, and give one of them",
                         input->name, count);
    if (!archive->anchor && has_file(directory, "anchor.xml"))
        return error_set(err, ERROR_INPUT,
                         "%s: a profile of Score-P or Scalasca (CUBE), which has no calls, which is not read: record "
                         "with SCOREP_ENABLE_TRACING=true",
                         input->name);
    if (!archive->anchor)
        return error_set(err, ERROR_INPUT, "%s: not a trace: a tar file without the anchor file of an OTF2 archive",
                         input->name);
    archive->stem = stem_of(archive->anchor);
    return STATUS_OK;
}

#if defined(__SANITIZE_ADDRESS__)
enum { WITHOUT_SANITIZER = 0 };
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
enum { WITHOUT_SANITIZER = 0 };
#else
enum { WITHOUT_SANITIZER = 1 };
#endif
#else
enum { WITHOUT_SANITIZER = 1 };
#endif

/* Bytes of memory that this process has mapped; 0: not known. */
static rlim_t mapped_now(void)
{
    unsigned long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (file && fscanf(file, "%lu", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

/* Of an anchor file whose number of properties is damaged the library asks for GBs, whatever the file's size: it is
   given no more than any archive needs to be opened. AddressSanitizer would end the program instead. */
static OTF2_Reader *open_bounded(const char *anchor)
{
    enum { MOST = 256 << 20 };
    struct rlimit usual;
    rlim_t mapped = mapped_now();
    bool known = WITHOUT_SANITIZER && mapped > 0 && getrlimit(RLIMIT_AS, &usual) == 0 && mapped + MOST < usual.rlim_cur;
    bool bounded = known && setrlimit(RLIMIT_AS, &(struct rlimit){mapped + MOST, usual.rlim_max}) == 0;
    OTF2_Reader *reader = OTF2_Reader_Open(anchor);
    if (bounded)
        setrlimit(RLIMIT_AS, &usual);
    return reader;
}

/* The library opens it whatever it is, and would wait for a pipe's writer. */
static enum status check_definitions(const struct otf2_archive *archive, struct error *err)
{
    char *path = with_suffix(archive->stem, "def");
    enum status status = STATUS_OK;
    if (input_is_once(directory_place(path)))
        status = error_set(err, ERROR_INPUT, "%s: its .def is not a regular file", archive->name);
    free(path);
    return status;
}

char *otf2_file_path(const struct otf2_archive *archive, uint64_t location, const char *suffix)
{
    char *path;
    if (location == OTF2_UNDEFINED_LOCATION)
        return with_suffix(archive->stem, suffix);
    if (asprintf(&path, "%s/%" PRIu64 ".%s", archive->stem, location, suffix) < 0)
        memory_failed();
    return path;
}

enum status otf2_file_bring(const struct otf2_archive *archive, uint64_t location, const char *suffix,
                            struct error *err)
{
    if (!archive->links.directory)
        return STATUS_OK;
    otf2_guard(NULL); /* a crash in here is none of the library */
    char *path = otf2_file_path(archive, location, suffix);
    enum status status = directory_bring(path, err);
    free(path);
    otf2_guard(archive);
    return status;
}

void otf2_file_show(struct otf2_archive *archive, uint64_t location, const char *suffix)
{
    if (!archive->links.directory)
        return;
    char *path = otf2_file_path(archive, location, suffix);
    otf2_links_show(&archive->links, path);
    free(path);
}

void otf2_file_hide(struct otf2_archive *archive)
{
    otf2_links_hide(&archive->links);
}

static enum status open_anchor(struct otf2_archive *archive, const char *path, struct error *err)
{
    archive->stem = stem_of(path);
    if (otf2_links_begin(&archive->links, path, err) != STATUS_OK)
        return STATUS_FAILED;
    archive->anchor = otf2_links_path(&archive->links, path);
    return STATUS_OK;
}

/* The library opens the archive's files by their names beside the anchor: standard input has none. */
enum status otf2_files_open(struct otf2_archive *archive, struct input *input, struct error *err)
{
    OTF2_Error_RegisterCallback(note_complaint, NULL);
    otf2_complaint(NULL);
    archive->guarded = true;
    archive->name = input->name;
    otf2_guard_file(OTF2_UNDEFINED_LOCATION, "otf2");
    if (atomic_fetch_add(&open_archives, 1) == 0)
        install_handlers();
    /* The library allocates 4 MB for the definitions of each location, and 2 MB for its events. */
    memory_keep_freed(true);
    if (otf2_is_packed(input->at, input_available(input))) {
        if (unpack(archive, input, err) != STATUS_OK)
            return STATUS_FAILED;
    } else if (!input->path || input_is_once(input->path)) {
        return error_set(err, ERROR_INPUT,
                         "%s: the anchor file of an OTF2 archive, whose other files are not at hand: give its path",
                         input->name);
    } else if (open_anchor(archive, input->path, err) != STATUS_OK) {
        return STATUS_FAILED;
    }
    if (check_definitions(archive, err) != STATUS_OK)
        return STATUS_FAILED;
    otf2_file_show(archive, OTF2_UNDEFINED_LOCATION, "otf2");
    otf2_guard(archive);
    archive->library = open_bounded(archive->anchor);
    if (archive->library && OTF2_Reader_SetSerialCollectiveCallbacks(archive->library) != OTF2_SUCCESS) {
        OTF2_Reader_Close(archive->library);
        archive->library = NULL;
    }
    otf2_guard(NULL);
    otf2_file_hide(archive);
    if (archive->links.fault.kind != ERROR_NONE)
        return error_set(err, ERROR_OUTPUT, "%s", archive->links.fault.text);
    if (!archive->library) {
        const char *why = otf2_complaint(archive);
        return error_set(err, ERROR_INPUT, "%s: libotf2 cannot open this archive%s%s", input->name, *why ? ": " : "",
                         why);
    }
    return STATUS_OK;
}

void otf2_files_close(struct otf2_archive *archive)
{
    if (archive->library) {
        otf2_guard_file(OTF2_UNDEFINED_LOCATION, "otf2");
        OTF2_Reader_Close(archive->library);
    }
    otf2_guard(NULL);
    if (archive->guarded) {
        memory_keep_freed(false);
        if (atomic_fetch_sub(&open_archives, 1) == 1)
            remove_handlers();
    }
    if (archive->directory) {
        nftw(archive->directory, remove_one, 8, FTW_DEPTH | FTW_PHYS);
        unfinished_drop(archive->unfinished);
    }
    free(archive->directory);
    free(archive->anchor);
    free(archive->stem);
    otf2_links_end(&archive->links);
}
