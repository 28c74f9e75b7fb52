/* SPDX-License-Identifier: BSD-3-Clause */
/* `sight view TRACE`: a timeline in the browser. The first picture comes from the timeline's index; meanwhile the run
   is judged in a thread of its own. */
#ifdef HAVE_CONFIG_H
#include <config.h>
#endif
#include "cli/commands.h"

#ifdef HAVE_MICROHTTPD

#include "cli/browser.h"
#include "cli/run.h"
#include "core/memory.h"
#include "core/text.h"
#include "core/unfinished.h"
#include "view/routes.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

struct work {
    const struct options *options;
    struct engine_look pictures, questions, overlays;
    struct view_site site;
    struct view_judged judged;
    struct engine_result *run;
    pthread_t judge;
    atomic_bool done;
};

/* Everything that requires reading the whole trace; the page polls until it is available. */
static void *judge(void *context)
{
    struct work *work = context;
    struct options quiet = *work->options;
    struct error err = {0};
    quiet.progress = "never";
    work->run = ask(&quiet, ENGINE_FINDINGS | ENGINE_SEARCH, &err);
    if (work->run) {
        bool looks = ask_look(work->options, true, &work->overlays, &err) == STATUS_OK;
        work->judged.judgement =
            (struct view_judgement){.metrics = work->run->metrics,
                                    .results = work->run->results,
                                    .findings = work->run->findings,
                                    .overlay = looks ? timeline_overlay(work->overlays.timeline, &err) : NULL};
        struct output *output = output_open_memory();
        view_write_judgement(output, &work->site.pictures.view, &work->judged.judgement);
        work->judged.text = output_take(output, &work->judged.length);
        atomic_store(&work->site.judged, &work->judged);
    }
    if (err.kind != ERROR_NONE)
        fprintf(stderr, "sight: %s\n", err.text);
    atomic_store(&work->done, true);
    return NULL;
}

static void work_clear(struct work *work)
{
    view_clear(&work->site.pictures.view);
    view_clear(&work->site.questions.view);
    engine_free(work->run);
    free(work->judged.text);
    engine_look_close(&work->pictures);
    engine_look_close(&work->questions);
    engine_look_close(&work->overlays);
}

static enum status work_open(struct work *work, const char *title, struct error *err)
{
    if (ask_look(work->options, false, &work->pictures, err) != STATUS_OK)
        return STATUS_FAILED;
    if (ask_look(work->options, true, &work->questions, err) != STATUS_OK) {
        engine_look_close(&work->pictures);
        return STATUS_FAILED;
    }
    pthread_mutex_init(&work->site.pictures.lock, NULL);
    pthread_mutex_init(&work->site.questions.lock, NULL);
    view_begin(&work->site.pictures.view, work->pictures.timeline, title);
    view_begin(&work->site.questions.view, work->questions.timeline, title);
    return STATUS_OK;
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

static void serve(struct work *work, const struct server *server, const sigset_t *ends)
{
    int signal_number;
    char *door = work->options->no_browser ? NULL : browser_open(server_url(server));
    printf("%s\n", server_url(server));
    fflush(stdout);
    command_note(work->options, "the timeline is at this address%s; press Ctrl-C to stop",
                 door ? " and in your browser" : "");
    while (sigwait(ends, &signal_number) != 0)
        ;
    browser_forget(door);
}

static _Noreturn void end_now(void)
{
    unfinished_remove();
    _exit(EXIT_INTERRUPTED);
}

static enum status server_options_of(const struct options *options, struct server_options *found, struct error *err)
{
    int64_t port = 0;
    if (options->port && !text_parse_i64(options->port, 0, 65535, &port))
        return error_set(err, ERROR_USAGE, "'%s' is not a port (0 to 65535)", options->port);
    if (options->listen && !options->allow_remote && !server_address_is_local(options->listen))
        return error_set(err, ERROR_USAGE,
                         "--listen %s: other hosts could read the trace; --allow-remote permits it, unencrypted",
                         options->listen);
    *found = (struct server_options){.address = options->listen, .port = (uint16_t)port};
    return STATUS_OK;
}

int cmd_view(const struct command *command, const struct options *options)
{
    struct error err = {0};
    struct server_options where;
    char title[300];
    if (options->input_count == 0)
        return command_usage(command, "no trace given");
    if (strcmp(options->inputs[0], "-") == 0)
        return command_usage(command, "standard input can be read only once: give a file");
    run_title(title, sizeof title, options);
    const char *slash = strrchr(title, '/');
    struct work *work = memory_new(sizeof *work);
    work->options = options;
    if (server_options_of(options, &where, &err) != STATUS_OK ||
        work_open(work, slash && slash[1] ? slash + 1 : title, &err) != STATUS_OK) {
        free(work);
        return command_fault(&err);
    }
    const struct timeline_info *info = timeline_info(work->pictures.timeline);
    run_report_damage(&info->end, time_since(info->begin_ns, info->end_ns));
    sigset_t ends = block_signals();
    struct server *server = server_start(where, view_answer, &work->site, &err);
    if (server && pthread_create(&work->judge, NULL, judge, work) == 0) {
        serve(work, server, &ends);
        server_stop(server);
        /* The judging thread may still be running: its memory is not freed, as the process ends anyway. */
        if (!atomic_load(&work->done))
            end_now();
        pthread_join(work->judge, NULL);
    }
    work_clear(work);
    free(work);
    return err.kind == ERROR_NONE ? EXIT_INTERRUPTED : command_fault(&err);
}

#else

int cmd_view(const struct command *command, const struct options *options)
{
    (void)options;
    return command_usage(command, "this build has no server: install libmicrohttpd-dev and build again; 'sight report "
                                  "TRACE -o OUT.html' shows the same without a server");
}

#endif
