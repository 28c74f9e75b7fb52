/* SPDX-License-Identifier: BSD-3-Clause */
/* `sight view TRACE`: a timeline in the browser. The first picture comes from the timeline's index; meanwhile the run
   is judged in a thread of its own. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "cli/commands.h"

#ifdef HAVE_MICROHTTPD

#include "cli/browser.h"
#include "cli/following.h"
#include "cli/run.h"
#include "cli/snapshot.h"
#include "cli/view_side.h"
#include "core/memory.h"
#include "core/text.h"
#include "core/unfinished.h"
#include "view/routes.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

struct work {
    const char *title;
    struct side asked, other;
    pthread_mutex_t lock; /* of `other`, and: */
    bool other_open;
};

/* Most readers of a trace never ask for its other clocks, and each takes an index and an analysis of its own. */
static struct view_site *other_clocks(void *context, struct error *err)
{
    struct work *work = context;
    pthread_mutex_lock(&work->lock);
    if (!work->other_open) {
        work->other.options = work->asked.options;
        work->other.options.trace.fix_clocks = !work->asked.options.trace.fix_clocks;
        /* If it cannot be opened this time, the next request tries again. */
        work->other_open = side_open(&work->other, work->title, true, err) == STATUS_OK;
        if (work->other_open)
            side_judge(&work->other);
    }
    bool open = work->other_open;
    pthread_mutex_unlock(&work->lock);
    return open ? &work->other.site : NULL;
}

/* Signals are received by waiting for them, not by a handler: threads are started with them blocked. */
static sigset_t block_signals(void)
{
    sigset_t ends;
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    sigaddset(&ends, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    return ends;
}

/* Returns the signal that ends it. */
static int serve(const struct view_options *options, const struct server *server, const sigset_t *ends)
{
    int signal_number;
    char *door = options->no_browser ? NULL : browser_open(server_url(server));
    /* The address is the result of the command: on standard output, for scripts. */
    printf("%s\n", server_url(server));
    fflush(stdout);
    command_note(&options->common, "the timeline is at this address%s; press Ctrl-C to stop",
                 door ? " and in your browser" : "");
    while (sigwait(ends, &signal_number) != 0)
        ;
    browser_forget(door);
    return signal_number;
}

static _Noreturn void end_now(int signal_number)
{
    unfinished_remove();
    _exit(EXIT_SIGNAL + signal_number);
}

static enum status server_options_of(const struct view_options *options, struct server_options *found,
                                     struct error *err)
{
    if (options->listen && server_check_address(options->listen, options->allow_remote, err) != STATUS_OK)
        return STATUS_FAILED;
    *found = (struct server_options){.address = options->listen, .port = (uint16_t)options->port.value};
    return STATUS_OK;
}

/* A program that runs. */
static int view_following(const struct view_options *options, struct server_options where, const char *title)
{
    struct error err = {0};
    struct following *following = following_begin(options, title, &err);
    if (!following)
        return command_fault(&err);
    sigset_t ends = block_signals();
    struct server *server = server_start(where, following_answer, following, &err);
    int signal_number = 0;
    if (server) {
        following_start(following);
        signal_number = serve(options, server, &ends);
        server_stop(server);
    }
    /* A reading and its judgement may take long: another signal ends sight at once. */
    pthread_sigmask(SIG_UNBLOCK, &ends, NULL);
    following_end(following);
    return err.kind == ERROR_NONE ? EXIT_SIGNAL + signal_number : command_fault(&err);
}

int cmd_view(const struct command *command, const struct view_options *options)
{
    struct error err = {0};
    struct server_options where;
    char title[300];
    /* An index is read again for every window. */
    if (strcmp(options->common.inputs[0], "-") == 0)
        return command_usage(command, "standard input can be read only once: give a file");
    run_title(title, sizeof title, &options->common);
    if (server_options_of(options, &where, &err) != STATUS_OK)
        return command_fault(&err);
    if (options->common.input_count == 1 && snapshot_is_possible(options->common.inputs[0]))
        return view_following(options, where, text_file_name(title));
    struct work *work = memory_new(sizeof *work);
    work->title = text_file_name(title);
    work->asked.options = *options;
    work->asked.site.other_clocks = other_clocks;
    work->asked.site.context = work;
    pthread_mutex_init(&work->lock, NULL);
    /* A port is opened only for a trace that could be opened. */
    if (side_open(&work->asked, work->title, false, &err) != STATUS_OK) {
        free(work);
        return command_fault(&err);
    }
    const struct timeline_info *info = timeline_info(work->asked.pictures.timeline);
    run_report_damage(&info->end, time_since(info->begin_ns, info->end_ns));
    /* Before threads are started: they inherit it, and the signal is received here. */
    sigset_t ends = block_signals();
    struct server *server = server_start(where, view_answer, &work->asked.site, &err);
    int signal_number = 0;
    if (server) {
        side_judge(&work->asked);
        signal_number = serve(options, server, &ends);
        server_stop(server);
        /* A judging thread may still be running: its memory is not freed, as the process ends anyway. */
        if (side_is_judging(&work->asked) || side_is_judging(&work->other))
            end_now(signal_number);
    }
    side_clear(&work->asked);
    side_clear(&work->other);
    free(work);
    return err.kind == ERROR_NONE ? EXIT_SIGNAL + signal_number : command_fault(&err);
}

#else

int cmd_view(const struct command *command, const struct view_options *options)
{
    (void)options;
    return command_usage(command, "this build has no server: install libmicrohttpd-dev and build again; 'sight report "
                                  "TRACE -o OUT.html' shows the same without a server");
}

#endif
