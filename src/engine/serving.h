/* SPDX-License-Identifier: BSD-3-Clause */
#ifndef SIGHT_ENGINE_SERVING_H
#define SIGHT_ENGINE_SERVING_H

/* Every message of rank 0 to another process of the team begins with one of these (engine_serve). */
enum job_kind {
    JOB_END,     /* nothing more: serving.c */
    JOB_SHARE,   /* a share of the trace to be read: sharing.h */
    JOB_COUNT,   /* the contents of a share: counting.h */
    JOB_ASSIST,  /* parts of the analysis: assisting.h */
    JOB_COLLECT, /* their results: the same */
    JOB_LIST,    /* which files of a directory they have: gathering.h */
    JOB_PIECE    /* a piece of one: the same */
};

#endif
