/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_VIEW_ROUTES_H
#define SIGHT_VIEW_ROUTES_H

#include "render/charts/chart.h"
#include "view/server.h"
#include "view/view.h"

#include <pthread.h>
#include <stdatomic.h>

/* The answers of `sight view` to each path. Requests come from several threads at once. */

/* A timeline answers one question at a time. Pictures have one of their own, so that they need not wait for queries
   that read many events. */
struct view_desk {
    pthread_mutex_t lock;
    struct view view;
};

/* The run as judged; made in the background, since it takes longer than the first picture. It is not changed
   afterwards. */
struct view_judged {
    struct view_judgement judgement;
    char *text; /* view_write_judgement's */
    size_t length;
};

struct view_site {
    struct view_desk pictures, questions;
    _Atomic(const struct view_judged *) judged; /* NULL: not yet */
    /* The site of the same trace with its clocks corrected or, if those of this site are, as recorded. It is behind the
       path "clocks/", and made when first asked for. NULL and a fault. */
    struct view_site *(*other_clocks)(void *context, struct error *err);
    void *context;
    bool fleeting; /* it may be freed while the server runs: answers are copies */
};

/* A server_function; the context is a struct view_site. */
void view_answer(void *context, const struct server_request *request, struct server_answer *answer);

#endif
